// The values of the delays. `error-outcome.ts` chooses the delay for an error, and `work-queue.ts` applies and doubles it.

import type { Backoff } from '../../common/retry.ts'

/** Pauses between two reconciles: each is as long as the wait so far, within these bounds. */
export type PollInterval = { readonly firstMs: number; readonly maxMs: number }

/** After errors of a runtime or of the API server. Doubles for each key until a reconcile succeeds. */
export const RATE_LIMITED_BACKOFF: Backoff = { firstMs: 500, maxMs: 300_000 }

/** Most rebalances are short, so polling starts often and slows down. */
export const REBALANCE_POLL: PollInterval = { firstMs: 1_000, maxMs: 15_000 }

/** For states that end without an action, such as tasks that are unassigned after a worker was lost. */
export const TRANSIENT_STATE_POLL: PollInterval = { firstMs: 2_000, maxMs: 30_000 }

/** After a `TerminalError` without a delay of its own. */
export const STALLED_REQUEUE_MS = 30_000

/** The pause after waiting for `sinceMs`: as long as the wait so far, so the pauses double. */
export function pollDelayMs({ firstMs, maxMs }: PollInterval, sinceMs: number): number {
  return Math.min(maxMs, Math.max(firstMs, sinceMs))
}
