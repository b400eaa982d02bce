import { type Json, JsonNumber, type JsonObject, parseJson, printJson } from '../../../formats/json-text.ts'
import { withoutTrailingZeros } from '../../../java-compat/decimal-text.ts'
import { inHashOrder } from '../../../java-compat/hash-order.ts'
import { hasTextKeys, jsonWriter } from '../../../java-compat/json/connect-json-writer.ts'
import { SUM_TYPE_NAMES } from '../../../java-compat/sum-type-names.ts'
import { type Field, LOGICAL, type Schema } from '../../../sdk/index.ts'
import { isChoice, JSON_ENUM, JSON_PROP, KEY, NAMESPACE, NULL_WORD, VALUE } from './names.ts'

export type ToJsonSchemaOptions = {
  /** Whether objects may have properties that the schema does not define. */
  readonly additional: boolean
  readonly decimals: 'BASE64' | 'NUMERIC'
  /** Whether enums are marked with the parameters shared by all formats. */
  readonly generalized: boolean
}

/** Members with the value undefined are omitted. */
type Members = Readonly<Record<string, Json | undefined>>

/**
 * Returns the JSON schema text that Confluent's converter generates for a Connect schema. The text is identical,
 * including the order of members, because a registry treats a different text as a different schema.
 */
export function toJsonSchemaText(schema: Schema, options: ToJsonSchemaOptions): string {
  return printJson(toJsonSchema(schema, options))
}

/** `index` is the position of a struct field. An optional schema becomes a `oneOf` of null and the schema. */
function toJsonSchema(schema: Schema, options: ToJsonSchemaOptions, index?: number): Json {
  const place = { [JSON_PROP.index]: index === undefined ? undefined : numberOf(index) }
  if (isChoice(schema)) return members({ ...place, oneOf: branchesOf(schema, options) })
  if (schema.optional) return members({ ...place, oneOf: [NOTHING, members(presentOf(schema, {}, options))] })
  return members(presentOf(schema, place, options))
}

const NOTHING: Json = new Map([['type', 'null']])

function branchesOf({ fields = [], optional }: Schema, options: ToJsonSchemaOptions): readonly Json[] {
  const branches = fields.map(({ schema }, index) => toJsonSchema({ ...schema, optional: false }, options, index))
  return optional ? [NOTHING, ...branches] : branches
}

function presentOf(schema: Schema, place: Members, options: ToJsonSchemaOptions): Members {
  const { type, name: title, doc: description } = schema
  const about = { title, description, default: defaultOf(schema, options), ...place, ...metadataOf(schema) }
  if (type === 'boolean') return { ...about, type }
  if (isEnum(schema)) return { enum: wordsOf(schema, options), ...about }
  const closed = type === 'struct' && !options.additional && { additionalProperties: false }
  return { type: wordOf(schema, options), ...closed, ...about, ...partsOf(schema, options) }
}

function wordOf(schema: Schema, { decimals }: ToJsonSchemaOptions): string {
  switch (schema.type) {
    case 'string':
    case 'array':
      return schema.type
    case 'bytes':
      return schema.name === LOGICAL.decimal && decimals === 'NUMERIC' ? 'number' : 'string'
    case 'float32':
    case 'float64':
      return 'number'
    case 'map':
      return hasTextKeys(schema) ? 'object' : 'array'
    case 'struct':
      return 'object'
    default:
      return 'integer'
  }
}

function isEnum({ type, parameters }: Schema): boolean {
  return type === 'string' && (parameters?.[JSON_ENUM] ?? parameters?.[SUM_TYPE_NAMES.enum]) !== undefined
}

function wordsOf({ parameters = {} }: Schema, { generalized }: ToJsonSchemaOptions): readonly Json[] {
  const start = `${generalized ? SUM_TYPE_NAMES.enum : JSON_ENUM}.`
  const keys = Object.keys(parameters).filter((key) => key.startsWith(start))
  const words = inHashOrder(keys.map((key) => key.slice(start.length)))
  return words.map((word) => (word === NULL_WORD ? null : word))
}

function partsOf(schema: Schema, options: ToJsonSchemaOptions): Members {
  const { type, keys, items, fields = [] } = schema
  if (type === 'array') return { items: toJsonSchema(items!, options) }
  if (type === 'struct') return fields.length === 0 ? {} : { properties: propertiesOf(fields, options) }
  if (type !== 'map') return {}
  if (hasTextKeys(schema)) return { additionalProperties: toJsonSchema(items!, options) }
  const entry = [
    { name: KEY, schema: keys! },
    { name: VALUE, schema: items! },
  ]
  return { items: members({ type: 'object', properties: propertiesOf(entry, options) }) }
}

function propertiesOf(fields: readonly Field[], options: ToJsonSchemaOptions): JsonObject {
  const properties = new Map(fields.map(({ name, schema }, index) => [name, toJsonSchema(schema, options, index)]))
  return new Map(inHashOrder([...properties.keys()]).map((name) => [name, properties.get(name) as Json]))
}

function metadataOf({ type, version, parameters = {} }: Schema): Members {
  const kept = Object.keys(parameters).filter((key) => !key.startsWith(NAMESPACE))
  // Java copies the names to a second map whose capacity is their number, which can change their order.
  const names = inHashOrder(inHashOrder(kept), { capacity: kept.length })
  return {
    [JSON_PROP.version]: version === undefined ? undefined : numberOf(version),
    [JSON_PROP.type]: ['boolean', 'string', 'array', 'struct'].includes(type) ? undefined : type,
    [JSON_PROP.parameters]:
      kept.length > 0 ? new Map(names.map((name) => [name, parameters[name] as string])) : undefined,
  }
}

function defaultOf(schema: Schema, { decimals }: ToJsonSchemaOptions): Json | undefined {
  if (schema.default === undefined || schema.default === null) return undefined
  const write = jsonWriter(schema, { decimals, nullsToDefaults: false, entries: 'objects', isChoice })
  return shortened(parseJson(write(schema.default)))
}

/** Java writes numbers in schemas without trailing zeros. */
function shortened(json: Json): Json {
  if (json instanceof JsonNumber) return new JsonNumber(withoutTrailingZeros(json.literal))
  if (Array.isArray(json)) return json.map(shortened)
  return json instanceof Map ? new Map([...json].map(([key, value]) => [key, shortened(value)])) : json
}

function members(object: Members): JsonObject {
  return new Map(Object.entries(object).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])))
}

function numberOf(value: number): JsonNumber {
  return new JsonNumber(String(value))
}
