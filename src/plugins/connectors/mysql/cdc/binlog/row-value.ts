import type { MysqlReader } from '../../protocol/mysql-reader.ts'
import { decimalReader } from './decimal-value.ts'
import { binaryJsonText } from './json-binary.ts'
import { COLUMN_TYPE, type LoggedColumn } from './table-map.ts'

/** What is known of a column besides its form in the log. */
export type RowColumn = {
  readonly isUnsigned: boolean
  /** Labels of an enum or a set. */
  readonly labels: readonly string[]
  /** Converts the bytes of a text or of binary data. Binary data has one character for each byte. */
  readonly toText: (bytes: Buffer) => string
  /** Length of binary data that is padded with zero bytes, which the log does not have; 0 if it is not. */
  readonly paddedBytes: number
}

/** Reads a value that is not null, and returns it as the server prints it. */
export type ValueReader = (reader: MysqlReader) => string

/** Returns the reader of the values of a column. Throws for a form that is not supported. */
export function valueReader({ type, meta }: LoggedColumn, column: RowColumn): ValueReader {
  const { isUnsigned } = column
  switch (type) {
    case COLUMN_TYPE.tiny:
      return integer(1, isUnsigned)
    case COLUMN_TYPE.short:
      return integer(2, isUnsigned)
    case COLUMN_TYPE.int24:
      return integer(3, isUnsigned)
    case COLUMN_TYPE.long:
      return integer(4, isUnsigned)
    case COLUMN_TYPE.longLong:
      return (reader) => String(isUnsigned ? reader.bigUint64() : reader.bigInt64())
    case COLUMN_TYPE.float:
      return (reader) => String(reader.float32())
    case COLUMN_TYPE.double:
      return (reader) => String(reader.float64())
    case COLUMN_TYPE.newDecimal:
      return decimalReader(meta >> 8, meta & 0xff)
    case COLUMN_TYPE.year:
      return year
    case COLUMN_TYPE.date:
    case COLUMN_TYPE.newDate:
      return date
    case COLUMN_TYPE.time:
      return time
    case COLUMN_TYPE.datetime:
      return datetime
    case COLUMN_TYPE.timestamp:
      return (reader) => epochText(reader.uint32(), '')
    case COLUMN_TYPE.time2:
      return time2(meta)
    case COLUMN_TYPE.datetime2:
      return datetime2(meta)
    case COLUMN_TYPE.timestamp2:
      return (reader) => epochText(reader.uintBE(4), fraction(reader, meta))
    case COLUMN_TYPE.bit:
      return bytesOf(((meta >> 8) & 0xff) + ((meta & 0xff) > 0 ? 1 : 0), (bytes) => bytes.toString('latin1'))
    case COLUMN_TYPE.varchar:
    case COLUMN_TYPE.varString:
      return text(meta > 255 ? 2 : 1, column)
    case COLUMN_TYPE.string:
    case COLUMN_TYPE.enum:
    case COLUMN_TYPE.set:
      return stringReader(type, meta, column)
    case COLUMN_TYPE.tinyBlob:
    case COLUMN_TYPE.mediumBlob:
    case COLUMN_TYPE.longBlob:
    case COLUMN_TYPE.blob:
      return text(meta, column)
    case COLUMN_TYPE.geometry:
    case COLUMN_TYPE.vector:
      return (reader) => reader.view(reader.uint(meta)).toString('latin1')
    case COLUMN_TYPE.json:
      return (reader) => binaryJsonText(reader.view(reader.uint(meta)))
    case COLUMN_TYPE.blobCompressed:
    case COLUMN_TYPE.varcharCompressed:
      throw new Error('columns with the attribute COMPRESSED are not supported: exclude the table')
    default:
      throw new Error(`columns of the type ${type} of the binary log are not supported`)
  }
}

function integer(length: number, isUnsigned: boolean): ValueReader {
  return isUnsigned ? (reader) => String(reader.uint(length)) : (reader) => String(reader.int(length))
}

function bytesOf(length: number, toText: (bytes: Buffer) => string): ValueReader {
  return (reader) => toText(reader.view(length))
}

function text(lengthBytes: number, { toText, paddedBytes }: RowColumn): ValueReader {
  if (paddedBytes === 0) return (reader) => toText(reader.view(reader.uint(lengthBytes)))
  return (reader) => toText(reader.view(reader.uint(lengthBytes))).padEnd(paddedBytes, '\0')
}

/** The first byte of the metadata is the type, or two bits of the length of a long `char`. */
function stringReader(type: number, meta: number, column: RowColumn): ValueReader {
  const [first, second] = [meta >> 8, meta & 0xff]
  const isLong = (first & 0x30) !== 0x30
  const real = isLong ? first | 0x30 : first
  const length = isLong ? second | (((first & 0x30) ^ 0x30) << 4) : second
  const { labels } = column
  if (real === COLUMN_TYPE.enum || type === COLUMN_TYPE.enum) {
    return (reader) => {
      const index = reader.uint(second)
      // An index of 0 is an invalid value, which is an empty text.
      if (index === 0) return ''
      const label = labels[index - 1]
      if (label === undefined) throw reader.fault(`has the value ${index} of an ENUM with ${labels.length} values`)
      return label
    }
  }
  if (real === COLUMN_TYPE.set || type === COLUMN_TYPE.set) {
    return (reader) => {
      const bits =
        second === 8 ? reader.bigUint64() : second > 6 ? bigBits(reader, second) : BigInt(reader.uint(second))
      return labels.filter((_, index) => ((bits >> BigInt(index)) & 1n) === 1n).join(',')
    }
  }
  return text(length > 255 ? 2 : 1, column)
}

function bigBits(reader: MysqlReader, length: number): bigint {
  return BigInt(reader.uint(6)) | (BigInt(reader.uint(length - 6)) << 48n)
}

function year(reader: MysqlReader): string {
  const value = reader.uint8()
  return value === 0 ? '0000' : String(1900 + value)
}

const two = (number: number) => (number < 10 ? `0${number}` : String(number))
const four = (number: number) => String(number).padStart(4, '0')

function date(reader: MysqlReader): string {
  const value = reader.uint(3)
  return `${four(value >> 9)}-${two((value >> 5) & 15)}-${two(value & 31)}`
}

function time(reader: MysqlReader): string {
  const value = reader.int(3)
  const digits = Math.abs(value)
  const [hours, minutes, seconds] = [Math.floor(digits / 10_000), Math.floor(digits / 100) % 100, digits % 100]
  return `${value < 0 ? '-' : ''}${two(hours)}:${two(minutes)}:${two(seconds)}`
}

function datetime(reader: MysqlReader): string {
  const digits = String(reader.bigUint64()).padStart(14, '0')
  return digits.replace(/^(\d+)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/, '$1-$2-$3 $4:$5:$6')
}

function datetime2(digits: number): ValueReader {
  return (reader) => {
    const value = reader.uintBE(5) - 0x80_00_00_00_00
    const days = Math.floor(value / 0x2_00_00)
    const clock = value % 0x2_00_00
    const months = days >> 5
    const day = `${four(Math.floor(months / 13))}-${two(months % 13)}-${two(days & 31)}`
    return `${day} ${two(clock >> 12)}:${two((clock >> 6) & 63)}:${two(clock & 63)}${fraction(reader, digits)}`
  }
}

/** A fraction of a second has one byte for two digits. */
const fractionBytes = (digits: number) => (digits + 1) >> 1

function fraction(reader: MysqlReader, digits: number): string {
  if (digits === 0) return ''
  const size = fractionBytes(digits)
  return `.${fractionText(reader.uintBE(size), size, digits)}`
}

function fractionText(value: number, size: number, digits: number): string {
  return String(value)
    .padStart(size * 2, '0')
    .slice(0, digits)
}

/** The number and its fraction are one number, from which the middle of its range is subtracted. */
function time2(digits: number): ValueReader {
  const size = fractionBytes(digits)
  const scale = 256 ** size
  return (reader) => {
    const value = reader.uintBE(3 + size) - 0x80_00_00 * scale
    const absolute = Math.abs(value)
    const clock = Math.floor(absolute / scale)
    const hours = (clock >> 12) & 1023
    const whole = `${value < 0 ? '-' : ''}${two(hours)}:${two((clock >> 6) & 63)}:${two(clock & 63)}`
    return digits === 0 ? whole : `${whole}.${fractionText(absolute % scale, size, digits)}`
  }
}

function epochText(seconds: number, fractionOfSecond: string): string {
  if (seconds === 0 && !/[1-9]/.test(fractionOfSecond)) return `0000-00-00 00:00:00${fractionOfSecond}`
  return `${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')}${fractionOfSecond}`
}
