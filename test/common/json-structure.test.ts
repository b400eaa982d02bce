import fc from 'fast-check'
import { expect, it } from 'vitest'
import { JsonStructure } from '../../src/common/json-structure.ts'

it.each([
  ['[', 1_000, 1_001],
  ['{"a":', 1_000, 1_001],
])('rejects %s nested deeper than Jackson accepts', (opening, allowedDepth, excessiveDepth) => {
  const check = (times: number) => new JsonStructure(100_000).add(Buffer.from(opening.repeat(times)))
  expect(check(allowedDepth)).toBeUndefined()
  expect(check(excessiveDepth)).toBe('it is nested deeper than 1000')
})

it('counts names and values outside of strings, for any JSON in chunks of any size', () => {
  fc.assert(
    fc.property(fc.json(), fc.integer({ min: 1, max: 7 }), (text, size) => {
      const parts = (chunk: number) => {
        const bytes = Buffer.from(text)
        const fits = (max: number) => {
          const structure = new JsonStructure(max)
          for (let at = 0; at < bytes.length; at += chunk) {
            if (structure.add(bytes.subarray(at, at + chunk)) !== undefined) return false
          }
          return true
        }
        let count = 0
        while (!fits(count)) count += 1
        return count
      }
      expect(parts(size)).toBe(partsOf(JSON.parse(text)))
    }),
  )
})

/** Counts each object, each array, each name and each element after the first. */
function partsOf(value: unknown): number {
  if (value === null || typeof value !== 'object') return 0
  const members = Object.values(value)
  const names = Array.isArray(value) ? 0 : Object.keys(value).length
  return 1 + names + Math.max(0, members.length - 1) + members.reduce<number>((sum, one) => sum + partsOf(one), 0)
}

it('rejects more than the maximum number of names and values', () => {
  expect(new JsonStructure(10).add(Buffer.from(`[${'1,'.repeat(20)}1]`))).toBe('it has more than 10 names and values')
})
