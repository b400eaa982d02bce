import type { BinaryWriter } from '../../../../common/binary-writer.ts'
import { isDecimal, isInteger, LOGICAL, type Schema } from '../../../../sdk/index.ts'
import type { TimeZone } from '../../jdbc/time-zone.ts'
import { writeNumeric } from './numeric-bytes.ts'

/** How the values of a field are sent to a column in PostgreSQL's binary format. */
export type BinaryType = {
  /** OID of the column's type. */
  readonly oid: number
  /** Writes the length of the value in four bytes, and the value. Returns false if it has no binary form. */
  readonly write: (to: BinaryWriter, value: unknown) => boolean
}

type Zones = { readonly zone: TimeZone; readonly dateZone: TimeZone }
type Write = BinaryType['write']

const EPOCH_2000_MS = Date.UTC(2000, 0, 1)
const DAY_MS = 86_400_000
/** The maximum of `Date`, in ms, represents PostgreSQL's `infinity`, as in the text of dates. */
const DATE_MS_MAX = 8.64e15
const INT32_MAX = 2 ** 31 - 1
const INT64_MAX = 2n ** 63n - 1n
/** Decimals of a larger scale are sent as text. PostgreSQL declares columns with a scale of up to 1,000. */
const SCALE_MAX = 1_000

/**
 * Returns the binary form for a field with this schema and a column of this type, or undefined if its values are sent as
 * text, which PostgreSQL converts to any type. The binary form is used only where every value of the schema is also a value
 * of the type or is rejected by the server.
 */
export function binaryTypeOf(schema: Schema, columnType: string, zones: Zones): BinaryType | undefined {
  switch (schema.name) {
    case LOGICAL.decimal:
      return FORMS.numeric[columnType]
    case LOGICAL.date:
      return columnType === 'date' ? { oid: 1082, write: dateWriter(zones.dateZone) } : undefined
    case LOGICAL.time:
      return FORMS.time[columnType]
    case LOGICAL.timestamp:
      if (columnType === 'timestamp with time zone') return { oid: 1184, write: timestampWriter(undefined) }
      if (columnType === 'timestamp without time zone') return { oid: 1114, write: timestampWriter(zones.zone) }
      return undefined
    default:
      return FORMS[schema.type]?.[columnType]
  }
}

const smallint = { oid: 21, size: 2 } as const
const integer = { oid: 23, size: 4 } as const
const bigint = { oid: 20, size: 8 } as const

/** The forms by type of the schema or logical type, and by type of the column. */
const FORMS: Readonly<Record<string, Readonly<Record<string, BinaryType>>>> &
  Readonly<Record<'numeric' | 'time', Readonly<Record<string, BinaryType>>>> = {
  boolean: { boolean: { oid: 16, write: writeBoolean } },
  int8: integers('int8', { smallint, integer, bigint }),
  int16: integers('int16', { smallint, integer, bigint }),
  int32: integers('int32', { integer, bigint }),
  int64: integers('int64', { bigint }),
  float32: { 'double precision': { oid: 701, write: writeDouble } },
  float64: { 'double precision': { oid: 701, write: writeDouble } },
  string: { text: { oid: 25, write: writeText }, 'character varying': { oid: 1043, write: writeText } },
  bytes: { bytea: { oid: 17, write: writeBytes } },
  numeric: { numeric: { oid: 1700, write: writeDecimal } },
  time: { 'time without time zone': { oid: 1083, write: writeTime } },
}

function integers(
  type: 'int8' | 'int16' | 'int32' | 'int64',
  columns: Readonly<Record<string, { readonly oid: number; readonly size: 2 | 4 | 8 }>>,
): Readonly<Record<string, BinaryType>> {
  const writerOf = (size: 2 | 4 | 8): Write => {
    return (to, value) => {
      if (!isInteger(type, value)) return false
      to.int32(size)
      if (size === 8) to.int64(value as number | bigint)
      else if (size === 4) to.int32(Number(value))
      else to.int16(Number(value))
      return true
    }
  }
  return Object.fromEntries(
    Object.entries(columns).map(([name, { oid, size }]) => [name, { oid, write: writerOf(size) }]),
  )
}

function writeBoolean(to: BinaryWriter, value: unknown): boolean {
  to.int32(1)
  to.uint8(value === true ? 1 : 0)
  return true
}

function writeDouble(to: BinaryWriter, value: unknown): boolean {
  if (typeof value !== 'number') return false
  to.int32(8)
  to.float64(value)
  return true
}

/** PostgreSQL stores no NUL characters. */
function writeText(to: BinaryWriter, value: unknown): boolean {
  if (typeof value !== 'string' || value.includes('\0')) return false
  to.int32Text(value)
  return true
}

function writeBytes(to: BinaryWriter, value: unknown): boolean {
  if (!(value instanceof Uint8Array)) return false
  to.int32(value.length)
  to.raw(value)
  return true
}

function writeDecimal(to: BinaryWriter, value: unknown): boolean {
  return isDecimal(value) && value.scale >= 0 && value.scale <= SCALE_MAX && writeNumeric(to, value)
}

/** Microseconds since midnight. The text of a time has whole milliseconds below 24 hours, too. */
function writeTime(to: BinaryWriter, value: unknown): boolean {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value >= DAY_MS) return false
  to.int32(8)
  to.int64(value * 1_000)
  return true
}

/** Days since 2000-01-01. */
function dateWriter(zone: TimeZone): Write {
  return (to, value) => {
    const ms = msOf(value)
    if (ms === undefined) return false
    to.int32(4)
    if (Math.abs(ms) >= DATE_MS_MAX) to.int32(ms > 0 ? INT32_MAX : -INT32_MAX - 1)
    else to.int32(Math.floor((ms + zone.offsetMs(ms) - EPOCH_2000_MS) / DAY_MS))
    return true
  }
}

/** Microseconds since 2000-01-01, of an instant, or of the local time in a zone. */
function timestampWriter(zone: TimeZone | undefined): Write {
  return (to, value) => {
    const ms = msOf(value)
    if (ms === undefined) return false
    to.int32(8)
    if (Math.abs(ms) >= DATE_MS_MAX) to.int64(ms > 0 ? INT64_MAX : -INT64_MAX - 1n)
    else to.int64(microsOf(ms + (zone?.offsetMs(ms) ?? 0) - EPOCH_2000_MS))
    return true
  }
}

function microsOf(ms: number): number | bigint {
  const micros = ms * 1_000
  return Number.isSafeInteger(micros) ? micros : BigInt(ms) * 1_000n
}

function msOf(value: unknown): number | undefined {
  const ms = value instanceof Date ? value.getTime() : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}
