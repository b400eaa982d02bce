import { type Clock, systemClock } from './clock.ts'

const PROMISE_SETTLED = new Error('the work has completed')

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
    // A constant reason: without one, every abort creates an error with a stack.
    waiting.abort(PROMISE_SETTLED)
  }
}
