import { array, BOOLEAN, BYTES, DataError, FLOAT32, INT16, INT32, STRING, TIME } from '../../../../../sdk/index.ts'
import { POINT_SCHEMA, shapeSchema } from '../../../cdc/values/geometry-schemas.ts'
import { DOUBLE, INTEGER, LONG, preciseDecimal } from '../../../cdc/values/numeric-types.ts'
import { dateType, timestampType, zonedTimestampType } from '../../../cdc/values/temporal-types.ts'
import { binaryType, named, TEXT_TYPE, type ValueType } from '../../../cdc/values/value-type.ts'
import { type HistoryColumn, labelsOf } from '../table-model.ts'
import type { MysqlValueSettings } from './mysql-value-settings.ts'

const SMALL: ValueType = { schema: INT16, decode: Number }
const FLOAT: ValueType = { schema: FLOAT32, decode: (text) => Math.fround(Number(text)) }
const toBytes = (text: string) => Buffer.from(text, 'latin1')
const data = (name: string) => named(`io.debezium.data.${name}`, TEXT_TYPE)

/** The name of a type without its attributes. */
export function baseTypeOf({ typeName }: HistoryColumn): string {
  return typeName.replace(/^NATIONAL /, 'N').split(' ')[0]!
}

export function isUnsigned({ typeName }: HistoryColumn): boolean {
  return /\b(?:UNSIGNED|ZEROFILL)\b/.test(typeName)
}

/** `decodeDefault`: for the default of a column, if it differs. */
export type MysqlValueType = ValueType & { readonly decodeDefault?: ValueType['decode'] }
type Representation = ValueType | ((column: HistoryColumn, settings: MysqlValueSettings) => MysqlValueType)

const entries = (names: string, type: Representation) => names.split(' ').map((name) => [name, type] as const)
const bytes = (_: HistoryColumn, { binary }: MysqlValueSettings) => binaryType(binary, toBytes)

/** Types by their names. Other types are texts. */
const TYPES = new Map<string, Representation>([
  ...entries('BOOL BOOLEAN', { schema: BOOLEAN, decode: (text) => text !== '0' }),
  ...entries('TINYINT INT1', SMALL),
  ...entries('SMALLINT INT2', (column) => (isUnsigned(column) ? INTEGER : SMALL)),
  ...entries('MEDIUMINT INT3 MIDDLEINT', INTEGER),
  ...entries('INT INTEGER INT4', (column) => (isUnsigned(column) ? LONG : INTEGER)),
  ...entries('BIGINT INT8', (column, settings) => (isUnsigned(column) ? unsignedBigint(settings) : LONG)),
  ...entries('FLOAT FLOAT4', ({ scale, length = 0 }) => (scale === undefined && length <= 24 ? FLOAT : DOUBLE)),
  ...entries('DOUBLE FLOAT8 REAL', DOUBLE),
  ...entries('DECIMAL DEC FIXED NUMERIC', ({ length = 10, scale = 0 }, settings) => decimalOf(length, scale, settings)),
  ...entries('BIT', ({ length = 1 }) => bitsType(length)),
  ...entries('YEAR', (_, settings) => {
    const decode = (text: string) => yearOf(Number(text), settings)
    return named('io.debezium.time.Year', { schema: INT32, decode })
  }),
  ...entries('DATE', (_, settings) => partial(dateType(settings.times), settings)),
  ...entries('DATETIME', ({ length = 0 }, settings) => partial(timestampType(length, settings.times), settings)),
  ...entries('TIMESTAMP', ({ length = 0 }, settings) => ({
    ...partial(zonedTimestampType(length), settings),
    // As with Debezium, a default has only the digits that it needs.
    decodeDefault: partial(zonedTimestampType(0), settings).decode,
  })),
  ...entries('TIME', (_, settings) => timeType(settings)),
  ...entries('BINARY VARBINARY TINYBLOB BLOB MEDIUMBLOB LONGBLOB', bytes),
  ...entries('LONG', (column, settings) =>
    column.typeName === 'LONG VARBINARY' ? bytes(column, settings) : TEXT_TYPE,
  ),
  ...entries('ENUM', (column) => enumType('Enum', column)),
  ...entries('SET', (column) => enumType('EnumSet', column)),
  ...entries('JSON', { ...data('Json'), zero: '{}' }),
  ...entries('UUID', data('Uuid')),
])

/** Returns the representation of a column, or undefined if events do not contain its type. */
export function mysqlRepresentationOf(column: HistoryColumn, settings: MysqlValueSettings): MysqlValueType | undefined {
  const base = baseTypeOf(column)
  if (base === 'INET4' || base === 'INET6') return undefined
  if (base === 'POINT') return POINT
  if (base === 'VECTOR') return FLOAT_VECTOR
  if (SHAPES.has(base)) return GEOMETRY
  const found = TYPES.get(base) ?? TEXT_TYPE
  return typeof found === 'function' ? found(column, settings) : found
}

const SHAPES = new Set(
  'GEOMETRY LINESTRING POLYGON MULTIPOINT MULTILINESTRING MULTIPOLYGON GEOMETRYCOLLECTION GEOMCOLLECTION'.split(' '),
)

/** With `bigint.unsigned.handling.mode=long`, values above 2^63 - 1 become negative, as in Debezium. */
function unsignedBigint({ unsignedBigints }: MysqlValueSettings): ValueType {
  if (unsignedBigints === 'precise') return preciseDecimal(20, 0)
  return { schema: LONG.schema, decode: (text) => LONG.decode(String(BigInt.asIntN(64, BigInt(text)))) }
}

function decimalOf(precision: number, scale: number, { decimals }: MysqlValueSettings): ValueType {
  switch (decimals) {
    case 'precise':
      return preciseDecimal(precision, scale)
    case 'double':
      return DOUBLE
    case 'string':
      return { schema: STRING, decode: (text) => text, zero: scale === 0 ? '0' : `0.${'0'.repeat(scale)}` }
  }
}

/** Bits are bytes with the lowest one first. */
function bitsType(length: number): ValueType {
  if (length === 1) return { schema: BOOLEAN, decode: (text) => text.charCodeAt(text.length - 1) === 1 }
  const size = (length + 7) >> 3
  const decode = (text: string) => Buffer.from(text.padStart(size, '\0'), 'latin1').reverse()
  return named('io.debezium.data.Bits', { schema: BYTES, decode }, { length: String(length) })
}

function yearOf(year: number, { adjustsYears }: MysqlValueSettings): number {
  if (!adjustsYears || year > 99) return year
  return year < 70 ? 2000 + year : 1900 + year
}

/** MySQL can store dates whose month or day is 0, which no calendar has. */
const NO_DATE = /^\d{4}-(?:00-\d\d|\d\d-00)/

function partial(type: ValueType, settings: MysqlValueSettings): ValueType {
  const adjusted = (text: string) =>
    `${String(yearOf(Number(text.slice(0, 4)), settings)).padStart(4, '0')}${text.slice(4)}`
  const decode = (text: string) => {
    if (NO_DATE.test(text)) return null
    return type.decode(text.startsWith('00') && settings.adjustsYears ? adjusted(text) : text)
  }
  return { ...type, decode, isPartial: true }
}

const TIME_TEXT = /^(-?)(\d+):(\d\d):(\d\d)(?:\.(\d{1,6}))?$/
const DAY_MICROS = 86_400_000_000

/** Microseconds; a time may be negative or longer than a day. */
function timeMicros(text: string): number {
  const [, sign, hours, minutes, seconds, fraction = ''] = TIME_TEXT.exec(text) ?? []
  if (hours === undefined) throw new DataError(`'${text}' is not a time`)
  const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)
  const micros = whole * 1_000_000 + Number(fraction.padEnd(6, '0'))
  return sign === '-' ? 0 - micros : micros
}

function timeOfDayMicros(text: string): number {
  const micros = timeMicros(text)
  if (micros >= 0 && micros < DAY_MICROS) return micros
  throw new DataError(`'${text}' is not a time of a day: set time.precision.mode to adaptive_time_microseconds`)
}

function timeType({ times }: MysqlValueSettings): ValueType {
  switch (times) {
    case 'connect':
      return { schema: TIME, decode: (text) => Math.floor(timeOfDayMicros(text) / 1000) }
    case 'isostring':
      return named('io.debezium.time.IsoTime', {
        schema: STRING,
        decode: (text) => (timeOfDayMicros(text) >= 0 ? `${text}Z` : text),
      })
    case 'nanoseconds':
      return named('io.debezium.time.NanoTime', { schema: LONG.schema, decode: (text) => timeMicros(text) * 1000 })
    default:
      return named('io.debezium.time.MicroTime', { schema: LONG.schema, decode: timeMicros })
  }
}

/** A comma within a label has a backslash before it. */
function enumType(name: 'Enum' | 'EnumSet', column: HistoryColumn): ValueType {
  const allowed = labelsOf(column).map((label) => label.replaceAll(',', '\\,'))
  return named(`io.debezium.data.${name}`, TEXT_TYPE, { allowed: allowed.join(',') })
}

/** The reference system in four bytes, and the shape in well-known binary. */
function shapeOf(text: string): { readonly wkb: Buffer; readonly srid: number | null } {
  const bytes = toBytes(text)
  if (bytes.length < 9) throw new DataError(`a shape of ${bytes.length} bytes is not valid`)
  return { wkb: bytes.subarray(4), srid: bytes.readInt32LE(0) || null }
}

const EMPTY_COLLECTION = Buffer.from('010700000000000000', 'hex')
const POINT_BYTES = 21

const GEOMETRY: ValueType = {
  schema: shapeSchema('Geometry'),
  decode: shapeOf,
  zero: { wkb: EMPTY_COLLECTION, srid: null },
}

const POINT: ValueType = {
  schema: POINT_SCHEMA,
  decode(text) {
    const { wkb, srid } = shapeOf(text)
    if (wkb.length !== POINT_BYTES) throw new DataError('a value of the type POINT is not a point')
    return { x: wkb.readDoubleLE(5), y: wkb.readDoubleLE(13), wkb, srid }
  },
  zero: { x: 0, y: 0, wkb: EMPTY_COLLECTION, srid: null },
}

const FLOAT_VECTOR: ValueType = {
  schema: { ...array(FLOAT32), name: 'io.debezium.data.FloatVector', version: 1 },
  decode(text) {
    const bytes = toBytes(text)
    return Array.from({ length: bytes.length >> 2 }, (_, index) => bytes.readFloatLE(index * 4))
  },
}
