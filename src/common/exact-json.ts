import { javaDouble } from './java-double.ts'

// `JSON.parse` and `JSON.stringify` for documents with the numbers of Java, such as source offsets: integers of 64 bits, and doubles, which
// have a fraction also if they are whole.

/** A text without one has only numbers that a JavaScript number represents: an integer beyond 2^53 has at least 16 digits. */
const OTHER_NUMBER = /\d{16}|\d\.0|\d[eE][-+\d]/
/** Longer integers are not made exact: a bigint of millions of digits would block the thread for seconds. */
const INTEGER_OF_64_BITS = /^-?\d{1,20}$/

/**
 * A whole number that JSON writes with a fraction, `1.0`, as Java writes a Double. It is a boxed number: structured clones and
 * arithmetic keep its value.
 */
export type WholeDouble = InstanceType<typeof Number>

export function wholeDouble(value: number): WholeDouble {
  return Object(value) as WholeDouble
}

/**
 * Parses JSON. Integers of up to 20 digits that a number cannot represent exactly are bigints; whole numbers with a fraction or an
 * exponent are a `WholeDouble`. Throws a `SyntaxError`.
 */
export function parseExactJson(text: string): unknown {
  if (!OTHER_NUMBER.test(text)) return JSON.parse(text)
  return JSON.parse(text, exactNumber as (key: string, value: unknown) => unknown)
}

/**
 * Prints JSON. A bigint is printed as an integer, and a double as Java prints it, also `"NaN"`. Throws a `TypeError` for a `Map` or
 * `Set`, which JSON cannot represent.
 */
export function printExactJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, literalOf, indent)
}

function exactNumber(_key: string, value: unknown, { source }: { readonly source: string }): unknown {
  if (typeof value !== 'number') return value
  // Java reads `-0.0` as 0.
  if (/[.eE]/.test(source)) return Number.isInteger(value) ? wholeDouble(value + 0) : value
  return !Number.isSafeInteger(value) && INTEGER_OF_64_BITS.test(source) ? BigInt(source) : value
}

function literalOf(_key: string, member: unknown): unknown {
  switch (typeof member) {
    case 'bigint':
      return JSON.rawJSON(String(member))
    case 'number':
      return Number.isInteger(member) ? member : JSON.rawJSON(javaDouble(member))
    case 'object':
      if (member instanceof Number) return JSON.rawJSON(javaDouble(Number(member)))
      if (member instanceof Map || member instanceof Set)
        throw new TypeError('a Map or Set cannot be represented in JSON')
      return member
    default:
      return member
  }
}

declare global {
  interface JSON {
    /** Of ECMAScript; missing in TypeScript's standard library. The result is printed as this text. */
    rawJSON(text: string): object
  }
}
