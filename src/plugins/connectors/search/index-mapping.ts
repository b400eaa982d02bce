import { DataError, decimalToText, isDecimal, LOGICAL, type Schema, type SchemaType } from '../../../sdk/index.ts'

/** The mapping of a field: of a type, or of an object with `properties`. */
export type FieldMapping = Readonly<Record<string, unknown>>

const TYPES: Readonly<Partial<Record<SchemaType, string>>> = {
  boolean: 'boolean',
  int8: 'byte',
  int16: 'short',
  int32: 'integer',
  int64: 'long',
  float32: 'float',
  float64: 'double',
  string: 'text',
  bytes: 'binary',
}
const LOGICAL_TYPES: Readonly<Record<string, string>> = {
  [LOGICAL.date]: 'date',
  [LOGICAL.time]: 'date',
  [LOGICAL.timestamp]: 'date',
  [LOGICAL.decimal]: 'double',
}
/** Texts can be searched, and sorted and aggregated by their first characters. */
const KEYWORD = { keyword: { type: 'keyword', ignore_above: 256 } }
/** Types that have no value in place of null. */
const WITHOUT_NULL_VALUE = new Set(['text', 'binary'])

/** The mapping of an index for documents of a schema. Throws a `DataError` if it has no fields. */
export function indexMapping(schema: Schema): FieldMapping {
  const mapping = fieldMapping(schema)
  if (mapping['properties'] === undefined) throw new DataError(`a value of type ${schema.type} cannot be a document`)
  return mapping
}

function fieldMapping(schema: Schema): FieldMapping {
  const logical = schema.name === undefined ? undefined : LOGICAL_TYPES[schema.name]
  if (logical !== undefined) return valueMapping(logical, schema)
  switch (schema.type) {
    case 'array':
      return fieldMapping(partOf(schema, schema.items))
    case 'map':
      return {
        properties: {
          key: fieldMapping(partOf(schema, schema.keys)),
          value: fieldMapping(partOf(schema, schema.items)),
        },
      }
    case 'struct':
      return {
        properties: Object.fromEntries((schema.fields ?? []).map(({ name, schema: one }) => [name, fieldMapping(one)])),
      }
    default:
      return valueMapping(TYPES[schema.type]!, schema)
  }
}

function partOf({ type }: Schema, part: Schema | undefined): Schema {
  if (part === undefined)
    throw new DataError(`a mapping cannot be created for a schema of type ${type} without a schema for its parts`)
  return part
}

function valueMapping(type: string, { default: value }: Schema): FieldMapping {
  const hasNullValue = value !== undefined && value !== null && !WITHOUT_NULL_VALUE.has(type)
  return {
    type,
    ...(type === 'text' && { fields: KEYWORD }),
    ...(hasNullValue && { null_value: nullValue(value) }),
  }
}

function nullValue(value: unknown): unknown {
  if (value instanceof Date) return value.getTime()
  if (isDecimal(value)) return Number(decimalToText(value))
  // JSON has no bigints. The mapping takes a number as text, too.
  return typeof value === 'bigint' ? String(value) : value
}
