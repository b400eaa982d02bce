/**
 * The partition that Java's default partitioner selects for a key: the murmur2 hash without its sign, modulo the number
 * of partitions. Other clients write the same keys to the same partitions.
 */
export function partitionForKey(key: Uint8Array, partitions: number): number {
  return (murmur2(key) & 0x7fffffff) % partitions
}

const SEED = 0x9747b28c
const M = 0x5bd1e995

function murmur2(bytes: Uint8Array): number {
  const { length } = bytes
  let hash = SEED ^ length
  let at = 0
  for (; at + 4 <= length; at += 4) {
    let k = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
    k = Math.imul(k, M)
    k ^= k >>> 24
    hash = Math.imul(hash, M) ^ Math.imul(k, M)
  }
  const left = length - at
  if (left > 2) hash ^= bytes[at + 2]! << 16
  if (left > 1) hash ^= bytes[at + 1]! << 8
  if (left > 0) hash = Math.imul(hash ^ bytes[at]!, M)
  hash ^= hash >>> 13
  hash = Math.imul(hash, M)
  return hash ^ (hash >>> 15)
}
