import { dateFromMs } from '../../../../java-compat/date-from-ms.ts'
import {
  BOOLEAN,
  BYTES,
  DATE,
  DataError,
  decimal,
  decimalFromText,
  FLOAT32,
  FLOAT64,
  INT8,
  INT16,
  INT32,
  INT64,
  optional,
  type Schema,
  STRING,
  TIME,
} from '../../../../sdk/index.ts'
import { readLong } from '../../jdbc/source/read-long.ts'
import type { ResultColumn, TypeMapping } from '../../jdbc/source/source-database.ts'
import { timestampKind } from '../../jdbc/source/timestamp-granularity.ts'
import { microsFromText, timeFromText } from '../../jdbc/time-text.ts'
import { type TimeZone, UTC } from '../../jdbc/time-zone.ts'
import type { MysqlUrl } from '../connection-url.ts'
import { existingDate, orderedMicros } from '../date-text.ts'
import type { MysqlField } from '../mysql-field.ts'

/** How column values are converted to record values, with the options of the URL. */
export type MysqlMapping = TypeMapping & Pick<MysqlUrl, 'zeroDates' | 'isYearDate' | 'isTinyintBoolean'>

type Kind = Pick<ResultColumn, 'schema' | 'read'>

/** Numbers of types in the protocol. */
const TYPE = {
  decimal: 0,
  tiny: 1,
  short: 2,
  long: 3,
  float: 4,
  double: 5,
  timestamp: 7,
  longLong: 8,
  int24: 9,
  date: 10,
  time: 11,
  dateTime: 12,
  year: 13,
  newDate: 14,
  bit: 16,
  json: 245,
  newDecimal: 246,
  geometry: 255,
} as const

const NOT_NULL_FLAG = 1
const UNSIGNED_FLAG = 32
/** The collation of binary data. */
const BINARY = 63
const INT64_MAX = '9223372036854775807'
const DAY_MS = 86_400_000

export function toMysqlResultColumn(field: MysqlField, mapping: MysqlMapping): ResultColumn {
  const { schema, read } = kindOf(field, mapping)
  const zone = zoneOf(field, mapping.zone)
  const toMicros = (text: string) => orderedMicros(text, zone)
  return { name: field.name, schema: isRequired(field) ? schema : optional(schema), read, toMicros }
}

/** The session is in UTC, in which the server prints a `timestamp`. The other types are local times. */
export function zoneOf({ typeId }: Pick<MysqlField, 'typeId'>, zone: TimeZone): TimeZone {
  return typeId === TYPE.timestamp ? UTC : zone
}

function isRequired({ flags }: MysqlField): boolean {
  return (flags & NOT_NULL_FLAG) !== 0
}

/** Types without a case here, such as enums, sets and the types of texts and binary data, are texts or bytes by their collation. */
function kindOf(field: MysqlField, mapping: MysqlMapping): Kind {
  const integer = INTEGERS[field.typeId]
  if (integer !== undefined) return integerKind(integer, field, mapping)
  switch (field.typeId) {
    case TYPE.float:
      return { schema: FLOAT32, read: Number }
    case TYPE.double:
      return { schema: FLOAT64, read: Number }
    case TYPE.decimal:
    case TYPE.newDecimal:
      return { schema: decimal(field.decimals), read: (text) => decimalFromText(text, field.decimals) }
    case TYPE.bit:
      return field.length === 1 ? { schema: INT8, read: (text) => text.charCodeAt(0) } : BYTES_KIND
    case TYPE.geometry:
      return BYTES_KIND
    case TYPE.json:
      return TEXT
    case TYPE.time:
      return { schema: TIME, read: readTime }
    case TYPE.date:
    case TYPE.newDate:
    case TYPE.dateTime:
    case TYPE.timestamp:
    case TYPE.year:
      return dateKind(field, mapping)
    default:
      return field.collationId === BINARY && field.extendedType === undefined ? BYTES_KIND : TEXT
  }
}

/** The schemas of signed and unsigned integers. */
const INTEGERS: Readonly<Record<number, readonly [signed: Schema, unsigned: Schema]>> = {
  [TYPE.tiny]: [INT8, INT16],
  [TYPE.short]: [INT16, INT32],
  [TYPE.int24]: [INT32, INT64],
  [TYPE.long]: [INT32, INT64],
  [TYPE.longLong]: [INT64, INT64],
}

function integerKind(
  [signed, unsigned]: readonly [signed: Schema, unsigned: Schema],
  { typeId, flags, length }: MysqlField,
  { isTinyintBoolean }: MysqlMapping,
): Kind {
  const isUnsigned = (flags & UNSIGNED_FLAG) !== 0
  if (typeId === TYPE.longLong) return { schema: signed, read: isUnsigned ? readUnsignedLong : readLong }
  if (typeId === TYPE.tiny && length === 1 && isTinyintBoolean) return { schema: BOOLEAN, read: (text) => text !== '0' }
  return { schema: isUnsigned ? unsigned : signed, read: Number }
}

const TEXT: Kind = { schema: STRING, read: (text) => text }
/** Each byte is received as one character. */
const BYTES_KIND: Kind = { schema: BYTES, read: (text) => Buffer.from(text, 'latin1') }

function dateKind(field: MysqlField, mapping: MysqlMapping): Kind {
  if (field.typeId === TYPE.year) {
    if (!mapping.isYearDate) return { schema: INT16, read: Number }
    const toDate = (text: string) => (text === '0000' ? '0000-00-00' : `${text}-01-01`)
    return existing({ schema: DATE, read: readDate }, field, mapping, toDate)
  }
  if (field.typeId === TYPE.date || field.typeId === TYPE.newDate) {
    return existing({ schema: DATE, read: readDate }, field, mapping)
  }
  const zone = zoneOf(field, mapping.zone)
  return existing(
    timestampKind(mapping.granularity, (text) => microsFromText(text, zone), mapping.zone),
    field,
    mapping,
  )
}

/** Handles zero dates according to the URL. `toDate` converts the server's text before. */
function existing(
  { schema, read }: Kind,
  field: MysqlField,
  { zeroDates }: MysqlMapping,
  toDate?: (text: string) => string,
): Kind {
  const notNull = isRequired(field)
  return {
    schema,
    read(text) {
      const date = existingDate(toDate === undefined ? text : toDate(text), zeroDates, notNull)
      return date === null ? null : read(date)
    },
  }
}

function readDate(text: string): Date {
  return dateFromMs(microsFromText(text, UTC) / 1000)
}

function readTime(text: string): number {
  const ms = timeFromText(text)
  if (ms < DAY_MS) return ms
  throw new DataError(`'${text}' is longer than a day: read it as a text with CAST(… AS CHAR) in a query`)
}

function readUnsignedLong(text: string): number | bigint {
  if (text.length < INT64_MAX.length || (text.length === INT64_MAX.length && text <= INT64_MAX)) return readLong(text)
  throw new DataError(
    `${text} is greater than ${INT64_MAX}, the maximum of int64: read it as a decimal with CAST(… AS DECIMAL(20)) in a query`,
  )
}
