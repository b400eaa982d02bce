import { setTimeout as delay } from 'node:timers/promises'

/** Time, as far as a decision depends on it; tests bring their own. */
export interface Clock {
  /** Milliseconds since 1970. May jump. */
  nowMs(): number
  /** Milliseconds since some moment. Never goes back. */
  monotonicMs(): number
  /** Resolves after `ms`, but 24 days at most, or rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Node's timers take no more, and fire at once when asked for it. */
const SLEEP_MS_MAX = 2 ** 31 - 1

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) => delay(Math.min(ms, SLEEP_MS_MAX), undefined, signal ? { signal } : {}),
}
