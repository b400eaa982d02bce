import { type Clock, systemClock, WAIT_ENDED } from './clock.ts'

/** Resolves with the result of `work`, or with that of `late` after `ms`. The work itself is not cancelled. */
export async function withTimeout<T, Late>(
  promise: Promise<T>,
  ms: number,
  onTimeout: () => Late,
  clock: Clock = systemClock,
): Promise<T | Late> {
  const waiting = new AbortController()
  try {
    return await Promise.race([promise, clock.sleep(ms, waiting.signal).then(onTimeout)])
  } finally {
    waiting.abort(WAIT_ENDED)
  }
}
