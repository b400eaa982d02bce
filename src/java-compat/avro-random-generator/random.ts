/**
 * Pseudorandom numbers that depend only on the seed and the record number. The state is a 32-bit integer in a field,
 * because V8 allocates memory for each new value of a larger number, and for closures.
 */
export class Random {
  #state: number

  constructor(seed: number, index: number) {
    this.#state = Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b) ^ Math.floor(index / 2 ** 32)
  }

  /** Returns an integer from 0 (inclusive) to `end` (exclusive). */
  below(end: number): number {
    const state = (this.#state + 0x6d2b79f5) | 0
    this.#state = state
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end)
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!
  }
}

/**
 * Returns the random numbers for one record. Any record can be generated without those before it, so a restart
 * continues with identical records.
 */
export function randomAt(seed: number, index: number): Random {
  return new Random(seed, index)
}
