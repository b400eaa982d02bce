type Waiting = { readonly bytes: number; readonly start: (release: () => void) => void }

/** A semaphore over bytes, served in order of arrival. */
export class ByteSemaphore {
  readonly #max: number
  readonly #waiting = new Set<Waiting>()
  #used = 0

  constructor(max: number) {
    this.#max = max
  }

  /**
   * Resolves with a release function, or with undefined after the timeout. A request for more than the whole budget
   * waits until nothing is in use.
   */
  acquire(bytes: number, timeoutMs: number): Promise<(() => void) | undefined> {
    const wanted = Math.min(bytes, this.#max)
    if (this.#waiting.size === 0 && this.#used + wanted <= this.#max) return Promise.resolve(this.#take(wanted))
    return new Promise((resolve) => {
      const waiting: Waiting = {
        bytes: wanted,
        start: (release) => {
          clearTimeout(timer)
          resolve(release)
        },
      }
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting)
        resolve(undefined)
        // Smaller requests may have waited behind this one.
        this.#startNext()
      }, timeoutMs)
      this.#waiting.add(waiting)
    })
  }

  /** Returns the release function, or undefined if the bytes are not available now. */
  tryAcquire(bytes: number): (() => void) | undefined {
    return this.#used + bytes <= this.#max || this.#used === 0 ? this.#take(bytes) : undefined
  }

  #take(bytes: number): () => void {
    this.#used += bytes
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#used -= bytes
      this.#startNext()
    }
  }

  #startNext(): void {
    for (const waiting of this.#waiting) {
      if (this.#used + waiting.bytes > this.#max) return
      this.#waiting.delete(waiting)
      waiting.start(this.#take(waiting.bytes))
    }
  }
}
