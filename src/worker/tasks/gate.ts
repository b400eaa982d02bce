/** Lets callers wait until a condition is true. Waiting also ends when the signal aborts. */
export class Gate {
  readonly #waiting = new Set<() => void>()
  readonly #isOpen: () => boolean

  constructor(isOpen: () => boolean, signal: AbortSignal) {
    this.#isOpen = isOpen
    signal.addEventListener('abort', () => this.#release(), { once: true })
  }

  /** Must be called after each change of the state that `isOpen` reads. */
  changed(): void {
    if (this.#isOpen()) this.#release()
  }

  /** Resolves when the gate is open or `signal` is aborted; the caller checks which. */
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
