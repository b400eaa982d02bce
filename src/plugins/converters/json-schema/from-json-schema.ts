import type { Json, JsonObject } from '../../../formats/json/model.ts'
import { Documents, type Located } from '../../../formats/json/references.ts'
import { DataError, type Field, type Schema, type SchemaType, STRING } from '../../../sdk/index.ts'
import { jsonReader, parseExact } from '../json/read.ts'
import { ENUM, KEY, ONE_OF, PROP, VALUE } from './names.ts'

export type FromJsonSchemaOptions = {
  /** Whether members that are not required are optional. */
  readonly optionalUnlessRequired: boolean
  /** Of the schema in its subject, for schemas that bring none. */
  readonly version: number | undefined
}

type Context = FromJsonSchemaOptions & {
  readonly documents: Documents
  /** Schemas that are being made, from the outside in. */
  readonly open: readonly Json[]
}

/** The Connect schema of a JSON schema. Throws a `DataError` for what Connect has no words for. */
export function fromJsonSchema(
  root: Json,
  references: ReadonlyMap<string, Json>,
  options: FromJsonSchemaOptions,
): Schema {
  const documents = new Documents(root, references)
  const schema = convert(documents.root, { ...options, documents, open: [] })
  return schema.version === undefined && options.version !== undefined
    ? { ...schema, version: options.version }
    : schema
}

function convert(at: Located, context: Context): Schema {
  const { value } = at
  if (!isObject(value)) throw new DataError('a JSON schema that says nothing of its values has no Connect schema')
  if (context.open.includes(value)) throw new DataError('JSON schemas that contain themselves are not supported')
  const inner: Context = { ...context, open: [...context.open, value] }
  const to = (next: Json) => convert({ ...at, value: next }, inner)
  if (typeof value['$ref'] === 'string') return convert(context.documents.find(value['$ref'], at), inner)
  const branches = listOf(value['oneOf']) ?? listOf(value['anyOf'])
  if (branches !== undefined) return choice(branches, to)
  const all = listOf(value['allOf'])
  if (all !== undefined) return merged(all.map(to), value)
  if (Array.isArray(value['type']))
    return choice(
      value['type'].map((type: Json) => ({ ...value, type })),
      to,
    )
  return described(typed(value, to, context), value)
}

/** One of null and another is optional; of several, a struct with a field for each. */
function choice(branches: readonly Json[], to: (schema: Json) => Schema): Schema {
  const present = branches.filter((branch) => !(isObject(branch) && branch['type'] === 'null'))
  const optional = present.length < branches.length
  const [only] = present
  if (only === undefined) throw new DataError('a JSON schema of null alone has no Connect schema')
  if (present.length === 1) return optional ? { ...to(only), optional } : to(only)
  const fields = present.map(
    (branch, index): Field => ({ name: `${ONE_OF}.field.${index}`, schema: { ...to(branch), optional: true } }),
  )
  return { type: 'struct', name: ONE_OF, fields, ...(optional && { optional }) }
}

/** Objects that hold at once are one; beside one schema of values, others only narrow it. */
function merged(schemas: readonly Schema[], about: JsonObject): Schema {
  const structs = schemas.filter(({ type }) => type === 'struct')
  const [first] = structs.length > 0 ? structs : schemas
  if (first === undefined) throw new DataError('an empty allOf has no Connect schema')
  if (structs.length === 0) return described(first, about)
  const fields = new Map(structs.flatMap((one) => one.fields ?? []).map((field) => [field.name, field]))
  return described({ ...first, fields: [...fields.values()] }, about)
}

function typed(value: JsonObject, to: (schema: Json) => Schema, context: Context): Schema {
  if (Array.isArray(value['enum'])) return enumOf(value['enum'])
  const own = value[PROP.type]
  switch (value['type']) {
    case 'boolean':
      return { type: 'boolean' }
    case 'integer':
      return { type: known(own, INTEGERS) ?? 'int64' }
    case 'number':
      return { type: known(own, NUMBERS) ?? 'float64' }
    case 'string':
      return { type: own === 'bytes' ? 'bytes' : 'string' }
    case 'array':
      return own === 'map' ? entries(value, to) : { type: 'array', items: to(value['items'] ?? true) }
    case 'object':
      return objectFrom(value, to, context)
    default:
      if (isObject(value['properties'])) return objectFrom(value, to, context)
      throw new DataError(`a JSON schema of type ${JSON.stringify(value['type'])} has no Connect schema`)
  }
}

const INTEGERS = ['int8', 'int16', 'int32', 'int64'] as const
const NUMBERS = [...INTEGERS, 'float32', 'float64', 'bytes'] as const

function known<Type extends SchemaType>(word: Json | undefined, types: readonly Type[]): Type | undefined {
  return types.find((type) => type === word)
}

function enumOf(words: readonly Json[]): Schema {
  const parameters = Object.fromEntries(words.map((word) => [`${ENUM}.${String(word)}`, String(word)]))
  return { type: 'string', parameters: { [ENUM]: '', ...parameters } }
}

function entries({ items }: JsonObject, to: (schema: Json) => Schema): Schema {
  const { properties } = isObject(items) ? items : {}
  const { [KEY]: key, [VALUE]: item } = isObject(properties) ? properties : {}
  if (key === undefined || item === undefined) throw new DataError('a map of entries without key and value')
  return { type: 'map', keys: to(key), items: to(item) }
}

function objectFrom(value: JsonObject, to: (schema: Json) => Schema, context: Context): Schema {
  const { properties = {}, required, additionalProperties: rest } = value
  if (value[PROP.type] === 'map' || (Object.keys(properties ?? {}).length === 0 && isObject(rest))) {
    return { type: 'map', keys: STRING, items: to(rest ?? true) }
  }
  const names = listOf(required) ?? []
  const isOptional = (name: string) => context.optionalUnlessRequired && !names.includes(name)
  const fields = Object.entries(properties as JsonObject)
    .map(([name, member], index) => ({ name, member, index: indexOf(member) ?? index }))
    .sort((a, b) => a.index - b.index)
    .map(({ name, member }): Field => {
      const schema = to(member)
      return { name, schema: isOptional(name) ? { ...schema, optional: true } : schema }
    })
  return { type: 'struct', fields }
}

function indexOf(member: Json): number | undefined {
  const index = isObject(member) ? member[PROP.index] : undefined
  return typeof index === 'number' ? index : undefined
}

function described(schema: Schema, value: JsonObject): Schema {
  const { title, description, [PROP.version]: version, [PROP.parameters]: parameters, default: fallback } = value
  const found = {
    ...schema,
    ...(typeof title === 'string' && { name: title }),
    ...(typeof version === 'number' && { version }),
    ...(typeof description === 'string' && { doc: description }),
    ...(isObject(parameters) && { parameters: { ...schema.parameters, ...(parameters as Record<string, string>) } }),
  }
  if (fallback === undefined || fallback === null) return found
  const read = jsonReader(found, { nullsToDefaults: false, entries: 'objects', choice: ONE_OF })
  return { ...found, default: read(parseExact(JSON.stringify(fallback))) }
}

function listOf(json: Json | undefined): readonly Json[] | undefined {
  return Array.isArray(json) ? (json as readonly Json[]) : undefined
}

function isObject(json: Json | undefined): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}
