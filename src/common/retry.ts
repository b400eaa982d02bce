import { type Clock, systemClock } from './clock.ts'

/** Exponential backoff from `firstMs` to `maxMs`, with up to 50 % of jitter. */
export type Backoff = { readonly firstMs: number; readonly maxMs: number }

export type RetryOptions = {
  readonly backoff: Backoff
  /** Which errors are transient. A `TypeError` and similar bugs are never retried. */
  readonly retriable: (error: unknown) => boolean
  /** Total time, after which the last error is thrown. */
  readonly withinMs: number
  readonly signal?: AbortSignal
  readonly clock?: Clock
  readonly random?: () => number
  readonly onRetry?: (error: unknown, attempt: number, waitMs: number) => void
}

export function backoffMs(backoff: Backoff, attempt: number, random: () => number = Math.random): number {
  const ceiling = Math.min(backoff.maxMs, backoff.firstMs * 2 ** Math.min(attempt, 30))
  return Math.round(ceiling * (1 - random() / 2))
}

/** Calls `attempt` until it succeeds, fails permanently or the time is over. */
export async function retry<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const clock = options.clock ?? systemClock
  const endMs = clock.monotonicMs() + options.withinMs
  for (let tries = 0; ; tries++) {
    options.signal?.throwIfAborted()
    try {
      return await attempt()
    } catch (error) {
      const waitMs = backoffMs(options.backoff, tries, options.random)
      if (isProgrammingError(error) || !options.retriable(error) || clock.monotonicMs() + waitMs > endMs) throw error
      options.onRetry?.(error, tries + 1, waitMs)
      await clock.sleep(waitMs, options.signal)
    }
  }
}

function isProgrammingError(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError
}
