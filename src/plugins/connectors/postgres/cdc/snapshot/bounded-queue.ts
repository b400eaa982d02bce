/** Passes items from several producers to one consumer. Producers wait while it is full. */
export class BoundedQueue<Item> implements AsyncIterable<Item> {
  readonly #itemsMax: number
  readonly #items: Item[] = []
  readonly #waitingProducers: (() => void)[] = []
  #waitingConsumer: (() => void) | undefined
  #end: { readonly error: unknown } | 'closed' | undefined

  constructor(itemsMax: number) {
    this.#itemsMax = itemsMax
  }

  /** Resolves when the item is in the queue. False if the queue has ended, so that the item is dropped. */
  async push(item: Item): Promise<boolean> {
    while (this.#items.length >= this.#itemsMax && this.#end === undefined) {
      await new Promise<void>((resolve) => this.#waitingProducers.push(resolve))
    }
    if (this.#end !== undefined) return false
    this.#items.push(item)
    this.#wakeConsumer()
    return true
  }

  /** Ends the queue after its items. */
  close(): void {
    this.#finish('closed')
  }

  /** Ends the queue at once. The consumer receives the error. */
  fail(error: unknown): void {
    this.#items.length = 0
    this.#finish({ error })
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    for (;;) {
      if (this.#items.length > 0) {
        const item = this.#items.shift()!
        this.#waitingProducers.shift()?.()
        yield item
      } else if (this.#end === 'closed') {
        return
      } else if (this.#end !== undefined) {
        throw this.#end.error
      } else {
        await new Promise<void>((resolve) => {
          this.#waitingConsumer = resolve
        })
      }
    }
  }

  #finish(end: { readonly error: unknown } | 'closed'): void {
    this.#end ??= end
    for (const wake of this.#waitingProducers.splice(0)) wake()
    this.#wakeConsumer()
  }

  #wakeConsumer(): void {
    this.#waitingConsumer?.()
    this.#waitingConsumer = undefined
  }
}
