import { expect, it } from 'vitest'
import { shortestFloat } from '../../src/java-compat/java-text.ts'

it.each([
  // The smallest float: Java prints at least two digits.
  [1e-45, 1.4e-45],
  [2.8e-45, 2.8e-45],
  [Math.fround(0.1), 0.1],
  [3.4028235e38, 3.4028235e38],
  [16_777_216, 16_777_216],
  [-0, -0],
  [Number.NaN, Number.NaN],
])('the 32-bit float %d is printed as %d', (value, printed) => {
  expect(shortestFloat(value)).toBe(printed)
})
