/** Passes items from producers to one consumer, in order. The queue is full while its items weigh `max` or more. */
export class AsyncQueue<Item> implements AsyncIterable<Item> {
  readonly #max: number
  readonly #items: { readonly item: Item; readonly weight: number }[] = []
  readonly #waitingProducers: (() => void)[] = []
  #waitingConsumer: (() => void) | undefined
  #weight = 0
  #isEnded = false
  #error: Error | undefined

  constructor(max: number) {
    this.#max = max
  }

  /** Adds an item at once, of a producer that must not exceed the limit. Throws if it does. */
  add(item: Item, weight = 1): void {
    if (this.#isEnded) return
    if (this.#weight >= this.#max) throw new Error(`the queue is full: its limit is ${this.#max}`)
    this.#items.push({ item, weight })
    this.#weight += weight
    this.#wakeConsumer()
  }

  /** Waits while the queue is full. False if the queue has ended, so that the item is dropped. */
  async push(item: Item, weight = 1): Promise<boolean> {
    while (this.#weight >= this.#max && !this.#isEnded) {
      await new Promise<void>((resolve) => this.#waitingProducers.push(resolve))
    }
    if (this.#isEnded) return false
    this.add(item, weight)
    return true
  }

  /** Ends the queue after its items. The consumer then receives the error, if there is one. */
  end(error?: Error): void {
    if (!this.#isEnded) this.#error = error
    this.#isEnded = true
    for (const wake of this.#waitingProducers.splice(0)) wake()
    this.#wakeConsumer()
  }

  /** Ends the queue at once, without its items and its error. */
  close(): void {
    this.#items.length = 0
    this.end()
    this.#error = undefined
  }

  /** A consumer that leaves its loop closes the queue. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    try {
      for (;;) {
        const next = this.#items.shift()
        if (next !== undefined) {
          this.#weight -= next.weight
          this.#waitingProducers.shift()?.()
          yield next.item
        } else if (!this.#isEnded) {
          await new Promise<void>((resolve) => {
            this.#waitingConsumer = resolve
          })
        } else if (this.#error !== undefined) throw this.#error
        else return
      }
    } finally {
      this.close()
    }
  }

  #wakeConsumer(): void {
    this.#waitingConsumer?.()
    this.#waitingConsumer = undefined
  }
}
