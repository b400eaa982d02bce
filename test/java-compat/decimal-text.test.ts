import { expect, it } from 'vitest'
import { withoutTrailingZeros } from '../../src/java-compat/decimal-text.ts'

it.each([
  ['1.50', '1.5'],
  ['-0.0100', '-0.01'],
  ['100.00', '100'],
  ['7.', '7'],
  ['100', '100'],
  ['1.50e30', '1.50e30'],
  ['NaN', 'NaN'],
])('writes %s as %s', (text, expected) => {
  expect(withoutTrailingZeros(text)).toBe(expected)
})

it('takes linear time for zeros that are not at the end', () => {
  const zeros = '0'.repeat(1_000_000)
  expect(withoutTrailingZeros(`0.${zeros}10`)).toBe(`0.${zeros}1`)
})
