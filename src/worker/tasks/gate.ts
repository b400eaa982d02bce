/** Something to wait for that opens and closes. Waiting ends, too, when the signal aborts. */
export class Gate {
  readonly #waiting = new Set<() => void>()
  readonly #isOpen: () => boolean

  constructor(isOpen: () => boolean, signal: AbortSignal) {
    this.#isOpen = isOpen
    signal.addEventListener('abort', () => this.#release(), { once: true })
  }

  /** Whoever changed what `isOpen` looks at says so. */
  changed(): void {
    if (this.#isOpen()) this.#release()
  }

  /** Resolves at once when it is open; its caller looks again whether to go on. */
  async pass(signal: AbortSignal): Promise<void> {
    while (!this.#isOpen() && !signal.aborted) {
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  #release(): void {
    for (const release of this.#waiting) release()
    this.#waiting.clear()
  }
}
