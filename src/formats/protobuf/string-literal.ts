/**
 * The value of a string literal is a text. An escaped byte that belongs to no UTF-8 character, which the value of a `bytes`
 * option or default can contain, is a lone surrogate from U+DC80 to U+DCFF, as in Python's `surrogateescape`.
 */

const ESCAPED: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

const ESCAPE = /\\(?:[xX]([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S]))/g

/** The value of adjacent literals in quotes. */
export function unquoteLiterals(literals: readonly string[]): string {
  const text = literals.map((quoted) => quoted.slice(1, -1).replace(ESCAPE, resolveEscape)).join('')
  // Escaped bytes can form characters.
  return text.isWellFormed() ? text : textFromBytes(bytesFromText(text))
}

function resolveEscape(
  written: string,
  hex?: string,
  octal?: string,
  short?: string,
  long?: string,
  char = '',
): string {
  if (hex !== undefined) return byteText(Number.parseInt(hex, 16))
  if (octal !== undefined) return byteText(Number.parseInt(octal, 8) & 0xff)
  const codePoint = Number.parseInt(short ?? long ?? '', 16)
  if (Number.isNaN(codePoint)) return ESCAPED[char] ?? char
  return codePoint > 0x10ffff ? written : String.fromCodePoint(codePoint)
}

function byteText(byte: number): string {
  return String.fromCharCode(byte < 0x80 ? byte : 0xdc00 + byte)
}

/** Prints a literal in quotes, with the escapes of Confluent's registry, and with those that only a `bytes` value needs. */
export function quoteLiteral(text: string): string {
  return `"${text.replace(SPECIAL, (char) => SHORT_ESCAPES[char] ?? octalEscape(char.charCodeAt(0) & 0xff))}"`
}

export function octalEscape(byte: number): string {
  return `\\${byte.toString(8).padStart(3, '0')}`
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones with a short escape, and the one that ends a text.
const SPECIAL = /[\x00\x07\b\f\n\r\t\v\\'"\udc80-\udcff]/gu

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  "'": "\\'",
  '"': '\\"',
}

// A character of UTF-8, or a single byte. The last alternative matches what the others do not.
const UTF8 =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all bytes are matched.
  /[\x00-\x7f]+|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]/g

/** The text of a value of type `string` or `bytes`. */
export function textFromBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('latin1')
    .replace(UTF8, (part) => {
      const first = part.charCodeAt(0)
      if (first < 0x80) return part
      return part.length === 1 ? byteText(first) : Buffer.from(part, 'latin1').toString('utf8')
    })
}

/** The reverse of `textFromBytes`. */
export function bytesFromText(text: string): Uint8Array {
  if (text.isWellFormed()) return Buffer.from(text)
  const parts = text.split(/([\udc80-\udcff])/u)
  return Buffer.concat(
    parts.map((part, at) => (at % 2 === 1 ? Buffer.from([part.charCodeAt(0) - 0xdc00]) : Buffer.from(part))),
  )
}
