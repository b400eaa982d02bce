import { setTimeout as sleep } from 'node:timers/promises'
import type { Operator, ResourceRow } from '../../operator/main.ts'

/** Ready has to last so long: a task that fails does so a moment after it was started. */
const STABLE_MS = 500
const POLL_INTERVAL_MS = 50

/**
 * Resolves when every resource is Ready and stays so for a moment, when what is left does not get there by itself, or
 * when the time is over; with the rows as they are then.
 */
export async function waitUntilReady(
  operator: Operator,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<readonly ResourceRow[]> {
  const endMs = performance.now() + timeoutMs
  let settledAtMs = Number.POSITIVE_INFINITY
  for (;;) {
    const rows = operator.rows()
    const nowMs = performance.now()
    settledAtMs = rows.every(({ ready, stuck }) => ready === 'True' || stuck)
      ? Math.min(settledAtMs, nowMs)
      : Number.POSITIVE_INFINITY
    if (nowMs - settledAtMs >= STABLE_MS || nowMs >= endMs || signal.aborted) return rows
    await sleep(POLL_INTERVAL_MS)
  }
}
