import { type Clock, systemClock } from './clock.ts'

const OVER = new Error('the work is over')

/** What `work` comes to or, when it takes longer than `ms`, what `late` says. The work itself goes on. */
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
    // Without a reason one is made, with a stack: most work is in time.
    waiting.abort(OVER)
  }
}
