import { type JsonNumber, type Json as JsonTree, parseJson, printJson } from '../json-text.ts'

const NESTING_MAX = 1_000
/** The scale of Java's `BigDecimal` is an integer of 32 bits, so that it cannot represent larger exponents. */
const EXPONENT_MAX = 2 ** 31 - 1

/**
 * Returns the text without whitespace, with members in their order (or sorted), as Jackson prints it with `BigDecimal`.
 * Throws a `SyntaxError` with the location if the text is not valid JSON.
 */
export function canonicalJson(text: string, options: { readonly sorted: boolean } = { sorted: false }): string {
  return printTree(jsonTree(text), options.sorted)
}

/** Parses a JSON text. Throws a `SyntaxError`. */
export function jsonTree(text: string): JsonTree {
  return parseJson(text, { depthMax: NESTING_MAX })
}

export function printTree(value: JsonTree, sorted = false): string {
  return printJson(value, { sorted, number: decimal })
}

/** As Java's `BigDecimal.toString`: all digits are kept; a negative scale or a value below 10^-6 gives an exponent. */
function decimal({ literal: text }: JsonNumber): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text) ?? []
  if (fraction === '' && !/e/i.test(text)) return text
  const digits = `${whole}${fraction}`.replace(/^0+(?=\d)/, '')
  const scale = fraction.length - Number(exponent)
  if (Math.abs(scale) > EXPONENT_MAX) throw new SyntaxError(`the exponent of a number is beyond ${EXPONENT_MAX}`)
  const adjusted = digits.length - scale - 1
  if (scale >= 0 && adjusted >= -6) return sign + placePoint(digits, scale)
  const mantissa = digits.length > 1 ? `${digits[0]}.${digits.slice(1)}` : digits
  return `${sign}${mantissa}E${adjusted >= 0 ? '+' : ''}${adjusted}`
}

function placePoint(digits: string, scale: number): string {
  if (scale === 0) return digits
  const padded = digits.padStart(scale + 1, '0')
  return `${padded.slice(0, -scale)}.${padded.slice(-scale)}`
}
