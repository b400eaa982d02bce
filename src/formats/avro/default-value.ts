import { isObject, type Json, JsonNumber } from '../json-text.ts'
import { SchemaError } from '../schema-error.ts'
import type { AvroRecord, AvroSchema } from './avro-schema.ts'

const INT_MAX = 2n ** 31n
const LONG_MAX = 2n ** 63n

/**
 * Whether a default value is valid for a schema. As in Avro for Java 1.12, it can match any branch of a union, and a
 * record cannot be a default value inside its own definition: `open` are the enclosing records. Throws a `SchemaError`
 * for that.
 */
export function defaultFits(schema: AvroSchema, value: Json, open: ReadonlySet<AvroSchema>): boolean {
  return new DefaultCheck(open).fits(schema, value)
}

/** Caches the results for records, because the branches of nested unions repeat the same checks. */
class DefaultCheck {
  readonly #open: ReadonlySet<AvroSchema>
  readonly #known = new Map<AvroRecord, Map<Json, boolean>>()

  constructor(open: ReadonlySet<AvroSchema>) {
    this.#open = open
  }

  fits(schema: AvroSchema, value: Json): boolean {
    switch (schema.type) {
      case 'array':
        return Array.isArray(value) && value.every((item: Json) => this.fits(schema.items, item))
      case 'map':
        return isObject(value) && [...value.values()].every((item) => this.fits(schema.values, item))
      case 'union':
        return schema.branches.some((branch) => this.fits(branch, value))
      case 'record':
        return isObject(value) && this.#fitsRecord(schema, value)
      default:
        return isScalar(schema, value)
    }
  }

  #fitsRecord(schema: AvroRecord, value: ReadonlyMap<string, Json>): boolean {
    if (this.#open.has(schema)) {
      throw new SchemaError(`A default cannot be a ${schema.name.full} inside of ${schema.name.full}`)
    }
    const known = this.#known.get(schema) ?? new Map<Json, boolean>()
    this.#known.set(schema, known)
    const before = known.get(value)
    if (before !== undefined) return before
    const fits = schema.fields.every((field) => {
      const given = value.get(field.name)
      // An absent member gets the field's default, which is checked at its definition.
      return given === undefined ? field.default !== undefined : this.fits(field.schema, given)
    })
    known.set(value, fits)
    return fits
  }
}

function isScalar({ type }: AvroSchema, value: Json): boolean {
  switch (type) {
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
      return value instanceof JsonNumber || isNonFinite(value)
    default:
      return typeof value === 'string'
  }
}

function isWhole(value: Json, limit: bigint): boolean {
  if (!(value instanceof JsonNumber && value.isInteger && value.literal.length <= 20)) return false
  const whole = BigInt(value.literal)
  return whole >= -limit && whole < limit
}

function isNonFinite(value: Json): boolean {
  return value === 'NaN' || value === 'Infinity' || value === '-Infinity'
}
