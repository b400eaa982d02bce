import { quoteWith } from '../jdbc/identifier.ts'

/** Quotes a name with backticks, which have the same meaning in each `sql_mode`. */
export const mysqlQuoted = quoteWith('`')

const INTRODUCER = '_utf8mb4 '

/**
 * Returns a text as a literal that has the same meaning in each `sql_mode`: whether a backslash is an escape depends on
 * `NO_BACKSLASH_ESCAPES`, so a text with one is written in hexadecimal. The client sends statements in UTF-8, in which no byte of
 * another character is a quote or a backslash.
 */
export function textLiteral(text: string): string {
  if (text.includes('\\')) return `${INTRODUCER}${bytesLiteral(Buffer.from(text))}`
  return `'${text.replaceAll("'", "''")}'`
}

export function bytesLiteral(bytes: Uint8Array): string {
  return `x'${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}'`
}

/**
 * Returns a literal for the default expression of a column. MariaDB stores such an expression as SQL, in which it does not escape a
 * backslash of a literal with an introducer.
 */
export function toExpression(literal: string): string {
  return literal.startsWith(INTRODUCER) ? `CONVERT(${literal.slice(INTRODUCER.length)} USING utf8mb4)` : literal
}
