/** Counts the bytes that open files hold in memory. */
export class MemoryBudget {
  readonly #bytesMax: number
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  change(bytes: number): void {
    this.#bytes += bytes
  }

  get isExceeded(): boolean {
    return this.#bytes > this.#bytesMax
  }
}
