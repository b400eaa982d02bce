/** Decodes the text of a JSON document in UTF-8, without a byte order mark, as Jackson does. */
export function jsonTextOf(bytes: Uint8Array): string {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8', hasMark ? 3 : 0)
}

type Reviver = (this: unknown, key: string, value: unknown) => unknown
type Source = { readonly source: string }

/** Parses JSON. Numbers are the texts that they are written as, such as `1.0` and `1e3`. Throws a `SyntaxError`. */
export function parseWrittenJson(text: string): unknown {
  const revive = (_: string, value: unknown, { source }: Source) => (typeof value === 'number' ? source : value)
  return JSON.parse(text, revive as Reviver)
}

/**
 * A number that JavaScript prints in another way than it is written, such as `1.0`: a boxed string with its text, which no other
 * JSON is parsed to. Structured clones keep it.
 */
export type WrittenNumber = InstanceType<typeof String>

export function isWrittenNumber(value: unknown): value is WrittenNumber {
  return value instanceof String
}

/** A text without one has only numbers that JavaScript prints as they are written. */
const OTHER_NUMBER = /[[:,]\s*(?:-0|-?\d+[.eE]|-?\d{16})/

/** Parses JSON. A number that JavaScript prints in another way is a `WrittenNumber`. Throws a `SyntaxError`. */
export function parseJsonAsWritten(text: string): unknown {
  if (!OTHER_NUMBER.test(text)) return JSON.parse(text)
  const revive = (_: string, value: unknown, { source }: Source) =>
    typeof value === 'number' && String(value) !== source ? Object(source) : value
  return JSON.parse(text, revive as Reviver)
}

/** Prints JSON with each `WrittenNumber` as it was written. */
export function printJsonAsWritten(value: unknown): string {
  return JSON.stringify(value, (_, member) => (isWrittenNumber(member) ? JSON.rawJSON(String(member)) : member))
}
