import { createHash } from 'node:crypto'
import type { PlainJson, PlainJsonObject } from './schema-model.ts'

/** The digests of objects and arrays, so that each part of a schema is hashed once. */
const digests = new WeakMap<object, string>()

/** Returns a digest that is equal for equal values, regardless of the order of members. */
export function digestOf(value: PlainJson): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const known = digests.get(value)
  if (known !== undefined) return known
  const parts = Array.isArray(value)
    ? value.map((item: PlainJson) => digestOf(item))
    : Object.entries(value as PlainJsonObject)
        .map(([name, member]) => `${JSON.stringify(name)}:${digestOf(member)}`)
        .sort()
  const digest = createHash('sha256')
    .update(Array.isArray(value) ? `[${parts.join()}]` : `{${parts.join()}}`)
    .digest('base64')
  digests.set(value, digest)
  return digest
}
