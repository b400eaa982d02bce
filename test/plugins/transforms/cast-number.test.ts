import { expect, it } from 'vitest'
import { CSV_TYPES } from '../../../src/plugins/connectors/directory/row-format.ts'
import { toFloat } from '../../../src/plugins/transforms/cast-number.ts'
import { field } from '../../../src/sdk/index.ts'

// A pattern that needs the square of the time would take a minute.
const LONG = `${'1'.repeat(200_000)}x`

it.each<[string, (text: string) => unknown, string]>([
  ['Cast', (text) => toFloat(text, 'float64'), 'was out of range for requested data type'],
  ['a CSV column', CSV_TYPES.float64.read, 'is not a number'],
  ['a configuration', (text) => field.double({ doc: '' }).parse(text), 'Not a number of type DOUBLE'],
])('a long text that begins like a number is rejected in linear time: %s', (_, read, message) => {
  expect(() => read(LONG)).toThrow(message)
  expect([read('1.5'), read('-1.'), read('.5e1')]).toEqual([1.5, -1, 5])
})
