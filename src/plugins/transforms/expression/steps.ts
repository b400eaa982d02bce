import { DataError } from '../../../sdk/index.ts'

/** Enough to look at each pair of 700 items; as many take a fraction of a second. */
export const STEPS_MAX = 1_000_000

/** Texts that double reach the longest that there may be only for more than all steps. */
const CHARACTERS_A_STEP = 64

/** What the evaluation that is running may still spend. An evaluation never waits, so there is one at a time. */
let left = 0

/** Throws a `DataError` when `evaluate` spends more than one evaluation may, also where it goes on regardless. */
export function withinSteps<Result>(evaluate: () => Result): Result {
  left = STEPS_MAX
  const result = evaluate()
  spend(0)
  return result
}

/** Each item that is looped over, looked at or made is a step. */
export function spend(steps: number): void {
  left -= steps
  if (left < 0) throw new DataError(`more than ${STEPS_MAX} steps: too many items within loops within loops`)
}

/** Gives `value` back, and spends what it takes to go through it, not into it. */
export function spendFor(value: unknown): unknown {
  if (typeof value === 'string') spend(1 + Math.floor(value.length / CHARACTERS_A_STEP))
  else spend(Array.isArray(value) ? 1 + value.length : 1)
  return value
}

/** Gives `value` back, and spends what it takes to look at the whole of it: lists in it may be the same one many times. */
export function spendForAll(value: unknown): unknown {
  spendFor(value)
  if (typeof value !== 'object' || value === null) return value
  for (const item of value instanceof Map ? value.values() : Object.values(value)) spendForAll(item)
  return value
}
