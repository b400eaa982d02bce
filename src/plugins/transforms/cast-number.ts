import {
  DataError,
  type Decimal,
  decimalToText,
  int64,
  isDecimal,
  powerOfTen,
  type SchemaType,
} from '../../sdk/index.ts'

// Number conversions as in Java: integers are truncated to their low bits, floats are truncated towards zero and
// clamped.

/** Converts to an integer of `bits` bits. Strings must be integers in range, otherwise throws a `DataError`. */
export function toInteger(value: unknown, type: SchemaType, bits: 8 | 16 | 32 | 64): number | bigint {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'string') return parseInteger(value, bits)
  return int64(BigInt.asIntN(bits, wholePart(value as number | bigint | Decimal, type, bits)))
}

export function toFloat(value: unknown, target: 'float32' | 'float64'): number {
  const exact = exactFloat(value)
  return target === 'float32' ? Math.fround(exact) : exact
}

export function toBoolean(value: unknown, type: SchemaType): boolean {
  if (typeof value === 'boolean') return value
  if (typeof value === 'string') return value.toLowerCase() === 'true'
  return wholePart(value as number | bigint | Decimal, type, 64) !== 0n
}

function wholePart(value: number | bigint | Decimal, type: SchemaType, bits: number): bigint {
  if (typeof value === 'bigint') return value
  if (isDecimal(value)) {
    return value.scale <= 0 ? value.unscaled * powerOfTen(-value.scale) : value.unscaled / powerOfTen(value.scale)
  }
  const isFloat = type === 'float32' || type === 'float64'
  if (!isFloat) return BigInt(value)
  if (Number.isNaN(value)) return 0n
  // As in Java, a float is first clamped to the range of int or long; then the low bits are kept.
  const limit = bits === 64 ? 2n ** 63n : 2n ** 31n
  if (value >= Number(limit)) return limit - 1n
  return value <= -Number(limit) ? -limit : BigInt(Math.trunc(value))
}

function exactFloat(value: unknown): number {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (isDecimal(value)) return Number(decimalToText(value))
  if (typeof value !== 'string') return Number(value)
  const [, number, word] = FLOAT_TEXT.exec(value) ?? []
  if (number !== undefined) return Number(number)
  if (word !== undefined) return Number(word)
  throw outOfRange(value)
}

/** Text that Java parses as a float, except hexadecimal literals. */
const FLOAT_TEXT =
  /^[\0-\x20]*(?:([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)[fFdD]?|([-+]?(?:NaN|Infinity)))[\0-\x20]*$/

function parseInteger(text: string, bits: number): number | bigint {
  if (!/^[-+]?\d+$/.test(text)) throw outOfRange(text)
  const value = BigInt(text.replace('+', ''))
  if (BigInt.asIntN(bits, value) !== value) throw outOfRange(text)
  return int64(value)
}

function outOfRange(text: string): DataError {
  return new DataError(`Value (${text}) was out of range for requested data type`)
}
