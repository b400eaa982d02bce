import { stringHashCode } from './string-hash-code.ts'

const LOAD_FACTOR = 0.75

export type JavaMapSize = {
  /** Initial capacity of the map. Default: 16, as in Java. */
  readonly capacity?: number
  /** Number of keys for which the map was sized. Default: the number of keys. */
  readonly count?: number
}

/**
 * Returns the iteration order of a `java.util.HashMap` or `HashSet` into which these keys were inserted in the given
 * order. Java programs write JSON members in this order, and the registry compares schemas as text.
 */
export function inHashOrder(keys: readonly string[], size: JavaMapSize = {}): readonly string[] {
  const { capacity = 16, count = keys.length } = size
  let buckets = 1
  while (buckets < capacity || count > buckets * LOAD_FACTOR) buckets *= 2
  return keys
    .map((key) => ({ key, bucket: hashOf(key) & (buckets - 1) }))
    .sort((a, b) => a.bucket - b.bucket)
    .map(({ key }) => key)
}

function hashOf(text: string): number {
  const hash = stringHashCode(text)
  return hash ^ (hash >>> 16)
}
