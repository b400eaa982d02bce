import { setTimeout as sleep } from 'node:timers/promises'
import type { Operator, ResourceRow } from '../../operator/main.ts'

/** How long all resources must stay Ready, because a task may fail shortly after it started. */
const STABLE_MS = 500
const POLL_INTERVAL_MS = 50

/**
 * Resolves with the last state of all resources when each is Ready or stuck for `STABLE_MS`, after `timeoutMs`, or when
 * `signal` aborts.
 */
export async function waitUntilReady(
  operator: Operator,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<readonly ResourceRow[]> {
  const deadlineMs = performance.now() + timeoutMs
  let settledSinceMs = Number.POSITIVE_INFINITY
  for (;;) {
    const rows = operator.rows()
    const nowMs = performance.now()
    settledSinceMs = rows.every(({ ready, isStalled }) => ready === 'True' || isStalled)
      ? Math.min(settledSinceMs, nowMs)
      : Number.POSITIVE_INFINITY
    if (nowMs - settledSinceMs >= STABLE_MS || nowMs >= deadlineMs || signal.aborted) return rows
    await sleep(POLL_INTERVAL_MS)
  }
}
