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

/** Returns the cached value of a key, or fetches it. Concurrent callers share one request; a failure is not cached. */
export function getOrFetch<Key, Value>(
  cache: BoundedMap<Key, Promise<Value>>,
  key: Key,
  fetch: () => Promise<Value>,
): Promise<Value> {
  const found = cache.get(key)
  if (found !== undefined) return found
  const fetched = fetch().catch((error: unknown) => {
    cache.delete(key)
    throw error
  })
  return cache.set(key, fetched)
}
