import { describe, expect, it } from 'vitest'
import { IntegerMap } from '../../../src/registry/store/integer-map.ts'

describe('a map of integers', () => {
  it('holds the same entries as a Map after many changes', () => {
    const map = new IntegerMap()
    const expected = new Map<number, number>()
    let seed = 1
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    for (let change = 0; change < 20_000; change++) {
      // Neighbouring keys, and keys that differ only beyond 32 bits.
      const key = random(400) - 100 + 2 ** 32 * random(3)
      if (random(3) === 0) {
        map.delete(key)
        expected.delete(key)
      } else {
        map.set(key, change)
        expected.set(key, change)
      }
    }
    expect(map.size).toBe(expected.size)
    for (let low = -100; low < 300; low++) {
      for (const key of [low, low + 2 ** 32, low + 2 ** 33]) expect(map.get(key)).toBe(expected.get(key))
    }
  })

  it('accepts integers beyond 2^53', () => {
    const map = new IntegerMap()
    map.set(1e300, 1)
    map.set(-(2 ** 31), 2)
    expect([map.get(1e300), map.get(-(2 ** 31)), map.get(0)]).toEqual([1, 2, undefined])
  })
})
