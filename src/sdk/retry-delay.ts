/** Delays between attempts: `firstMs`, then twice as long each time, at most `maxMs`. */
export type RetryDelays = { readonly firstMs: number; readonly maxMs: number }

/**
 * The delay before the next attempt, in ms. `attempt` counts the attempts that have failed since the last success, from 0. The
 * delay is shortened at random by up to a half, so that clients that failed together do not retry together.
 */
export function retryDelayMs(
  { firstMs, maxMs }: RetryDelays,
  attempt: number,
  random: () => number = Math.random,
): number {
  const ceilingMs = Math.min(maxMs, firstMs * 2 ** Math.min(attempt, 30))
  return Math.round(ceilingMs * (1 - random() / 2))
}
