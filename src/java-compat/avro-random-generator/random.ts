/** Pseudorandom numbers that depend only on the seed and the record number. */
export type Random = {
  /** Returns an integer from 0 (inclusive) to `end` (exclusive). */
  below(end: number): number
  pick<Item>(items: readonly Item[]): Item
}

/**
 * Returns the random numbers for one record. Any record can be generated without those before it, so a restart
 * continues with identical records.
 */
export function randomAt(seed: number, index: number): Random {
  let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b) ^ Math.floor(index / 2 ** 32)) >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number) => Math.floor(next() * end)
  return { below, pick: (items) => items[below(items.length)]! }
}
