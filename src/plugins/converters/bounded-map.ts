/** A map that forgets the entry used longest ago when it grows beyond `sizeMax`. `set` gives the value back. */
export function boundedMap<Key, Value>(sizeMax: number) {
  const entries = new Map<Key, Value>()
  return {
    get: (key: Key) => entries.get(key),
    set(key: Key, value: Value): Value {
      if (entries.size >= sizeMax) entries.delete(entries.keys().next().value as Key)
      entries.set(key, value)
      return value
    },
  }
}
