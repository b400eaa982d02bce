/**
 * Bounds the memory of unacknowledged records. Allocations are served in order. A request larger than the pool waits
 * until the pool is empty.
 */
export class BufferPool {
  readonly #bytesMax: number
  #used = 0
  #queue: Promise<unknown> = Promise.resolve()
  #wake: (() => void) | undefined

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /**
   * Waits for its turn and for free memory, then runs `send` before the next allocation. If `send` fails, the memory is
   * released.
   */
  allocate(bytes: number, send: () => Promise<void>): Promise<void> {
    const turn = this.#queue.then(async () => {
      while (this.#used > 0 && this.#used + bytes > this.#bytesMax) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
      this.#used += bytes
      try {
        await send()
      } catch (error) {
        this.release(bytes)
        throw error
      }
    })
    this.#queue = turn.catch(() => undefined)
    return turn
  }

  release(bytes: number): void {
    this.#used -= bytes
    this.#wake?.()
    this.#wake = undefined
  }
}
