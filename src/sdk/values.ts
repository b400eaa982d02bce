import { DataError } from './errors.ts'
import { LOGICAL, type Schema } from './schema.ts'

/** `unscaled` · 10^-`scale`. */
export type Decimal = { readonly unscaled: bigint; readonly scale: number }

/** Plain notation with `scale` digits after the decimal point: `-0.05`. */
export function decimalToText({ unscaled, scale }: Decimal): string {
  if (scale <= 0) return String(unscaled * powerOfTen(-scale))
  checkDigits(scale)
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0')
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

/** Parses plain and exponent notation. The scale is that of the text; with `scale`, throws when digits would be lost. */
export function decimalFromText(text: string, scale?: number): Decimal {
  const plain = scale === undefined ? undefined : plainDecimal(text, scale)
  if (plain !== undefined) return plain
  const [, sign, whole = '', fraction = '', exponent] = DECIMAL.exec(text.trim()) ?? []
  if (sign === undefined || whole + fraction === '') throw new DataError(`'${text}' is not a decimal number`)
  const written = fraction.length - Number(exponent ?? 0)
  const unscaled = BigInt(`${whole}${fraction}`) * (sign === '-' ? -1n : 1n)
  return scale === undefined ? { unscaled, scale: written } : rescale({ unscaled, scale: written }, scale)
}

/** Fewer digits make a number that is exact. */
const EXACT_DIGITS_MAX = 15

/** Fast path for digits with at most one point, without the objects of a match. Returns undefined for any other form. */
function plainDecimal(text: string, scale: number): Decimal | undefined {
  const { length } = text
  const first = text.charCodeAt(0) === MINUS ? 1 : 0
  if (length === first) return undefined
  let digits = 0
  let point = -1
  for (let at = first; at < length; at++) {
    const digit = text.charCodeAt(at) - ZERO
    if (digit >= 0 && digit <= 9) digits = digits * 10 + digit
    else if (digit === POINT - ZERO && point < 0 && at > first) point = at
    else return undefined
  }
  const zeros = point < 0 ? scale : scale - (length - point - 1)
  if (zeros < 0 || length - first + zeros > EXACT_DIGITS_MAX) return undefined
  const unscaled = digits * 10 ** zeros
  return { unscaled: BigInt(first === 1 ? -unscaled : unscaled), scale }
}

const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30

const DECIMAL = /^([-+]?)(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d+))?$/

/** Converts to another scale. Throws a `DataError` when digits would be lost. */
export function rescale({ unscaled, scale }: Decimal, wanted: number): Decimal {
  if (wanted >= scale) return { unscaled: unscaled * powerOfTen(wanted - scale), scale: wanted }
  const factor = powerOfTen(scale - wanted)
  if (unscaled % factor !== 0n) {
    throw new DataError(`${decimalToText({ unscaled, scale })} has more than ${wanted} fractional digits`)
  }
  return { unscaled: unscaled / factor, scale: wanted }
}

/** PostgreSQL, for example, has at most 131,072 digits before the point and 16,383 after it. */
const DIGITS_MAX = 200_000

/** Throws a `DataError` for an exponent whose digits would take too much time and memory: `1e100000000` has few characters. */
export function powerOfTen(exponent: number): bigint {
  checkDigits(exponent)
  return 10n ** BigInt(exponent)
}

function checkDigits(digits: number): void {
  if (digits > DIGITS_MAX)
    throw new DataError(`a decimal number with ${digits} more digits cannot be converted: the maximum is ${DIGITS_MAX}`)
}

/** The leading zero bits of a hexadecimal digit from 8, as a number of 32 bits. */
const CLZ_OF_DIGIT = 28

/** The shortest two's complement in big-endian order, as Java's `BigInteger.toByteArray`. */
export function bigintToBytes(value: bigint): Buffer {
  // The bits of the number without its sign, in time that is linear in the number.
  const digits = (value < 0n ? ~value : value).toString(16)
  const bits = digits.length * 4 - (Math.clz32(Number.parseInt(digits.charAt(0), 16)) - CLZ_OF_DIGIT)
  const length = Math.floor(bits / 8) + 1
  return Buffer.from(
    BigInt.asUintN(length * 8, value)
      .toString(16)
      .padStart(length * 2, '0'),
    'hex',
  )
}

export function bigintFromBytes(bytes: Uint8Array): bigint {
  if (bytes.length === 0) throw new DataError('expected the bytes of a number, got none')
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
  return BigInt.asIntN(bytes.length * 8, BigInt(`0x${hex}`))
}

/** The representation of int64 values in records: a number if it is exact, otherwise a bigint. */
export function int64(value: bigint): number | bigint {
  return value >= MIN_SAFE && value <= MAX_SAFE ? Number(value) : value
}

const MIN_SAFE = BigInt(Number.MIN_SAFE_INTEGER)
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER)

/** The scale of a Decimal schema. Throws a `DataError` when it has no such parameter. */
export function decimalScale(schema: Schema): number {
  const scale = Number(schema.parameters?.['scale'] ?? Number.NaN)
  if (Number.isInteger(scale)) return scale
  throw new DataError('Invalid Decimal schema: scale parameter not found.')
}

/**
 * The unscaled digits of a decimal at the scale of its schema: what is written as the bytes of a Connect Decimal. Throws a
 * `DataError`, as Java's `Decimal.fromLogical` does, when the value has another scale: its digits would be read as another
 * number.
 */
export function unscaledAt(scale: number, value: Decimal): bigint {
  if (value.scale === scale) return value.unscaled
  throw new DataError(
    'Decimal value has mismatching scale for given Decimal schema. ' +
      `Schema has scale ${scale}, value has scale ${value.scale}.`,
  )
}

/** Throws a `DataError` with the path at which a value does not match its schema: `$.items[2].price: …`. */
export function checkValue(schema: Schema, value: unknown, path = '$'): void {
  if (value === null || value === undefined) {
    if (schema.optional || schema.default !== undefined) return
    throw new DataError(
      `${path}: expected ${schemaLabel(schema)}, got null: the schema is not optional and has no default`,
    )
  }
  if (!fits(schema, value)) throw new DataError(`${path}: expected ${schemaLabel(schema)}, got ${valueLabel(value)}`)
  for (const part of parts(schema, value, path)) checkValue(...part)
}

function* parts(schema: Schema, value: unknown, path: string): Generator<[Schema, unknown, string]> {
  if (schema.type === 'array') {
    for (const [index, item] of (value as unknown[]).entries()) yield [schema.items!, item, `${path}[${index}]`]
  } else if (schema.type === 'map') {
    for (const [key, item] of value as Map<unknown, unknown>) {
      yield [schema.keys!, key, `${path} key`]
      yield [schema.items!, item, `${path}[${String(key)}]`]
    }
  } else if (schema.type === 'struct') {
    for (const { name, schema: inner } of schema.fields ?? []) {
      yield [inner, (value as Record<string, unknown>)[name], `${path}.${name}`]
    }
  }
}

/** A short description of a value for error messages. */
export function valueLabel(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (value instanceof Uint8Array) return `${value.length} bytes`
  if (typeof value === 'string') return `the string '${value.length > 40 ? `${value.slice(0, 40)}…` : value}'`
  if (isDecimal(value)) return `the decimal ${decimalToText(value)}`
  if (typeof value === 'object') return Array.isArray(value) ? 'an array' : `a ${value.constructor?.name ?? 'object'}`
  return `the ${typeof value} ${String(value)}`
}

function schemaLabel({ name, type }: Schema): string {
  return name === undefined ? type : `${type} ${name}`
}

function fits(schema: Schema, value: unknown): boolean {
  switch (schema.name) {
    case LOGICAL.decimal:
      return isDecimal(value) && value.scale === decimalScale(schema)
    case LOGICAL.date:
    case LOGICAL.timestamp:
      return value instanceof Date && !Number.isNaN(value.getTime())
    default:
      return FITS[schema.type](value)
  }
}

export function isDecimal(value: unknown): value is Decimal {
  return typeof value === 'object' && value !== null && typeof (value as Decimal).unscaled === 'bigint'
}

const FITS: Readonly<Record<Schema['type'], (value: unknown) => boolean>> = {
  int8: (value) => typeof value === 'number' && isInteger('int8', value),
  int16: (value) => typeof value === 'number' && isInteger('int16', value),
  int32: (value) => typeof value === 'number' && isInteger('int32', value),
  int64: (value) => isInteger('int64', value),
  float32: (value) => typeof value === 'number',
  float64: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  string: (value) => typeof value === 'string',
  bytes: (value) => value instanceof Uint8Array,
  array: Array.isArray,
  map: (value) => value instanceof Map,
  struct: (value) => typeof value === 'object' && !Array.isArray(value) && !(value instanceof Map),
}

export type IntegerType = 'int8' | 'int16' | 'int32' | 'int64'

/**
 * Whether a value is a whole number in the range of an integer type. Numbers must be exact (at most 2^53 - 1); a bigint may
 * stand for any integer type.
 */
export function isInteger(type: IntegerType, value: unknown): value is number | bigint {
  const bits = INTEGER_BITS[type]
  if (typeof value === 'bigint') return BigInt.asIntN(bits, value) === value
  const limit = 2 ** (bits - 1)
  return Number.isSafeInteger(value) && (value as number) >= -limit && (value as number) < limit
}

const INTEGER_BITS: Readonly<Record<IntegerType, number>> = { int8: 8, int16: 16, int32: 32, int64: 64 }
