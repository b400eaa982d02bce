import { describe, expect, it } from 'vitest'
import { SeededRandom } from '../support/seeded-random.ts'
import { isLinearizable, type Operation, type SequentialModel } from './linearizability.ts'

type Input = { readonly put: number } | 'get'

/** One number, which is written and read. */
const cell: SequentialModel<number, Input, number | 'done'> = {
  initial: 0,
  step(state, input, output) {
    if (input !== 'get') return input.put
    return output === undefined || output === state ? state : undefined
  },
  keyOf: String,
}

const put = (value: number, calledAt: number, returnedAt: number): Operation<Input, number | 'done'> => ({
  input: { put: value },
  output: returnedAt === Number.POSITIVE_INFINITY ? undefined : 'done',
  calledAt,
  returnedAt,
})
const get = (output: number, calledAt: number, returnedAt: number): Operation<Input, number | 'done'> => ({
  input: 'get',
  output,
  calledAt,
  returnedAt,
})
const NEVER = Number.POSITIVE_INFINITY

describe('a history of one cell', () => {
  it.each([
    ['without operations', [], true],
    ['whose reads follow its writes', [put(1, 0, 1), get(1, 2, 3), put(2, 4, 5), get(2, 6, 7)], true],
    ['with a read of what was overwritten before it', [put(1, 0, 1), put(2, 2, 3), get(1, 4, 5)], false],
    ['with reads of both values during a write', [put(1, 0, 1), put(2, 2, 9), get(1, 3, 4), get(2, 5, 6)], true],
    ['with reads that go back during a write', [put(1, 0, 1), put(2, 2, 9), get(2, 3, 4), get(1, 5, 6)], false],
    ['with a write without a response, which happens late', [put(1, 0, NEVER), get(0, 1, 2), get(1, 3, 4)], true],
    ['with a write without a response, which never happens', [put(1, 0, NEVER), get(0, 1, 2), get(0, 3, 4)], true],
    ['with a write that happens twice', [put(1, 0, NEVER), get(1, 1, 2), put(2, 3, 4), get(1, 5, 6)], false],
  ] as const)('%s: %#', (_, operations, expected) => {
    expect(isLinearizable(cell, operations)).toBe(expected)
  })
})

it('agrees with the search of all orders', () => {
  const random = new SeededRandom(7)
  const outcomes = { true: 0, false: 0 }
  for (let history = 0; history < 3_000; history += 1) {
    const positions = random.shuffled(Array.from({ length: 10 }, (_, at) => at))
    const operations = Array.from({ length: 5 }, (_, at) => {
      const [one, other] = [positions[2 * at]!, positions[2 * at + 1]!]
      const [calledAt, returnedAt] = [Math.min(one, other), random.below(8) === 0 ? NEVER : Math.max(one, other)]
      if (random.below(2) === 0) return put(random.between(1, 2), calledAt, returnedAt)
      return get(random.below(3), calledAt, returnedAt === NEVER ? 10 + at : returnedAt)
    })
    const isRight = isLinearizable(cell, operations)
    expect(isRight).toBe(hasOrder(operations, 0))
    outcomes[`${isRight}`] += 1
  }
  expect(Math.min(outcomes.true, outcomes.false)).toBeGreaterThan(300)
})

/** Tries each order in which no operation is before one that had returned when it was called. */
function hasOrder(rest: readonly Operation<Input, number | 'done'>[], state: number): boolean {
  // Operations without a response need not happen.
  if (rest.every(({ output }) => output === undefined)) return true
  return rest.some((operation) => {
    if (rest.some(({ returnedAt }) => returnedAt < operation.calledAt)) return false
    const next = cell.step(state, operation.input, operation.output)
    return (
      next !== undefined &&
      hasOrder(
        rest.filter((one) => one !== operation),
        next,
      )
    )
  })
}
