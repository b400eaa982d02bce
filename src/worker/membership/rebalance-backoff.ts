const BACKOFF_PER_ASSIGNMENT = 3
const BACKOFF_MS_MIN = 20
const BACKOFF_MS_MAX = 1_000
const UNUSED_MS_MAX = 1_000

/** A rebalance whose assignment ends now. Times are in ms of the monotonic clock. */
type Rebalance = {
  /** When the leader began to compute the assignment. */
  readonly sinceMs: number
  readonly nowMs: number
  /** Number of connectors and tasks that were assigned or revoked. */
  readonly moved: number
}

/**
 * How long the leader waits after a rebalance before it requests the next one for changed configurations. It handles all
 * changes of that time in one rebalance, because the cost of a rebalance grows with the number of all connectors and tasks.
 *
 * The backoff after a rebalance is three times the duration of its assignment, multiplied by the number of connectors and
 * tasks that moved: at least 20 ms for each of them, and at most 1 s. The time that members need to join has no effect. Only
 * the part of the accumulated backoff above 1 s is waited for, so a single change is hardly delayed, and many changes cause
 * few rebalances.
 */
export class RebalanceBackoff {
  /** The end of the backoffs of all rebalances, if they were waited for in full. */
  #untilMs = 0

  /** Time until the next request for a rebalance, in ms. */
  after({ sinceMs, nowMs, moved }: Rebalance): number {
    const shortestMs = Math.min(BACKOFF_MS_MAX, BACKOFF_MS_MIN * moved)
    const ownMs = Math.min(BACKOFF_MS_MAX, Math.max(shortestMs, BACKOFF_PER_ASSIGNMENT * (nowMs - sinceMs) * moved))
    this.#untilMs = Math.max(nowMs, this.#untilMs) + ownMs
    return Math.max(shortestMs, this.#untilMs - UNUSED_MS_MAX - nowMs)
  }
}
