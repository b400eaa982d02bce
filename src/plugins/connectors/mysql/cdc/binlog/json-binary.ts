import { MysqlReader } from '../../protocol/mysql-reader.ts'
import { decimalReader } from './decimal-value.ts'
import { COLUMN_TYPE } from './table-map.ts'

// MySQL's binary form of JSON. An object or an array begins with its number of members and its length, followed by the places of its
// keys and values. Small ones have places of two bytes, large ones of four.

const SMALL_OBJECT = 0
const LARGE_OBJECT = 1
const SMALL_ARRAY = 2
const LARGE_ARRAY = 3
const LITERAL = 4
const INT16 = 5
const UINT16 = 6
const INT32 = 7
const UINT32 = 8
const INT64 = 9
const UINT64 = 10
const DOUBLE = 11
const STRING = 12
const OPAQUE = 15

const LITERALS = ['null', 'true', 'false']
/** As in the server, which refuses deeper documents. */
const DEPTH_MAX = 100

/** The text of a JSON value, without spaces. An empty value is that of a column that was added without a default. */
export function binaryJsonText(bytes: Buffer): string {
  return bytes.length === 0 ? 'null' : new JsonDocument(bytes).text()
}

type Container = { readonly isObject: boolean; readonly size: 2 | 4; readonly depth: number }

/** One value with its members. */
class JsonDocument {
  readonly #bytes: Buffer
  /** Members of a damaged value may have the same place, so that its text would have no end: each byte is read once. */
  #unreadBytes: number

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#unreadBytes = bytes.length
  }

  text(): string {
    return this.#value(this.#bytes[0]!, 1, 0)
  }

  #reader(start: number): MysqlReader {
    return new MysqlReader(this.#bytes, 'a JSON value', start)
  }

  #count(bytes: number): number {
    this.#unreadBytes -= bytes
    if (this.#unreadBytes < 0) throw this.#reader(0).fault('has members with the same place')
    return bytes
  }

  #value(type: number, start: number, depth: number): string {
    const reader = this.#reader(start)
    if (depth > DEPTH_MAX) throw reader.fault(`has more than ${DEPTH_MAX} levels`)
    switch (type) {
      case SMALL_OBJECT:
      case LARGE_OBJECT:
        return this.#container(start, { isObject: true, size: type === LARGE_OBJECT ? 4 : 2, depth })
      case SMALL_ARRAY:
      case LARGE_ARRAY:
        return this.#container(start, { isObject: false, size: type === LARGE_ARRAY ? 4 : 2, depth })
      case LITERAL:
        return literalText(reader.uint8(), reader)
      case INT16:
        return String(reader.int(2))
      case UINT16:
        return String(reader.uint16())
      case INT32:
        return String(reader.int(4))
      case UINT32:
        return String(reader.uint32())
      case INT64:
        return String(reader.bigInt64())
      case UINT64:
        return String(reader.bigUint64())
      case DOUBLE:
        return doubleText(reader.float64())
      case STRING:
        return JSON.stringify(reader.utf8(this.#count(variableLength(reader))))
      case OPAQUE: {
        const opaqueType = reader.uint8()
        return opaqueText(opaqueType, reader.view(this.#count(variableLength(reader))))
      }
      default:
        throw reader.fault(`has the unknown type ${type}`)
    }
  }

  #container(start: number, { isObject, size, depth }: Container): string {
    const reader = this.#reader(start)
    const count = reader.uint(size)
    const length = reader.uint(size)
    if (start + length > this.#bytes.length) throw reader.fault('ends before a value of it does')
    this.#count(count * (1 + size))
    const keys: string[] = []
    for (let index = 0; isObject && index < count; index += 1) {
      const at = start + reader.uint(size)
      keys.push(JSON.stringify(this.#reader(at).utf8(this.#count(reader.uint16()))))
    }
    const values: string[] = []
    for (let index = 0; index < count; index += 1) {
      const type = reader.uint8()
      const place = reader.position
      const offset = reader.uint(size)
      // Small numbers and literals are in the place of their position.
      const isInline =
        type === LITERAL || type === INT16 || type === UINT16 || (size === 4 && (type === INT32 || type === UINT32))
      values.push(this.#value(type, isInline ? place : start + offset, depth + 1))
    }
    if (!isObject) return `[${values.join(',')}]`
    return `{${values.map((value, index) => `${keys[index]}:${value}`).join(',')}}`
  }
}

function literalText(value: number, reader: MysqlReader): string {
  const text = LITERALS[value]
  if (text === undefined) throw reader.fault(`has the unknown literal ${value}`)
  return text
}

/** A whole number has a fraction, as the server prints it. */
function doubleText(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e15 ? value.toFixed(1) : String(value)
}

/** Seven bits in each byte, the lowest first. */
function variableLength(reader: MysqlReader): number {
  let length = 0
  for (let index = 0; index < 5; index += 1) {
    const byte = reader.uint8()
    length += (byte & 0x7f) * 2 ** (7 * index)
    if (byte < 0x80) return length
  }
  throw reader.fault('has an invalid length')
}

/** A value of another type: a decimal, a time, or bytes. */
function opaqueText(type: number, bytes: Buffer): string {
  const inner = new MysqlReader(bytes, 'a JSON value')
  if (type === COLUMN_TYPE.newDecimal) {
    const [precision, scale] = [inner.uint8(), inner.uint8()]
    return decimalReader(precision, scale)(inner)
  }
  if (
    type === COLUMN_TYPE.time ||
    type === COLUMN_TYPE.date ||
    type === COLUMN_TYPE.datetime ||
    type === COLUMN_TYPE.timestamp
  ) {
    return JSON.stringify(packedTimeText(type, inner.bigInt64()))
  }
  return JSON.stringify(bytes.toString('base64'))
}

const two = (value: bigint) => String(value).padStart(2, '0')

/** A time in 40 bits with microseconds in 24. */
function packedTimeText(type: number, packed: bigint): string {
  const sign = packed < 0n ? '-' : ''
  const value = packed < 0n ? -packed : packed
  const [whole, micros] = [value >> 24n, value & 0xff_ff_ffn]
  const fraction = String(micros).padStart(6, '0')
  if (type === COLUMN_TYPE.time) {
    return `${sign}${two((whole >> 12n) & 0x3ffn)}:${two((whole >> 6n) & 63n)}:${two(whole & 63n)}.${fraction}`
  }
  const [days, clock] = [whole >> 17n, whole & 0x1_ff_ffn]
  const months = days >> 5n
  const day = `${String(months / 13n).padStart(4, '0')}-${two(months % 13n)}-${two(days & 31n)}`
  if (type === COLUMN_TYPE.date) return day
  return `${day} ${two(clock >> 12n)}:${two((clock >> 6n) & 63n)}:${two(clock & 63n)}.${fraction}`
}
