import { z } from 'zod'

// Scalars of request bodies, read as Jackson reads them with its defaults: what is not of the type is converted where
// Jackson converts it. A value that Jackson refuses stays as it is, so that the inner specification refuses it.

/** Numbers and booleans become text. A number loses its spelling: `1.50` becomes `1.5`. */
export const textSpec = z.preprocess(
  (value) => (typeof value === 'number' || typeof value === 'boolean' ? String(value) : value),
  z.string(),
)
export const optionalTextSpec = textSpec.nullish()

const INT_MIN = -(2 ** 31)
const INT_MAX = 2 ** 31 - 1

/** A 32-bit integer or nothing. Decimals lose their fraction; a text may be blank, which is null, or a whole number. */
export function integerSpec({ min = INT_MIN, max = INT_MAX }: { readonly min?: number; readonly max?: number } = {}) {
  return z.preprocess(toInteger, z.number().int().min(min).max(max).nullish()).nullish()
}

/** A boolean or nothing. Whole numbers are true unless they are 0; the texts are `true`, `True`, `TRUE` and so on. */
export const optionalBooleanSpec = z.preprocess(toBoolean, z.boolean().nullish()).nullish()

/** One of these words or nothing. A number is the position of a word. */
export function optionalWordSpec<const Words extends readonly [string, ...string[]]>(words: Words) {
  const toWord = (value: unknown) => {
    const position = typeof value === 'string' && /^\s*\d+\s*$/.test(value) ? Number(value) : value
    return typeof position === 'number' ? (words[position] ?? value) : value
  }
  return z.preprocess(toWord, z.enum(words).nullish()).nullish()
}

function toInteger(value: unknown): unknown {
  if (typeof value === 'number') return Math.trunc(value)
  if (typeof value !== 'string') return value
  const text = value.trim()
  if (isNullText(text)) return null
  return /^[-+]?\d+$/.test(text) ? Number(text) : value
}

function toBoolean(value: unknown): unknown {
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
