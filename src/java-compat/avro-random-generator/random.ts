const { imul } = Math

/**
 * Pseudorandom numbers that depend only on the seed and the record number. The state is a 32-bit integer in a field,
 * because V8 allocates memory for each new value of a larger number, and for closures.
 *
 * V8 compiles at most 920 bytes of bytecode into the function that generates records, and a call that is left over
 * allocates the fraction that it returns. So these functions have little bytecode: the field is neither private to the
 * language nor defined before the constructor, and nothing calls `Math.floor`.
 */
export class Random {
  declare private state: number

  constructor(state: number) {
    this.state = state
  }

  /** Returns an integer from 0 (inclusive) to `end` (exclusive, at most 2^32). */
  below(end: number): number {
    const state = (this.state + 0x6d2b79f5) | 0
    this.state = state
    return ((mix(state) * end) / 4_294_967_296) >>> 0
  }

  /** Returns a number of 53 random bits from 0 (inclusive) to 1 (exclusive). */
  fraction(): number {
    const first = (this.state + 0x6d2b79f5) | 0
    const second = (first + 0x6d2b79f5) | 0
    this.state = second
    return ((mix(first) >>> 11) * 4_294_967_296 + mix(second)) / 9_007_199_254_740_992
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!
  }
}

/** Returns an integer of 32 bits without a sign. */
function mix(state: number): number {
  const mixed = imul(state ^ (state >>> 15), state | 1)
  const last = mixed ^ (mixed + imul(mixed ^ (mixed >>> 7), mixed | 61))
  return (last ^ (last >>> 14)) >>> 0
}

/**
 * Returns the random numbers for one record. Any record can be generated without those before it, so a restart
 * continues with identical records.
 */
export function randomAt(seed: number, index: number): Random {
  return new Random(imul(seed, 0x9e3779b1) ^ imul(index + 1, 0x85ebca6b) ^ (index / 4_294_967_296))
}
