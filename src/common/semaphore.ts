const WAITING_MAX = 10_000

export type SemaphoreOptions = {
  /** Maximum number of waiting callers. Default: 10,000. */
  readonly waitingMax?: number
  /** Creates the error for a caller that may not wait because too many do. */
  readonly full?: () => Error
}

export type Release = () => void

type Waiting = { readonly weight: number; readonly start: (release: Release) => void }

/**
 * Limits the weight of what is in use at the same time, such as a number of jobs or of bytes. Callers are served in order of
 * arrival. What weighs more than the limit waits until nothing is in use.
 */
export class Semaphore {
  readonly #max: number
  readonly #waitingMax: number
  readonly #full: () => Error
  readonly #waiting = new Set<Waiting>()
  #used = 0

  constructor(max: number, { waitingMax = WAITING_MAX, full }: SemaphoreOptions = {}) {
    this.#max = max
    this.#waitingMax = waitingMax
    this.#full = full ?? (() => new Error(`${waitingMax} others wait already: try again later`))
  }

  /** Runs a job when it is its turn. With a limit of 1, jobs run one after the other. */
  async run<Result>(job: () => Result | Promise<Result>, weight = 1): Promise<Result> {
    const release = await this.acquire(weight)
    try {
      return await job()
    } finally {
      release()
    }
  }

  /** Resolves with a function that releases the weight; it may be called more than once. Rejects when too many wait. */
  acquire(weight?: number): Promise<Release>
  /** Resolves with undefined after the timeout, or at once when too many wait. */
  acquire(weight: number, timeoutMs: number): Promise<Release | undefined>
  async acquire(weight = 1, timeoutMs?: number): Promise<Release | undefined> {
    const free = this.tryAcquire(weight)
    if (free !== undefined) return free
    if (this.#waiting.size < this.#waitingMax) return this.#wait(weight, timeoutMs)
    if (timeoutMs !== undefined) return undefined
    throw this.#full()
  }

  /** Undefined if the weight is not free, or others wait for it. */
  tryAcquire(weight = 1): Release | undefined {
    return this.#waiting.size === 0 && this.#fits(weight) ? this.#take(weight) : undefined
  }

  /** Releases a part of what was acquired, for callers that do not use the function that releases all of it. */
  release(weight = 1): void {
    this.#used -= weight
    for (const waiting of this.#waiting) {
      if (!this.#fits(waiting.weight)) return
      this.#waiting.delete(waiting)
      waiting.start(this.#take(waiting.weight))
    }
  }

  #fits(weight: number): boolean {
    return this.#used === 0 || this.#used + weight <= this.#max
  }

  #take(weight: number): Release {
    this.#used += weight
    let isHeld = true
    return () => {
      if (isHeld) this.release(weight)
      isHeld = false
    }
  }

  #wait(weight: number, timeoutMs: number | undefined): Promise<Release | undefined> {
    const { promise, resolve } = Promise.withResolvers<Release | undefined>()
    const waiting: Waiting = {
      weight,
      start: (release) => {
        clearTimeout(timer)
        resolve(release)
      },
    }
    const expire = () => {
      this.#waiting.delete(waiting)
      resolve(undefined)
      // Lighter callers may have waited behind this one.
      this.release(0)
    }
    const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs)
    this.#waiting.add(waiting)
    return promise
  }
}
