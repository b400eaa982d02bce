import { withoutTrailingZeros } from '../../../../../java-compat/decimal-text.ts'
import {
  BYTES,
  bigintToBytes,
  type Decimal,
  decimal,
  decimalToText,
  FLOAT64,
  INT32,
  powerOfTen,
  rescale,
  type Schema,
  STRING,
} from '../../../../../sdk/index.ts'
import { DOUBLE, decimalParts, preciseDecimal } from '../../../cdc/values/numeric-types.ts'
import type { DecimalMode } from '../../../cdc/values/value-modes.ts'
import type { ValueType } from '../../../cdc/values/value-type.ts'
import { moneyNumber } from '../../money-text.ts'

/** The schema of a number whose scale is not that of the column. */
const VARIABLE_SCALE: Schema = {
  type: 'struct',
  name: 'io.debezium.data.VariableScaleDecimal',
  version: 1,
  doc: 'Variable scaled decimal',
  fields: [
    { name: 'scale', schema: INT32 },
    { name: 'value', schema: BYTES },
  ],
}

/** `modifier` has the precision and the scale of `numeric(10, 2)`; it is -1 for `numeric`. */
export function numericType(modifier: number, mode: DecimalMode): ValueType {
  switch (mode) {
    case 'double':
      return DOUBLE
    case 'string':
      return { schema: STRING, decode: numberText, zero: zeroText(modifier < 0 ? 0 : scaleOf(modifier)) }
    case 'precise':
      return modifier < 0
        ? { schema: VARIABLE_SCALE, decode: numberOrNull(variableScale), isPartial: true, zero: variableScale('0') }
        : preciseType(modifier)
  }
}

function preciseType(modifier: number): ValueType {
  const precision = ((modifier - 4) >> 16) & 0xffff
  const { schema, decode } = preciseDecimal(precision, scaleOf(modifier))
  return { schema, decode: numberOrNull(decode), isPartial: true }
}

/** `money` in the locale C: `-$1,234.50`. */
export function moneyType(digits: number, mode: DecimalMode): ValueType {
  switch (mode) {
    case 'double':
      return { schema: FLOAT64, decode: (text) => Number(moneyNumber(text)) }
    case 'string':
      return { schema: STRING, decode: moneyNumber, zero: zeroText(digits) }
    case 'precise':
      return { schema: decimal(digits), decode: (text) => rounded(decimalParts(moneyNumber(text)), digits) }
  }
}

/** Rounds half up, as Debezium does. */
function rounded(value: Decimal, scale: number): Decimal {
  if (scale >= value.scale) return rescale(value, scale)
  const factor = powerOfTen(value.scale - scale)
  const half = value.unscaled < 0n ? -factor / 2n : factor / 2n
  return { unscaled: (value.unscaled + half) / factor, scale }
}

/** Removes the zeros at the end of the fraction, as Debezium does. */
function variableScale(text: string): { readonly scale: number; readonly value: Buffer } {
  const { unscaled, scale } = decimalParts(withoutTrailingZeros(text))
  return { scale, value: bigintToBytes(unscaled) }
}

/** NaN and the infinities are no decimals. */
function numberOrNull(decode: (text: string) => unknown): (text: string) => unknown {
  return (text) => (SPECIAL_NUMBERS[text] === undefined ? decode(text) : null)
}

/** Negative scales, of PostgreSQL 15 and later, are 11 bits that Debezium reads as a positive scale. So does this. */
function scaleOf(modifier: number): number {
  return (modifier - 4) & 0xffff
}

function zeroText(scale: number): string {
  return decimalToText({ unscaled: 0n, scale })
}

/** Debezium's words. */
const SPECIAL_NUMBERS: Readonly<Record<string, string>> = {
  NaN: 'NAN',
  Infinity: 'POSITIVE_INFINITY',
  '-Infinity': 'NEGATIVE_INFINITY',
}

function numberText(text: string): string {
  return SPECIAL_NUMBERS[text] ?? text
}
