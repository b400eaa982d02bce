/** Numbers that look random and are the same for the same seed and place. */
export type Random = {
  /** From 0 up to `end`, which is left out. */
  below(end: number): number
  pick<Item>(items: readonly Item[]): Item
}

/** One record's numbers: any record of the stream can be made without those before it, so a restart goes on exactly. */
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
