import { type Exact, jsonReader } from '../../../java-compat/json/connect-json-reader.ts'
import { jsonWriter, quote } from '../../../java-compat/json/connect-json-writer.ts'
import { DataError, type Schema, type SchemaType } from '../../../sdk/index.ts'

// Converts Connect schemas to and from the "schema" member of JsonConverter's envelope.

const WORDS: Readonly<Record<SchemaType, string>> = {
  int8: 'int8',
  int16: 'int16',
  int32: 'int32',
  int64: 'int64',
  float32: 'float',
  float64: 'double',
  boolean: 'boolean',
  string: 'string',
  bytes: 'bytes',
  array: 'array',
  map: 'map',
  struct: 'struct',
}
const TYPES = new Map(Object.entries(WORDS).map(([type, word]) => [word, type as SchemaType]))

/** Members are written in the same order as by Java. */
export function schemaToText(schema: Schema, field?: string): string {
  const members = [`"type":"${WORDS[schema.type]}"`, ...partsToText(schema), `"optional":${schema.optional === true}`]
  if (schema.name !== undefined) members.push(`"name":${quote(schema.name)}`)
  if (schema.version !== undefined) members.push(`"version":${schema.version}`)
  if (schema.doc !== undefined) members.push(`"doc":${quote(schema.doc)}`)
  if (schema.parameters !== undefined) members.push(`"parameters":${JSON.stringify(schema.parameters)}`)
  if (schema.default !== undefined && schema.default !== null) {
    members.push(`"default":${jsonWriter(schema, { decimals: 'BASE64', nullsToDefaults: false })(schema.default)}`)
  }
  if (field !== undefined) members.push(`"field":${quote(field)}`)
  return `{${members.join(',')}}`
}

function partsToText(schema: Schema): readonly string[] {
  switch (schema.type) {
    case 'array':
      return [`"items":${partToText(schema.items)}`]
    case 'map':
      return [`"keys":${partToText(schema.keys)}`, `"values":${partToText(schema.items)}`]
    case 'struct':
      return [`"fields":[${(schema.fields ?? []).map((one) => schemaToText(one.schema, one.name)).join(',')}]`]
    default:
      return []
  }
}

/** Arrays and maps of mixed elements, which can occur in headers, have no element schema. */
function partToText(schema: Schema | undefined): string {
  return schema === undefined ? 'null' : schemaToText(schema)
}

/** Throws a `DataError` if the value is not a schema. */
export function schemaFromJson(json: unknown): Schema {
  if (!isObject(json) || typeof json['type'] !== 'string') throw new DataError("Schema must contain 'type' field")
  const type = TYPES.get(json['type'])
  if (type === undefined) throw new DataError(`Unknown schema type: ${json['type']}`)
  const schema: Schema = {
    type,
    ...(json['optional'] === true && { optional: true }),
    ...(typeof json['name'] === 'string' && { name: json['name'] }),
    ...(typeof json['version'] === 'number' && { version: json['version'] }),
    ...(typeof json['doc'] === 'string' && { doc: json['doc'] }),
    ...(isObject(json['parameters']) && { parameters: parametersOf(json['parameters']) }),
    ...partsFromJson(type, json),
  }
  const fallback = json['default'] as Exact
  if (fallback === undefined || fallback === null) return schema
  return { ...schema, default: jsonReader(schema, { nullsToDefaults: false })(fallback) }
}

function partsFromJson(type: SchemaType, json: JsonObject): Partial<Schema> {
  switch (type) {
    case 'array':
      return { items: schemaFromJson(json['items']) }
    case 'map':
      return { keys: schemaFromJson(json['keys']), items: schemaFromJson(json['values']) }
    case 'struct':
      return { fields: fieldsOf(json['fields']) }
    default:
      return {}
  }
}

function fieldsOf(json: unknown): NonNullable<Schema['fields']> {
  if (!Array.isArray(json)) throw new DataError('Struct schema\'s "fields" argument is not an array.')
  return json.map((one: unknown) => {
    if (!isObject(one) || typeof one['field'] !== 'string') {
      throw new DataError("Struct schema's field name not specified properly")
    }
    return { name: one['field'], schema: schemaFromJson(one) }
  })
}

function parametersOf(json: JsonObject): Readonly<Record<string, string>> {
  for (const [key, value] of Object.entries(json)) {
    if (typeof value !== 'string') throw new DataError(`Schema parameter '${key}' must be a string`)
  }
  return json as Record<string, string>
}

type JsonObject = Readonly<Record<string, unknown>>

function isObject(json: unknown): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}
