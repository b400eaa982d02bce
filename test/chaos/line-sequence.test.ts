import { expect, it } from 'vitest'
import { LineSequence } from './line-sequence.ts'

it.each([
  ['nothing', [], { repeated: 0, displaced: 0, missing: 6 }],
  ['all lines in order', [0, 1, 2, 3, 4, 5], { repeated: 0, displaced: 0, missing: 0 }],
  ['a repeated part', [0, 1, 2, 1, 2, 3, 4, 5], { repeated: 2, displaced: 0, missing: 0 }],
  ['a missing line', [0, 1, 3, 4, 5], { repeated: 0, displaced: 3, missing: 1 }],
  ['two exchanged parts', [0, 1, 4, 5, 2, 3], { repeated: 0, displaced: 2, missing: 0 }],
  ['a replaced writer that writes once more', [0, 1, 2, 3, 0, 4, 1, 5, 2], { repeated: 3, displaced: 0, missing: 0 }],
])('counts what is wrong with %s', (_, lines, expected) => {
  const sequence = new LineSequence()
  for (const line of lines) sequence.observe(line)
  const { repeated, displaced } = sequence
  expect({ repeated, displaced, missing: sequence.missing(6) }).toEqual(expected)
})
