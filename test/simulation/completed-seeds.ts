/** Which seeds need not be run again. Several processes complete them in another order than that of their numbers. */
export class CompletedSeeds {
  readonly #ahead = new Set<number>()
  #next: number

  constructor(first: number) {
    this.#next = first
  }

  /** The first seed that is not completed. */
  get next(): number {
    return this.#next
  }

  add(seed: number): void {
    this.#ahead.add(seed)
    while (this.#ahead.delete(this.#next)) this.#next += 1
  }
}
