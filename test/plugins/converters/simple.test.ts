import { describe, expect, it } from 'vitest'
import { javaText } from '../../../src/java-compat/java-text.ts'
import { simpleHeaderConverter } from '../../../src/plugins/converters/simple-header/simple-header-converter.ts'
import { stringConverter } from '../../../src/plugins/converters/string.ts'
import {
  INT64,
  OPTIONAL_STRING,
  parseConfig,
  type RawConfig,
  type Schema,
  STRING,
  struct,
  UNRESTRICTED,
} from '../../../src/sdk/index.ts'
import golden from './simple-header.golden.json' with { type: 'json' }

describe('StringConverter', () => {
  const converter = (config: RawConfig = {}) =>
    stringConverter.create(parseConfig(stringConverter.config, config), { ...UNRESTRICTED, isKey: false })

  it('converts strings to and from UTF-8', () => {
    expect(converter().fromConnect('t', STRING, 'zwö €')).toEqual(Buffer.from('zwö €'))
    expect(converter().toConnect('t', Buffer.from('zwö €'))).toEqual({ schema: OPTIONAL_STRING, value: 'zwö €' })
  })

  it('preserves null', () => {
    expect(converter().fromConnect('t', OPTIONAL_STRING, null)).toBeNull()
    expect(converter().toConnect('t', null)).toEqual({ schema: OPTIONAL_STRING, value: null })
  })

  it("formats other values like Java's String.valueOf", () => {
    expect(String(converter().fromConnect('t', struct('S', { id: INT64 }), { id: 7 }))).toBe('Struct{id=7}')
  })

  it('supports other encodings, and rejects unknown ones', () => {
    const latin = converter({ 'converter.encoding': 'iso-8859-1' })
    expect(latin.fromConnect('t', STRING, 'ö')).toEqual(Buffer.from([0xf6]))
    expect(() => converter({ 'converter.encoding': 'EBCDIC' })).toThrow('expected one of UTF-8')
  })
})

type Golden = { readonly header: string; readonly schema: unknown; readonly javaText: string; readonly out: string }

/** Headers for which Weir differs on purpose, and the reason. */
const DIFFERENT = new Map([
  ['123456789.123456789', 'Java 17 writes more digits than necessary for a float'],
  ['[2147483648,1.5]', 'the same'],
  ['0000-00-00', 'a date before the Gregorian calendar'],
  ['9999-99-99', 'the date has a year of five digits in Java'],
  ['[1,2019-08-23]', 'Java converts 1 to a date'],
  ['[2019-08-23,2019-08-23T14:34:54.346Z]', 'Java converts a date to a timestamp'],
])

function shown(schema: Schema | null | undefined): unknown {
  if (schema === null || schema === undefined) return null
  const { type, name, items, keys } = schema
  return {
    type,
    ...(name !== undefined && { name }),
    ...(type === 'array' && { items: shown(items) }),
    ...(type === 'map' && { keys: shown(keys), values: shown(items) }),
  }
}

describe('SimpleHeaderConverter compared with Apache Kafka', () => {
  const converter = simpleHeaderConverter.create({}, UNRESTRICTED)

  it.each((golden as readonly Golden[]).filter(({ header }) => !DIFFERENT.has(header)))(
    'infers the same value as Java from $header',
    (expected) => {
      const header = converter.toConnect('k', Buffer.from(expected.header))
      expect(shown(header.schema)).toEqual(expected.schema)
      expect(javaText(header.value, header.schema)).toBe(expected.javaText)
      expect(String(converter.fromConnect(header))).toBe(expected.out)
    },
  )

  it('preserves null, and reads the text null as null', () => {
    expect(converter.toConnect('k', null)).toEqual({ key: 'k', schema: null, value: null })
    expect(converter.toConnect('k', Buffer.from(' null '))).toEqual({ key: 'k', schema: null, value: null })
    expect(converter.fromConnect({ key: 'k', schema: null, value: null })).toBeNull()
  })

  it('reads times leniently, as Java does, and years before 100', () => {
    const read = (text: string) => converter.toConnect('k', Buffer.from(text)).value
    expect(read('2024-13-01T25:00:00.000Z')).toEqual(new Date('2025-01-02T01:00:00Z'))
    expect(read('0050-02-03')).toEqual(new Date('0050-02-03'))
  })

  it('reads text that is nested too deeply or a number that is too large as a string', () => {
    // A pattern that needs the square of the time would take a minute for the digits.
    for (const text of ['['.repeat(100_000), '1e999999999', `${'1'.repeat(200_000)}x`, `${'1.1'.repeat(100_000)}x`]) {
      expect(converter.toConnect('k', Buffer.from(text))).toEqual({ key: 'k', schema: STRING, value: text })
    }
  })
})
