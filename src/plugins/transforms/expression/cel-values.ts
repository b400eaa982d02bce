import {
  DataError,
  type Decimal,
  decimalToText,
  int64,
  isDecimal,
  LOGICAL,
  type Schema,
  valueLabel,
} from '../../../sdk/index.ts'
import { spend } from './step-limit.ts'

/** Converts a record's value for an expression: integers become bigints, other numbers stay numbers. */
export function toCel(value: unknown, schema: Schema | null): unknown {
  if (value === null || value === undefined) return null
  if (typeof value === 'number') return isWhole(value, schema) ? BigInt(value) : value
  if (typeof value !== 'object' || value instanceof Date || value instanceof Uint8Array) return value
  if (isDecimal(value)) return Number(decimalToText(value as Decimal))
  if (Array.isArray(value)) return value.map((item) => toCel(item, schema?.items ?? null))
  const entries: Iterable<[unknown, unknown]> = value instanceof Map ? value : Object.entries(value)
  const schemas = schema?.type === 'struct' ? fieldSchemas(schema) : undefined
  return new Map(
    [...entries].map(([key, item]) => [
      toCel(key, schema?.keys ?? null),
      toCel(item, schemas?.get(key) ?? schema?.items ?? null),
    ]),
  )
}

const known = new WeakMap<Schema, ReadonlyMap<unknown, Schema>>()

function fieldSchemas(schema: Schema): ReadonlyMap<unknown, Schema> {
  const found = known.get(schema) ?? new Map((schema.fields ?? []).map((field) => [field.name, field.schema]))
  known.set(schema, found)
  return found
}

function isWhole(value: number, schema: Schema | null): boolean {
  if (schema?.name === LOGICAL.time) return true
  return schema === null ? Number.isSafeInteger(value) : schema.type.startsWith('int')
}

/**
 * Converts the result of an expression to a schemaless value. Throws a `DataError` if it is not data, and counts steps.
 */
export function fromCel(value: unknown): unknown {
  if (typeof value === 'bigint') return int64(value)
  if (typeof value !== 'object' || value === null || value instanceof Date || value instanceof Uint8Array) return value
  const primitive: unknown = value.valueOf()
  if (typeof primitive === 'bigint') return int64(primitive)
  if (Array.isArray(value)) {
    spend(value.length)
    return value.map(fromCel)
  }
  const entries = value instanceof Map ? [...value] : Object.entries(requirePlain(value))
  spend(entries.length)
  return Object.fromEntries(entries.map(([key, item]) => [String(key), fromCel(item)]))
}

/** Rejects durations, types and optionals, which exist only in the library. */
function requirePlain(value: object): object {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return value
  throw new DataError(`the result must be data, got ${valueLabel(value)}`)
}
