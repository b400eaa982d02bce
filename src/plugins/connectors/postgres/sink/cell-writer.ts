import { jsonWriter } from '../../../../java-compat/json/connect-json-writer.ts'
import {
  DataError,
  decimalToText,
  type IntegerType,
  isDecimal,
  isInteger,
  LOGICAL,
  type Schema,
} from '../../../../sdk/index.ts'
import { epochMicros, rejectValue } from '../../jdbc/sink/field-value.ts'
import type { CellWriter } from '../../jdbc/sink/sink-column.ts'
import type { EpochUnit, FormOptions } from '../../jdbc/sink/sink-database.ts'
import { textFromDate, textFromMicros, textFromMs, textFromTime } from '../../jdbc/time-text.ts'
import { type TimeZone, UTC } from '../../jdbc/time-zone.ts'
import { textFromItems } from '../array-text.ts'

const AS_JSON = { decimals: 'NUMERIC', nullsToDefaults: false } as const

/** Returns a writer of PostgreSQL's text format. */
export function cellWriter(schema: Schema, options: FormOptions): CellWriter {
  const write = writerOf(schema, options)
  const fallback = options.nullIsDefault ? schema.default : undefined
  return (value) => {
    const present = value ?? fallback ?? null
    return present === null ? null : write(present)
  }
}

/** Returns a writer for microseconds or nanoseconds since 1970, given as a number or as decimal digits. */
export function epochWriter(unit: EpochUnit, zone: TimeZone): CellWriter {
  return (value) => (value === null || value === undefined ? null : textFromMicros(epochMicros(value, unit), zone))
}

function writerOf(schema: Schema, options: FormOptions): (value: unknown) => string {
  switch (schema.name) {
    case LOGICAL.decimal:
      return (value) => (isDecimal(value) ? decimalToText(value) : rejectValue(value, 'a decimal'))
    case LOGICAL.date:
      return (value) => textFromDate(dateOf(value), options.dateZone)
    case LOGICAL.time:
      return (value) => (typeof value === 'number' ? textFromTime(value) : rejectValue(value, 'a time'))
    case LOGICAL.timestamp:
      return (value) => textFromMs(dateOf(value).getTime(), options.zone)
    default:
      return plainWriter(schema, options)
  }
}

function plainWriter(schema: Schema, options: FormOptions): (value: unknown) => string {
  switch (schema.type) {
    case 'boolean':
      return (value) => (value === true ? 't' : 'f')
    case 'bytes':
      return (value) =>
        value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : rejectValue(value, 'bytes')
    case 'string':
      return (value) => textOf(value)
    case 'array':
      return arrayWriter(schema, options)
    case 'struct':
    case 'map':
      return jsonWriter(schema, AS_JSON)
    case 'int8':
    case 'int16':
    case 'int32':
    case 'int64':
      return integerWriter(schema.type)
    default:
      return textOfNumber
  }
}

/** PostgreSQL distinguishes the negative zero, which `String` does not. */
function textOfNumber(value: unknown): string {
  return Object.is(value, -0) ? '-0' : String(value)
}

function integerWriter(type: IntegerType): (value: unknown) => string {
  return (value) => (isInteger(type, value) ? String(value) : rejectValue(value, type))
}

/** PostgreSQL does not accept NUL characters in text. */
function textOf(value: unknown): string {
  const text = String(value)
  if (text.includes('\0')) throw new DataError('PostgreSQL cannot store a string that contains a NUL character')
  return text
}

function arrayWriter(schema: Schema, options: FormOptions): (value: unknown) => string {
  const items = schema.items!
  if (isJson(items)) return jsonWriter(schema, AS_JSON)
  const write = cellWriter(items, options)
  if (items.type === 'array') return (value) => `{${listOf(value).map(write).join(',')}}`
  return (value) => textFromItems(listOf(value).map(write))
}

/** Whether values of this schema can only be stored as JSON. */
export function isJson(schema: Schema): boolean {
  return schema.type === 'struct' || schema.type === 'map' || (schema.type === 'array' && isJson(schema.items!))
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : rejectValue(value, 'an array')
}

function dateOf(value: unknown): Date {
  return value instanceof Date ? value : rejectValue(value, 'a date or timestamp')
}

/** Returns the type of a column created for this schema, as the JDBC connector chooses it. */
export function columnType(schema: Schema): string {
  if (isJson(schema)) return 'jsonb'
  const logical = schema.name === undefined ? undefined : LOGICAL_TYPES[schema.name]
  if (logical !== undefined) return logical
  return schema.type === 'array' ? `${columnType(schema.items!).replace(/\[\]$/, '')}[]` : TYPES[schema.type]!
}

const LOGICAL_TYPES: Readonly<Record<string, string>> = {
  [LOGICAL.decimal]: 'decimal',
  [LOGICAL.date]: 'date',
  [LOGICAL.time]: 'time',
  [LOGICAL.timestamp]: 'timestamp',
}

const TYPES: Readonly<Record<string, string>> = {
  int8: 'smallint',
  int16: 'smallint',
  int32: 'int',
  int64: 'bigint',
  float32: 'real',
  float64: 'double precision',
  boolean: 'boolean',
  string: 'text',
  bytes: 'bytea',
}

/** Returns the schema's default as an SQL literal, or undefined if it has none. */
export function defaultLiteral(schema: Schema): string | undefined {
  if (schema.default === undefined || schema.default === null) return undefined
  const text = cellWriter(schema, { zone: UTC, dateZone: UTC, nullIsDefault: false })(schema.default)
  return `'${text?.replaceAll("'", "''")}'`
}
