/** Maximum number of waiting jobs per address and in total; further jobs are rejected. */
const WAITING_MAX = 32
const ALL_WAITING_MAX = 512

/**
 * Runs a limited number of jobs concurrently. Waiting jobs are scheduled round-robin by address, so that one client
 * does not starve the others. A `Semaphore` serves in order of arrival, and has one limit of waiting jobs for all clients.
 */
export class FairQueue {
  readonly #runningMax: number
  readonly #waiting = new Map<string, (() => void)[]>()
  #running = 0
  #waitingCount = 0

  constructor(runningMax: number) {
    this.#runningMax = runningMax
  }

  /** Resolves with undefined, without running the job, if too many are waiting. */
  async run<Result>(address: string, job: () => Promise<Result>): Promise<Result | undefined> {
    if (this.#running < this.#runningMax) this.#running += 1
    else if (!(await this.#turn(address))) return undefined
    try {
      return await job()
    } finally {
      // A waiting job takes over this slot.
      if (!this.#startNext()) this.#running -= 1
    }
  }

  async #turn(address: string): Promise<boolean> {
    const line = this.#waiting.get(address) ?? []
    if (line.length >= WAITING_MAX || this.#waitingCount >= ALL_WAITING_MAX) return false
    this.#waiting.set(address, line)
    this.#waitingCount += 1
    await new Promise<void>((resolve) => line.push(resolve))
    return true
  }

  #startNext(): boolean {
    const [first] = this.#waiting
    if (!first) return false
    const [address, line] = first
    const start = line.shift()
    // Moves the address to the end of the queue.
    this.#waiting.delete(address)
    if (line.length > 0) this.#waiting.set(address, line)
    this.#waitingCount -= 1
    start?.()
    return true
  }
}
