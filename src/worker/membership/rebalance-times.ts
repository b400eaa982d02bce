/** The rebalances that a worker took part in. Times are in ms. */
export type RebalanceMetrics = {
  readonly count: number
  readonly msTotal: number
  readonly msMax: number
  readonly sinceLastMs: number
  readonly isInProgress: boolean
}

/** Measures rebalances. Each method receives the time of the monotonic clock, in ms. */
export class RebalanceTimes {
  readonly #finished: { count: number; msTotal: number; msMax: number; lastMs: number }
  /** When the current rebalance began. Undefined when none is in progress. */
  #beganMs: number | undefined

  constructor(nowMs: number) {
    this.#finished = { count: 0, msTotal: 0, msMax: 0, lastMs: nowMs }
  }

  begin(nowMs: number): void {
    this.#beganMs ??= nowMs
  }

  end(nowMs: number): void {
    const tookMs = nowMs - (this.#beganMs ?? nowMs)
    this.#beganMs = undefined
    this.#finished.count += 1
    this.#finished.msTotal += tookMs
    this.#finished.msMax = Math.max(this.#finished.msMax, tookMs)
    this.#finished.lastMs = nowMs
  }

  metrics(nowMs: number): RebalanceMetrics {
    const { count, msTotal, msMax, lastMs } = this.#finished
    return { count, msTotal, msMax, sinceLastMs: nowMs - lastMs, isInProgress: this.#beganMs !== undefined }
  }
}
