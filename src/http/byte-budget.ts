type Waiting = { readonly bytes: number; readonly start: (release: () => void) => void }

/** A number of bytes that users of memory share, in the order in which they ask. */
export class ByteBudget {
  readonly #max: number
  readonly #waiting = new Set<Waiting>()
  #used = 0

  constructor(max: number) {
    this.#max = max
  }

  /**
   * Resolves with a function that gives the bytes back, or with undefined when they were not free in time. Who asks for
   * more than there is at all waits until nothing is used.
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
        // Smaller ones may have waited behind this one.
        this.#startNext()
      }, timeoutMs)
      this.#waiting.add(waiting)
    })
  }

  /** The bytes at once, or undefined. */
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
