const MODULUS = 2_147_483_647
const MULTIPLIER = 48_271

/** Random numbers that are a function of the seed: the generator of Park and Miller. */
export class SeededRandom {
  #state: number

  constructor(seed: number) {
    // Neighboring seeds begin with distant numbers, and no state is 0, which would stay 0.
    this.#state = ((Math.imul(seed, 0x9e_37_79_b1) >>> 0) % (MODULUS - 1)) + 1
    this.below(1)
  }

  /** An integer from 0 to `end - 1`. */
  below(end: number): number {
    this.#state = (this.#state * MULTIPLIER) % MODULUS
    return this.#state % end
  }

  /** An integer from `first` to `last`. */
  between(first: number, last: number): number {
    return first + this.below(last - first + 1)
  }

  one<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!
  }

  /** The same items in random order. */
  shuffled<Item>(items: readonly Item[]): readonly Item[] {
    const rest = [...items]
    return items.map(() => rest.splice(this.below(rest.length), 1)[0]!)
  }
}
