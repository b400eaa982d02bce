/** How many wait for one address, and for all: more are refused. */
const WAITING_MAX = 32
const ALL_WAITING_MAX = 512

/**
 * Runs a few jobs at a time. Those that wait take turns by address, so that one that sends many does not keep the others
 * waiting.
 */
export class FairQueue {
  readonly #runningMax: number
  readonly #waiting = new Map<string, (() => void)[]>()
  #running = 0
  #waitingCount = 0

  constructor(runningMax: number) {
    this.#runningMax = runningMax
  }

  /** Undefined: too many wait already, and the job was not run. */
  async run<Result>(address: string, job: () => Promise<Result>): Promise<Result | undefined> {
    if (this.#running < this.#runningMax) this.#running += 1
    else if (!(await this.#turn(address))) return undefined
    try {
      return await job()
    } finally {
      // A job that waits takes the place of this one.
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
    // To the end of the round.
    this.#waiting.delete(address)
    if (line.length > 0) this.#waiting.set(address, line)
    this.#waitingCount -= 1
    start?.()
    return true
  }
}
