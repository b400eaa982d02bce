// `JSON.parse` and `JSON.stringify` for documents with integers of 64 bits, such as source offsets of Java connectors.

/** An integer beyond 2^53 has at least this many digits. */
const MANY_DIGITS = /\d{16}/
/** Longer integers are not made exact: a bigint of millions of digits would block the thread for seconds. */
const INTEGER_OF_64_BITS = /^-?\d{1,20}$/

/** Parses JSON. Integers of up to 20 digits that a number cannot represent exactly are bigints. Throws a `SyntaxError`. */
export function parseExactJson(text: string): unknown {
  if (!MANY_DIGITS.test(text)) return JSON.parse(text)
  return JSON.parse(text, exactInteger as (key: string, value: unknown) => unknown)
}

/** Prints JSON. A bigint is printed as an integer. */
export function printExactJson(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (_key, member: unknown) => (typeof member === 'bigint' ? rawJson(member) : member),
    indent,
  )
}

function exactInteger(_key: string, value: unknown, { source }: { readonly source: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  return INTEGER_OF_64_BITS.test(source) ? BigInt(source) : value
}

/** Missing in the types of TypeScript's standard library. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => object }

function rawJson(value: bigint): object {
  return rawJSON(String(value))
}
