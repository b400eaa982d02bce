import { DataError, type Decimal, decimal, FLOAT64, INT32, INT64, int64, rescale } from '../../../../sdk/index.ts'
import type { ValueType } from './value-type.ts'

// Numbers as databases print them: without an exponent.

export const INTEGER: ValueType = { schema: INT32, decode: Number }
export const LONG: ValueType = { schema: INT64, decode: longFromText }
export const DOUBLE: ValueType = { schema: FLOAT64, decode: Number }

/** Digits that a number represents exactly. */
const EXACT_DIGITS = 15

/** Returns a number if it is exact, otherwise a bigint. */
export function longFromText(text: string): number | bigint {
  return text.length <= EXACT_DIGITS ? Number(text) : int64(BigInt(text))
}

/** A decimal with the precision and the scale of its column. */
export function preciseDecimal(precision: number, scale: number): ValueType {
  const plain = decimal(scale)
  return {
    schema: { ...plain, parameters: { ...plain.parameters, 'connect.decimal.precision': String(precision) } },
    decode: (text) => decimalAt(text, scale),
  }
}

function decimalAt(text: string, scale: number): Decimal {
  const value = decimalParts(text)
  return value.scale === scale ? value : rescale(value, scale)
}

export function decimalParts(text: string): Decimal {
  const point = text.indexOf('.')
  const digits = point < 0 ? text : text.slice(0, point) + text.slice(point + 1)
  return { unscaled: bigintFromText(digits, text), scale: point < 0 ? 0 : text.length - point - 1 }
}

function bigintFromText(digits: string, text: string): bigint {
  if (!/^-?\d+$/.test(digits)) throw new DataError(`'${text}' is not a number`)
  return BigInt(digits.length <= EXACT_DIGITS ? Number(digits) : digits)
}
