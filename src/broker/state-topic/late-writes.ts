/** Writes whose callers were not willing to wait any longer, and that the producer may still store. */
export class LateWrites {
  readonly #writes = new Set<Promise<void>>()

  add(write: Promise<unknown>): void {
    const settled = Promise.allSettled([write]).then(() => void this.#writes.delete(settled))
    this.#writes.add(settled)
  }

  /** Resolves when each of them is stored or has failed. */
  async settle(): Promise<void> {
    await Promise.all(this.#writes)
  }
}
