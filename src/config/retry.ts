import { type Clock, systemClock } from './clock.ts'

/** Waiting times grow from `firstMs` by doubling up to `maxMs`, each shortened at random by up to a half. */
export type Backoff = { readonly firstMs: number; readonly maxMs: number }

export type RetryOptions = {
  readonly backoff: Backoff
  /** Which failures may heal by themselves. A `TypeError` and its kin never do. */
  readonly retriable: (error: unknown) => boolean
  /** Total time; after it the last failure is thrown. */
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

/** Calls `attempt` until it succeeds, fails for good, or the time is over. */
export async function retry<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const clock = options.clock ?? systemClock
  const endMs = clock.monotonicMs() + options.withinMs
  for (let tries = 0; ; tries++) {
    options.signal?.throwIfAborted()
    try {
      return await attempt()
    } catch (error) {
      const waitMs = backoffMs(options.backoff, tries, options.random)
      if (isBug(error) || !options.retriable(error) || clock.monotonicMs() + waitMs > endMs) throw error
      options.onRetry?.(error, tries + 1, waitMs)
      await clock.sleep(waitMs, options.signal)
    }
  }
}

function isBug(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError
}
