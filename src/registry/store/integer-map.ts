const CAPACITY_MIN = 16
/** Multiplier of Fibonacci hashing. */
const HASH_FACTOR = 0x9e3779b1

/**
 * Maps integers to 32-bit integers, in two arrays with linear probing. A `Map` needs three times the memory, and blocks
 * for longer when it grows.
 */
export class IntegerMap {
  /** NaN marks an empty slot. */
  #keys = new Float64Array(CAPACITY_MIN).fill(Number.NaN)
  #values = new Int32Array(CAPACITY_MIN)
  #size = 0

  get size(): number {
    return this.#size
  }

  get(key: number): number | undefined {
    const slot = this.#slotOf(key)
    return this.#keys[slot] === key ? this.#values[slot] : undefined
  }

  set(key: number, value: number): void {
    let slot = this.#slotOf(key)
    if (this.#keys[slot] !== key) {
      this.#size += 1
      if (this.#size > this.#keys.length * 0.75) {
        this.#grow()
        slot = this.#slotOf(key)
      }
      this.#keys[slot] = key
    }
    this.#values[slot] = value
  }

  delete(key: number): void {
    let hole = this.#slotOf(key)
    if (this.#keys[hole] !== key) return
    this.#size -= 1
    const mask = this.#keys.length - 1
    // Entries after the hole move into it, unless their own slot is behind it.
    for (let slot = (hole + 1) & mask; !this.#isEmpty(slot); slot = (slot + 1) & mask) {
      const own = this.#hash(this.#keys[slot]!)
      if (((slot - own) & mask) < ((slot - hole) & mask)) continue
      this.#keys[hole] = this.#keys[slot]!
      this.#values[hole] = this.#values[slot]!
      hole = slot
    }
    this.#keys[hole] = Number.NaN
  }

  /** The slot of the key, or the empty slot where it would be inserted. */
  #slotOf(key: number): number {
    const mask = this.#keys.length - 1
    let slot = this.#hash(key)
    while (this.#keys[slot] !== key && !this.#isEmpty(slot)) slot = (slot + 1) & mask
    return slot
  }

  #isEmpty(slot: number): boolean {
    return Number.isNaN(this.#keys[slot])
  }

  #hash(key: number): number {
    const folded = key ^ (key / 2 ** 32)
    return Math.imul(folded, HASH_FACTOR) >>> (Math.clz32(this.#keys.length) + 1)
  }

  #grow(): void {
    const keys = this.#keys
    const values = this.#values
    this.#keys = new Float64Array(keys.length * 2).fill(Number.NaN)
    this.#values = new Int32Array(values.length * 2)
    for (let slot = 0; slot < keys.length; slot++) {
      const key = keys[slot]!
      if (Number.isNaN(key)) continue
      const to = this.#slotOf(key)
      this.#keys[to] = key
      this.#values[to] = values[slot]!
    }
  }
}
