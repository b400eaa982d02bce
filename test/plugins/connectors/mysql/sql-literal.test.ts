import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesLiteral, mysqlQuoted, textLiteral } from '../../../../src/plugins/connectors/mysql/sql-literal.ts'

/** Reads a literal as the server does, in a `sql_mode` with or without NO_BACKSLASH_ESCAPES. Throws unless it is one literal. */
function readLiteral(sql: string, hasEscapes: boolean): string {
  const [, hex] = /^_utf8mb4 x'((?:[\da-f]{2})*)'$/.exec(sql) ?? []
  if (hex !== undefined) return Buffer.from(hex, 'hex').toString()
  const literal = hasEscapes ? /^'((?:[^'\\]|\\.|'')*)'$/s : /^'((?:[^']|'')*)'$/
  const [, quoted] = literal.exec(sql) ?? []
  if (quoted === undefined) throw new Error(`${sql} is not one literal`)
  return (hasEscapes ? quoted.replace(/\\(.)/gs, '$1') : quoted).replaceAll("''", "'")
}

describe('textLiteral', () => {
  const hostile = fc.string({
    unit: fc.constantFrom("'", '\\', '"', '`', '\0', '\n', ';', '-', 'a', 'é', '縗', '😀', '\x1a'),
  })

  it('is the same single text in each sql_mode', () => {
    fc.assert(
      fc.property(fc.oneof(hostile, fc.string()), fc.boolean(), (text, hasEscapes) => {
        const whole = Buffer.from(text).toString()
        expect(Buffer.from(readLiteral(textLiteral(text), hasEscapes)).toString()).toBe(whole)
      }),
    )
  })

  it('has no byte of a character that a character set such as GBK could take for a backslash before a quote', () => {
    // In GBK, 0xbf5c is one character, so that an escape of the quote with a backslash would be no escape.
    expect(textLiteral("\u00bf' OR 1=1 -- ")).toBe("'\u00bf'' OR 1=1 -- '")
    expect(textLiteral("\\' OR 1=1 -- ")).toMatch(/^_utf8mb4 x'[\da-f]+'$/)
  })
})

it('bytesLiteral has the bytes of a part of a buffer only', () => {
  expect(bytesLiteral(Buffer.from('abcd').subarray(1, 3))).toBe("x'6263'")
  expect(bytesLiteral(new Uint8Array())).toBe("x''")
})

it('mysqlQuoted doubles backticks', () => {
  expect(mysqlQuoted('a`b"c')).toBe('`a``b"c`')
})
