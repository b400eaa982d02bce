import { BoundedMap } from '../../clients/bounded-map.ts'
import { isObject, type Json, JsonNumber, type JsonObject, parseJson } from '../../formats/json-text.ts'
import {
  DataError,
  type Field,
  int64,
  OPTIONAL_BOOLEAN,
  OPTIONAL_BYTES,
  OPTIONAL_FLOAT64,
  OPTIONAL_INT64,
  OPTIONAL_STRING,
  type Schema,
  type SchemaAndValue,
} from '../../sdk/index.ts'

const OPTIONAL_INT32: Schema = { type: 'int32', optional: true }

type Nulls = 'ignore' | 'optional_bytes'

/**
 * Parses JSON text and infers a schema from the data. All values are optional. Objects become structs whose names are
 * the path to them, starting with `name`. The schema is null if no type can be inferred. `nulls` specifies whether null
 * members are omitted or become optional bytes. Throws a `DataError` if the text is not JSON or a list has items of
 * several types.
 */
export function inferredJson(name: string, text: string, nulls: Nulls): SchemaAndValue {
  const json = parsed(text)
  const found = schemaOf(name, json, nulls)
  if (found === undefined) return { schema: null, value: json === null ? null : [] }
  const schema = known(found)
  return { schema, value: dataOf(json, schema) }
}

function parsed(text: string): Json {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new DataError(`invalid JSON: ${error.message}`, { cause: error })
    throw error
  }
}

const SCHEMAS_MAX = 1_000
const schemas = new BoundedMap<string, Schema>(SCHEMAS_MAX)

/** Returns the same object for equal schemas, because converters compare schemas by identity. */
function known(schema: Schema): Schema {
  const key = JSON.stringify(schema)
  return schemas.get(key) ?? schemas.set(key, schema)
}

function schemaOf(name: string, json: Json, nulls: Nulls): Schema | undefined {
  if (json === null) return nulls === 'ignore' ? undefined : OPTIONAL_BYTES
  if (typeof json === 'string') return OPTIONAL_STRING
  if (typeof json === 'boolean') return OPTIONAL_BOOLEAN
  if (json instanceof JsonNumber) return numberSchema(json)
  if (isObject(json)) return structSchema(name, json, nulls)
  return json.length === 0
    ? undefined
    : { type: 'array', items: itemSchema(name, json as readonly Json[], nulls), optional: true }
}

function numberSchema({ isInteger, literal }: JsonNumber): Schema {
  const whole = isInteger ? BigInt(literal) : undefined
  if (whole === undefined || whole !== BigInt.asIntN(64, whole)) return OPTIONAL_FLOAT64
  return whole === BigInt.asIntN(32, whole) ? OPTIONAL_INT32 : OPTIONAL_INT64
}

function structSchema(name: string, json: JsonObject, nulls: Nulls): Schema {
  const fields = [...json].flatMap(([key, member]): readonly Field[] => {
    const schema = schemaOf(name === '' ? key : `${name}.${key}`, member, nulls)
    return schema === undefined ? [] : [{ name: key, schema }]
  })
  return { type: 'struct', ...(name !== '' && { name }), optional: true, fields }
}

/** Returns one schema for all items. Items of the same type are merged; others have none. */
function itemSchema(name: string, items: readonly Json[], nulls: Nulls): Schema {
  const present = items.filter((item) => item !== null)
  const sample = present[0] ?? null
  const schemas = present.map((item) => schemaOf(isObject(sample) ? name : '', item, nulls))
  const [first] = schemas
  if (schemas.some((schema) => schema?.type !== first?.type))
    throw new DataError('the items of a JSON array have different types, so no schema can be inferred')
  const merged = first === undefined ? schemaOf('', sample, nulls) : (schemas as Schema[]).reduce(merge)
  if (merged === undefined) throw new DataError('the items of a JSON array have no type, so no schema can be inferred')
  return merged
}

/** From the narrowest type to the widest. */
const NUMBERS: readonly Schema['type'][] = ['int32', 'int64', 'float64']

/** Returns a schema that fits the data of both. The type bytes means that only null was found. */
function merge(left: Schema, right: Schema): Schema {
  if (left.type === 'struct' && right.type === 'struct') return mergeStructs(left, right)
  if (left.type === 'array' && right.type === 'array') return { ...left, items: merge(left.items!, right.items!) }
  if (left.type === right.type || right.type === 'bytes') return left
  if (left.type === 'bytes') return right
  const [one, other] = [NUMBERS.indexOf(left.type), NUMBERS.indexOf(right.type)]
  if (one >= 0 && other >= 0) return one > other ? left : right
  throw new DataError(
    `the items of a JSON array have members of the types ${left.type} and ${right.type}, so no schema can be inferred`,
  )
}

function mergeStructs(left: Schema, right: Schema): Schema {
  const fields = new Map((left.fields ?? []).map((field) => [field.name, field]))
  for (const { name, schema } of right.fields ?? []) {
    const known = fields.get(name)
    fields.set(name, { name, schema: known === undefined ? schema : merge(known.schema, schema) })
  }
  return { ...left, fields: [...fields.values()] }
}

function dataOf(json: Json | undefined, schema: Schema): unknown {
  if (json === null || json === undefined) return null
  if (json instanceof JsonNumber) return schema.type === 'int64' ? int64(BigInt(json.literal)) : json.value
  if (isObject(json)) {
    return Object.fromEntries(
      (schema.fields ?? []).map((field) => [field.name, dataOf(json.get(field.name), field.schema)]),
    )
  }
  return Array.isArray(json) ? json.map((item: Json) => dataOf(item, schema.items as Schema)) : json
}
