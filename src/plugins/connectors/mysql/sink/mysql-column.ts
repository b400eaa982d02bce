import { jsonWriter } from '../../../../java-compat/json/connect-json-writer.ts'
import {
  DataError,
  decimalToText,
  type IntegerType,
  isDecimal,
  isInteger,
  LOGICAL,
  type Schema,
  valueLabel,
} from '../../../../sdk/index.ts'
import { epochMicros, rejectValue } from '../../jdbc/sink/field-value.ts'
import type { ColumnForm, SinkColumn } from '../../jdbc/sink/sink-column.ts'
import type { EpochUnit, FieldOfColumn, FormOptions } from '../../jdbc/sink/sink-database.ts'
import { type TimeZone, UTC } from '../../jdbc/time-zone.ts'
import { dateText, microsText, timeOfDayText, timestampText } from '../date-text.ts'
import { bytesLiteral, textLiteral, toExpression } from '../sql-literal.ts'
import { isDefaultExpression, mysqlColumnType } from './mysql-column-type.ts'

export type MysqlForm = {
  /** Returns the function that converts a value to SQL for a column of this type. It throws a `DataError`. */
  readonly literalFor: (columnType: string) => LiteralWriter
}

export type MysqlColumn = SinkColumn<MysqlForm>

type LiteralWriter = (value: unknown) => string

/** The literal of a type that accepts all forms. */
const ANY_TYPE = ''
const NUMBERS = /^(?:tinyint|smallint|mediumint|int|integer|bigint|decimal|numeric|float|double|real|bit|year)$/
const TEXTS = /(?:char|text|binary|blob|enum|set|json)$/
const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/
/** Digits of a number that the server represents exactly. */
const DIGITS_MAX = 65
const AS_JSON = { decimals: 'NUMERIC', nullsToDefaults: false } as const

/** Returns how the values of a field are written. */
export function toMysqlForm(field: FieldOfColumn, options: FormOptions): ColumnForm<MysqlForm> {
  const { schema, epochUnit } = field
  const fallback = options.nullIsDefault ? schema.default : undefined
  const literalFor = (type: string): LiteralWriter => {
    const write = epochUnit === undefined ? writerOf(schema, type, options) : epochWriter(epochUnit, type, options.zone)
    return (value) => {
      const present = value ?? fallback ?? null
      return present === null ? 'NULL' : write(present)
    }
  }
  const any = literalFor(ANY_TYPE)
  return {
    type: mysqlColumnType(field),
    fallback: epochUnit === undefined ? defaultSql(field, options) : undefined,
    write: (value) => ((value ?? fallback ?? null) === null ? null : any(value)),
    form: { literalFor },
  }
}

/** Returns the schema's default as SQL, or undefined if it has none. */
function defaultSql(field: FieldOfColumn, options: FormOptions): string | undefined {
  const { schema } = field
  if (schema.default === undefined || schema.default === null) return undefined
  const literal = writerOf(schema, ANY_TYPE, options)(schema.default)
  return isDefaultExpression(field) ? `(${toExpression(literal)})` : literal
}

function writerOf(schema: Schema, type: string, options: FormOptions): LiteralWriter {
  switch (schema.name) {
    case LOGICAL.decimal:
      return (value) => (isDecimal(value) ? numberLiteral(decimalToText(value), type) : rejectValue(value, 'a decimal'))
    case LOGICAL.date:
      return (value) => dateLiteral(dateText(msOf(value), options.dateZone), type)
    case LOGICAL.time:
      return (value) => (typeof value === 'number' ? quoted(timeOfDayText(value)) : rejectValue(value, 'a time'))
    case LOGICAL.timestamp:
      return (value) => quoted(timestampText(msOf(value), zoneOf(type, options.zone)))
    default:
      return plainWriter(schema, type)
  }
}

function plainWriter(schema: Schema, type: string): LiteralWriter {
  switch (schema.type) {
    case 'boolean':
      return (value) => numberLiteral(value === true ? '1' : '0', type)
    case 'bytes':
      return (value) => (value instanceof Uint8Array ? bytesFor(value, type) : rejectValue(value, 'bytes'))
    case 'string':
      return (value) => stringLiteral(String(value), type)
    case 'array':
    case 'struct':
    case 'map': {
      const write = jsonWriter(schema, AS_JSON)
      return (value) => textLiteral(write(value))
    }
    case 'int8':
    case 'int16':
    case 'int32':
    case 'int64':
      return integerWriter(schema.type, type)
    default:
      return (value) => floatLiteral(value, type)
  }
}

/** Writes microseconds or nanoseconds since 1970, given as a number or as decimal digits. */
function epochWriter(unit: EpochUnit, type: string, zone: TimeZone): LiteralWriter {
  return (value) => quoted(microsText(epochMicros(value, unit), zoneOf(type, zone)))
}

/** The session is in UTC, so that the server converts a `timestamp` from UTC. The other types are local times. */
function zoneOf(type: string, zone: TimeZone): TimeZone {
  return type === 'timestamp' ? UTC : zone
}

function integerWriter(integer: IntegerType, type: string): LiteralWriter {
  return (value) => (isInteger(integer, value) ? numberLiteral(String(value), type) : rejectValue(value, integer))
}

/** An exponent makes the literal a double: without one it is a decimal. */
function floatLiteral(value: unknown, type: string): string {
  if (typeof value !== 'number') return rejectValue(value, 'a number')
  if (!Number.isFinite(value)) throw new DataError(`MySQL and MariaDB cannot store ${value}`)
  const text = Object.is(value, -0) ? '-0' : String(value)
  return numberLiteral(text.includes('e') || TEXTS.test(type) ? text : `${text}e0`, type)
}

/**
 * Quoted for columns of texts: the server compares a text with a number as numbers, so that a condition would match texts that only
 * begin with the number.
 */
function numberLiteral(text: string, type: string): string {
  if (TEXTS.test(type)) return quoted(text)
  if (text.replace(/\D/g, '').length <= DIGITS_MAX || /e/.test(text)) return text
  throw new DataError(`a number with more than ${DIGITS_MAX} digits can be stored as a text only`)
}

/** Not quoted for columns of numbers, for the same reason. */
function stringLiteral(text: string, type: string): string {
  if (!NUMBERS.test(type)) return textLiteral(text)
  const trimmed = text.trim()
  if (NUMBER.test(trimmed)) return numberLiteral(trimmed, type)
  throw new DataError(`${valueLabel(text)} is not a number, and the column is of type ${type}`)
}

function dateLiteral(date: string, type: string): string {
  return type === 'year' ? date.slice(0, 4) : quoted(date)
}

/** The server would read bytes as the digits of a number. */
function bytesFor(value: Uint8Array, type: string): string {
  if (type === 'bit' || !NUMBERS.test(type)) return bytesLiteral(value)
  throw new DataError(`bytes cannot be stored in a column of type ${type}`)
}

function quoted(text: string): string {
  return `'${text}'`
}

function msOf(value: unknown): number {
  const ms = value instanceof Date ? value.getTime() : rejectValue(value, 'a date or timestamp')
  return Number.isNaN(ms) ? rejectValue(value, 'a date or timestamp') : ms
}
