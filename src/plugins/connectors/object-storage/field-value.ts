import type { Schema } from '../../../sdk/index.ts'

/** A field of a record, and its schema if the record has one. */
export type FieldValue = { readonly value: unknown; readonly schema: Schema | null }

/** The field at a path such as `a.b`, of a struct or a map; undefined if it does not exist. */
export function fieldValueAt(value: unknown, schema: Schema | null, path: string): FieldValue | undefined {
  let found: FieldValue = { value, schema }
  for (const name of path.split('.')) {
    const inner = memberOf(found, name)
    if (inner === undefined) return undefined
    found = inner
  }
  return found
}

function memberOf({ value, schema }: FieldValue, name: string): FieldValue | undefined {
  if (schema?.type === 'struct') {
    const field = schema.fields?.find((one) => one.name === name)
    if (field === undefined) return undefined
    return { value: (value as Readonly<Record<string, unknown>> | null | undefined)?.[name], schema: field.schema }
  }
  if (value instanceof Map)
    return value.has(name) ? { value: value.get(name), schema: schema?.items ?? null } : undefined
  if (schema !== null || typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return { value: (value as Readonly<Record<string, unknown>>)[name], schema: null }
}
