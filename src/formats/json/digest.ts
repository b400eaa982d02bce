import { createHash } from 'node:crypto'
import type { PlainJson, PlainJsonObject } from './model.ts'

/** Each object's and array's own, so that a schema is gone through once however deep it is. */
const digests = new WeakMap<object, string>()

/** Equal for equal values, in whatever order the members of objects stand. */
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
