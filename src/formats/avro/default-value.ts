import { isObject, type Json, JsonNumber } from '../json-text.ts'
import type { AvroRecord, AvroSchema } from './schema.ts'

const INT_MAX = 2n ** 31n
const LONG_MAX = 2n ** 63n

/** Whether a field of this schema may have this default. As in Java 1.12, any branch of a union will do. */
export function defaultFits(schema: AvroSchema, value: Json): boolean {
  switch (schema.type) {
    case 'null':
      return value === null
    case 'boolean':
      return typeof value === 'boolean'
    case 'int':
      return isWhole(value, INT_MAX)
    case 'long':
      return isWhole(value, LONG_MAX)
    case 'float':
    case 'double':
      return value instanceof JsonNumber || isNoNumber(value)
    case 'string':
    case 'bytes':
    case 'fixed':
    case 'enum':
      return typeof value === 'string'
    case 'array':
      return Array.isArray(value) && value.every((item: Json) => defaultFits(schema.items, item))
    case 'map':
      return isObject(value) && [...value.values()].every((item) => defaultFits(schema.values, item))
    case 'union':
      return schema.branches.some((branch) => defaultFits(branch, value))
    case 'record':
      return isObject(value) && fieldsFit(schema, value)
  }
}

function fieldsFit(schema: AvroRecord, value: ReadonlyMap<string, Json>): boolean {
  return schema.fields.every((field) => {
    const given = value.get(field.name)
    // A member that is left out takes the field's own default, which is checked where it stands.
    return given === undefined ? field.default !== undefined : defaultFits(field.schema, given)
  })
}

function isWhole(value: Json, limit: bigint): boolean {
  if (!(value instanceof JsonNumber && value.isInteger && value.literal.length <= 20)) return false
  const whole = BigInt(value.literal)
  return whole >= -limit && whole < limit
}

function isNoNumber(value: Json): boolean {
  return value === 'NaN' || value === 'Infinity' || value === '-Infinity'
}
