const REST_PER_ASSIGNMENT = 3
const REST_MS_MIN = 20
const REST_MS_MAX = 1_000
const REST_AHEAD_MS = 1_000

/** An assignment that ends now. Times are in ms of the monotonic clock. */
type Assignment = {
  readonly sinceMs: number
  readonly nowMs: number
  /** Connectors and tasks that were assigned or revoked. */
  readonly moved: number
}

/**
 * The times for which the leader rests after rebalances before it requests another one for changed configurations, so
 * that it handles the changes of that time together. The cost of a rebalance grows with all work, not with the change.
 *
 * A rest is three times the duration of the assignment, at least 20 ms, for each connector and task that was moved, and
 * at most 1 s. How long members waited for each other has no effect. Of longer rests, one second may be put off: then
 * a single change is hardly delayed, and many changes cause few rebalances.
 */
export class RebalanceRests {
  #untilMs = 0

  /** Time until the next request for a rebalance, in ms. */
  restAfter({ sinceMs, nowMs, moved }: Assignment): number {
    const shortestMs = Math.min(REST_MS_MAX, REST_MS_MIN * moved)
    const ownMs = Math.min(REST_MS_MAX, Math.max(shortestMs, REST_PER_ASSIGNMENT * (nowMs - sinceMs) * moved))
    this.#untilMs = Math.max(nowMs, this.#untilMs) + ownMs
    return Math.max(shortestMs, this.#untilMs - REST_AHEAD_MS - nowMs)
  }
}
