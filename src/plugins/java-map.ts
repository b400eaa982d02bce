/**
 * The order in which a `java.util.HashMap` (or a set of that kind) tells these keys: texts that Java's programs write from
 * one have their members in it, and two texts are one schema only when they are the same. `room`: the capacity it was made with.
 */
export function inJavaOrder(keys: readonly string[], room = 16): readonly string[] {
  let buckets = 1
  while (buckets < room) buckets *= 2
  while (keys.length > buckets * 0.75) buckets *= 2
  return keys
    .map((key) => ({ key, bucket: spread(hashOf(key)) & (buckets - 1) }))
    .sort((a, b) => a.bucket - b.bucket)
    .map(({ key }) => key)
}

function hashOf(text: string): number {
  let hash = 0
  for (let index = 0; index < text.length; index++) hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0
  return hash
}

function spread(hash: number): number {
  return hash ^ (hash >>> 16)
}
