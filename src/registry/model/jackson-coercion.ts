import { z } from 'zod'
import { isWrittenNumber } from '../../common/written-json.ts'

// Scalars of request bodies, coerced as Jackson does by default. A value that Jackson rejects is passed unchanged to
// the inner schema, which rejects it.

/** A string. Numbers, as they are written, and booleans are converted. */
export const textSpec = z.preprocess(
  (value) => (isNumber(value) || typeof value === 'boolean' ? String(value) : value),
  z.string(),
)
export const optionalTextSpec = textSpec.nullish()

const INT_MIN = -(2 ** 31)
const INT_MAX = 2 ** 31 - 1

/**
 * An optional 32-bit integer. Fractions are truncated. A string can be an integer, or blank or `null`, which are null.
 */
export function integerSpec({ min = INT_MIN, max = INT_MAX }: { readonly min?: number; readonly max?: number } = {}) {
  return z.preprocess(toInteger, z.number().int().min(min).max(max).nullish()).nullish()
}

/**
 * An optional boolean. Integers other than 0 are true. Strings are `true`, `True`, `TRUE`, the same for false, or
 * blank.
 */
export const optionalBooleanSpec = z.preprocess(toBoolean, z.boolean().nullish()).nullish()

/** An optional enum value. An integer is the index of a word. */
export function optionalWordSpec<const Words extends readonly [string, ...string[]]>(words: Words) {
  const toWord = (given: unknown) => {
    const value = toWholeNumber(given)
    const position = typeof value === 'string' && /^\s*\d+\s*$/.test(value) ? Number(value) : value
    return typeof position === 'number' ? (words[position] ?? value) : value
  }
  return z.preprocess(toWord, z.enum(words).nullish()).nullish()
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || isWrittenNumber(value)
}

/** A number without a fraction and an exponent. Otherwise the value. */
function toWholeNumber(value: unknown): unknown {
  return isWrittenNumber(value) && /^-?\d+$/.test(String(value)) ? Number(value) : value
}

function toInteger(value: unknown): unknown {
  if (isNumber(value)) return Math.trunc(Number(value))
  if (typeof value !== 'string') return value
  const text = value.trim()
  if (isNullText(text)) return null
  return /^[-+]?\d+$/.test(text) ? Number(text) : value
}

function toBoolean(given: unknown): unknown {
  const value = toWholeNumber(given)
  if (typeof value === 'number') return Number.isInteger(value) ? value !== 0 : value
  if (typeof value !== 'string') return value
  const text = value.trim()
  if (isNullText(text)) return null
  if (/^(?:true|True|TRUE)$/.test(text)) return true
  return /^(?:false|False|FALSE)$/.test(text) ? false : value
}

function isNullText(text: string): boolean {
  return text === '' || text === 'null'
}
