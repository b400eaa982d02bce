import { type Clock, systemClock } from './clock.ts'

const WORK_ENDED = new Error('the work has ended')

/** Resolves with the result of `work`, or with that of `late` after `ms`. The work itself is not cancelled. */
export async function withTimeout<T, Late>(
  work: Promise<T>,
  ms: number,
  late: () => Late,
  clock: Clock = systemClock,
): Promise<T | Late> {
  const waiting = new AbortController()
  try {
    return await Promise.race([work, clock.sleep(ms, waiting.signal).then(late)])
  } finally {
    // A constant reason: without one, every abort creates an error with a stack.
    waiting.abort(WORK_ENDED)
  }
}
