/** Batches from a host that the task has not taken yet. An error is thrown after the batches received before it. */
export class BatchQueue<Batch> {
  readonly #batches: Batch[] = []
  #failure: Error | undefined
  #isEnded = false
  #changed: PromiseWithResolvers<void> | undefined

  push(batch: Batch): void {
    this.#batches.push(batch)
    this.#changed?.resolve()
  }

  fail(error: Error): void {
    this.#failure ??= error
    this.#changed?.resolve()
  }

  /** Ends the queue; `next` then returns undefined. */
  end(): void {
    this.#isEnded = true
    this.#changed?.resolve()
  }

  async next(): Promise<Batch | undefined> {
    for (;;) {
      if (this.#isEnded) return undefined
      const batch = this.#batches.shift()
      if (batch !== undefined) return batch
      if (this.#failure !== undefined) throw this.#failure
      this.#changed = Promise.withResolvers()
      await this.#changed.promise
    }
  }
}
