const { floor, imul } = Math
const STEP = 0x6d2b79f5

/**
 * Pseudorandom numbers that depend only on the seed and the record number. The state is a 32-bit integer in a field,
 * because V8 allocates memory for each new value of a larger number, and for closures.
 */
export class Random {
  #state: number

  constructor(seed: number, index: number) {
    this.#state = imul(seed, 0x9e3779b1) ^ imul(index + 1, 0x85ebca6b) ^ floor(index / 2 ** 32)
  }

  /** Returns an integer from 0 (inclusive) to `end` (exclusive). */
  below(end: number): number {
    this.#state = (this.#state + STEP) | 0
    return floor((mix(this.#state) / 2 ** 32) * end)
  }

  /** Returns a number of 53 random bits from 0 (inclusive) to 1 (exclusive). */
  fraction(): number {
    const first = (this.#state + STEP) | 0
    this.#state = (first + STEP) | 0
    return ((mix(first) >>> 11) * 2 ** 32 + mix(this.#state)) / 2 ** 53
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
  return new Random(seed, index)
}
