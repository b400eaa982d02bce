import { DataError } from '../../../sdk/index.ts'

/** Step budget of one evaluation: enough to compare 700 items pairwise, which takes a fraction of a second. */
export const STEPS_MAX = 1_000_000

/**
 * Chosen so that a string that is doubled repeatedly exhausts the steps before it reaches the maximum string length.
 */
const CHARACTERS_A_STEP = 64

/** Remaining steps of the current evaluation. Evaluations are synchronous, so there is only one at a time. */
let left = 0

/** Throws a `DataError` if `evaluate` uses more steps than allowed, even if the expression absorbs the error. */
export function withinSteps<Result>(evaluate: () => Result): Result {
  left = STEPS_MAX
  const result = evaluate()
  spend(0)
  return result
}

/** Counts steps: one for each item that is iterated, compared or created. */
export function spend(steps: number): void {
  left -= steps
  if (left < 0)
    throw new DataError(`the evaluation takes more than ${STEPS_MAX} steps: reduce the number of items in nested loops`)
}

/** Counts the steps for a shallow traversal of `value`, and returns it. */
export function spendFor(value: unknown): unknown {
  if (typeof value === 'string') spend(1 + Math.floor(value.length / CHARACTERS_A_STEP))
  else spend(Array.isArray(value) ? 1 + value.length : 1)
  return value
}

/**
 * Counts the steps for a deep traversal of `value`, and returns it. A list that occurs several times is counted each
 * time.
 */
export function spendForAll(value: unknown): unknown {
  spendFor(value)
  if (typeof value !== 'object' || value === null) return value
  for (const item of value instanceof Map ? value.values() : Object.values(value)) spendForAll(item)
  return value
}
