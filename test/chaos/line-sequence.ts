/** Checks the order in which the numbered lines of one source arrive in one partition, or in the file of one sink. */
export class LineSequence {
  readonly #seen = new Set<number>()
  #next = 0
  /** Lines that arrived more than once, with each further arrival counted. */
  repeated = 0
  /** Lines whose first arrival was before that of a lower line. */
  displaced = 0

  observe(line: number): void {
    if (this.#seen.has(line)) {
      this.repeated += 1
      return
    }
    if (line !== this.#next) this.displaced += 1
    this.#seen.add(line)
    while (this.#seen.has(this.#next)) this.#next += 1
  }

  /** The number of the lines before `count` that have not arrived. */
  missing(count: number): number {
    let missing = 0
    for (let line = this.#next; line < count; line++) if (!this.#seen.has(line)) missing += 1
    return missing
  }
}
