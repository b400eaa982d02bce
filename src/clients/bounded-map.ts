/** A map that evicts its oldest entry when it would exceed `sizeMax`. */
export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>()
  readonly #sizeMax: number

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)
  }

  /** Returns the value. */
  set(key: Key, value: Value): Value {
    if (this.#entries.size >= this.#sizeMax) this.#entries.delete(this.#entries.keys().next().value as Key)
    this.#entries.set(key, value)
    return value
  }

  delete(key: Key): void {
    this.#entries.delete(key)
  }
}

/** Concurrent callers share one request; a failure is not cached. */
export function getOrFetch<Key, Value>(
  known: BoundedMap<Key, Promise<Value>>,
  key: Key,
  ask: () => Promise<Value>,
): Promise<Value> {
  const found = known.get(key)
  if (found !== undefined) return found
  const asked = ask().catch((error: unknown) => {
    known.delete(key)
    throw error
  })
  return known.set(key, asked)
}
