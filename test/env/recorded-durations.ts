import { readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

/** Seconds of a file and of its longest test. */
type Duration = readonly [fileSeconds: number, testSeconds: number]

/**
 * The durations of test files that run for at least 1 s, on two cores that run nothing else, by path from the root of the checkout.
 * `scripts/record-durations.mjs` writes them from a report of Vitest.
 */
export const RECORDED_DURATIONS: Readonly<Record<string, Duration>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'recorded-durations.json'), 'utf8'),
)

/** Limits in ms of the tests and of the hooks of a file: several times their recorded duration, and at least `leastMs`. */
export function limitsOf(
  file: string,
  leastMs: number,
): { readonly testTimeout: number; readonly hookTimeout: number } {
  const [fileSeconds, testSeconds] = durationOf(file)
  return { testTimeout: leastMs + testSeconds * 6_000, hookTimeout: leastMs + fileSeconds * 6_000 }
}

/** Of a file without a record: 0. */
export function durationOf(file: string): Duration {
  return RECORDED_DURATIONS[relative(ROOT, file).split(sep).join('/')] ?? [0, 0]
}
