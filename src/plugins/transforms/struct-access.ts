import { javaClass } from '../../java-compat/java-class-name.ts'
import { DataError, type Field, field, type Schema, z } from '../../sdk/index.ts'

// Helpers shared by Kafka Connect's transforms: access to data, and the error messages for unexpected data.

export type Members = Readonly<Record<string, unknown>>

/** Returns the members of a schemaless object. Throws a `DataError` if the value is not an object. */
export function requireObject(value: unknown, purpose: string): Members {
  if (value instanceof Map) return Object.fromEntries(value)
  if (javaClass(value, null) === 'java.util.HashMap') return value as Members
  throw new DataError(
    `Only Map objects supported in absence of schema for [${purpose}], found: ${javaClass(value, null)}`,
  )
}

export function requireStruct(value: unknown, schema: Schema, purpose: string): Members {
  if (schema.type === 'struct' && value !== null && value !== undefined) return value as Members
  throw new DataError(`Only Struct objects supported for [${purpose}], found: ${javaClass(value, schema)}`)
}

export function requireStructOrNull(value: unknown, schema: Schema, purpose: string): Members | null {
  return value === null || value === undefined ? null : requireStruct(value, schema, purpose)
}

/** Returns a member of a schemaless object; undefined if there is none, also for a name such as `constructor`. */
export function ownMember(members: Members, name: string): unknown {
  return Object.hasOwn(members, name) ? members[name] : undefined
}

/** Returns a field's value. If it is null and `withDefault` is set, returns the default of the field. */
export function memberOf(struct: Members, { name, schema }: Field, withDefault = true): unknown {
  return struct[name] ?? (withDefault ? schema.default : undefined) ?? null
}

/** Returns the fields of `schema` from a struct, each converted by `change`. */
export function membersOf(
  { fields = [] }: Schema,
  struct: Members,
  withDefault: boolean,
  change: (value: unknown, field: Field) => unknown = (value) => value,
): Members {
  return Object.fromEntries(fields.map((one) => [one.name, change(memberOf(struct, one, withDefault), one)]))
}

export function fieldOf(schema: Schema, name: string): Field | undefined {
  if (schema.type !== 'struct') throw new DataError('Cannot look up fields on non-struct type')
  return schema.fields?.find((known) => known.name === name)
}

export function fieldsOf({ type, fields = [] }: Schema): readonly Field[] {
  if (type === 'struct') return fields
  throw new DataError('Cannot list fields on non-struct type')
}

/** Returns the metadata that a changed schema inherits from the original. */
export function basicsOf({ name, version, doc, parameters }: Schema): Omit<Schema, 'type'> {
  return {
    ...(name !== undefined && { name }),
    ...(version !== undefined && { version }),
    ...(doc !== undefined && { doc }),
    ...(parameters !== undefined && { parameters }),
  }
}

/** Returns whether a value is optional, and its default. */
export function absenceOf({ optional, default: fallback }: Schema): Omit<Schema, 'type'> {
  return { ...(optional && { optional }), ...(fallback !== undefined && fallback !== null && { default: fallback }) }
}

export function structOf(basics: Omit<Schema, 'type'>, fields: readonly Field[]): Schema {
  const names = new Set<string>()
  for (const { name } of fields) {
    if (names.has(name)) throw new DataError(`Cannot create field because of field name duplication ${name}`)
    names.add(name)
  }
  return { ...basics, type: 'struct', fields }
}

/** Caches a result per schema object, because converters compare schemas by identity. */
export function oncePerSchema<Made extends object = Schema>(make: (schema: Schema) => Made): (schema: Schema) => Made {
  const made = new WeakMap<Schema, Made>()
  return (schema) => {
    const known = made.get(schema)
    if (known !== undefined) return known
    const fresh = make(schema)
    made.set(schema, fresh)
    return fresh
  }
}

/** The `replace.null.with.default` key that most transforms have. */
export function replaceNullField({ doc = 'Whether a null field gets its default value.' } = {}) {
  return field.boolean({ doc, recommended: [] }).default(true)
}

/** A list that must not be empty. */
export function nonEmptyListField(key: string, info: field.FieldInfo) {
  return field.parsed(field.list(info), (names) => {
    if (names.length > 0) return names
    throw new Error(`Configuration '${key}' must not be empty. Valid values include: any non-empty value`)
  })
}

/** One of several values, case-sensitive. */
export function exactWordField<const Words extends readonly [string, ...string[]]>(
  words: Words,
  info: field.FieldInfo,
) {
  return field.text(info).pipe(z.enum(words, `String must be one of: ${words.join(', ')}`))
}

/** Splits text at colons. Trailing empty parts are omitted, as by Java's split. */
export function colonParts(text: string): readonly string[] {
  const parts = text.split(':')
  while (parts.length > 0 && parts.at(-1) === '') parts.pop()
  return parts
}
