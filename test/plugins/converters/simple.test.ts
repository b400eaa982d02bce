import { describe, expect, it } from 'vitest'
import { javaText } from '../../../src/java-compat/text.ts'
import { simpleHeaderConverter } from '../../../src/plugins/converters/simple-header/converter.ts'
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

  it('passes text through', () => {
    expect(converter().fromConnect('t', STRING, 'zwö €')).toEqual(Buffer.from('zwö €'))
    expect(converter().toConnect('t', Buffer.from('zwö €'))).toEqual({ schema: OPTIONAL_STRING, value: 'zwö €' })
  })

  it('keeps nulls', () => {
    expect(converter().fromConnect('t', OPTIONAL_STRING, null)).toBeNull()
    expect(converter().toConnect('t', null)).toEqual({ schema: OPTIONAL_STRING, value: null })
  })

  it('writes other values as Java would', () => {
    expect(String(converter().fromConnect('t', struct('S', { id: INT64 }), { id: 7 }))).toBe('Struct{id=7}')
  })

  it('knows other encodings and refuses unknown ones', () => {
    const latin = converter({ 'converter.encoding': 'iso-8859-1' })
    expect(latin.fromConnect('t', STRING, 'ö')).toEqual(Buffer.from([0xf6]))
    expect(() => converter({ 'converter.encoding': 'EBCDIC' })).toThrow('expected one of UTF-8')
  })
})

type Golden = { readonly header: string; readonly schema: unknown; readonly javaText: string; readonly out: string }

/** Where Weir differs on purpose: text and why. */
const DIFFERENT = new Map([
  ['123456789.123456789', 'Java 17 writes more digits than a float has'],
  ['[2147483648,1.5]', 'the same'],
  ['0000-00-00', 'before the Gregorian calendar'],
  ['9999-99-99', 'a year of five digits'],
  ['[1,2019-08-23]', 'Java takes 1 for a day'],
  ['[2019-08-23,2019-08-23T14:34:54.346Z]', 'Java takes a date for a timestamp'],
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

describe('SimpleHeaderConverter, beside the original', () => {
  const converter = simpleHeaderConverter.create({}, UNRESTRICTED)

  it.each((golden as readonly Golden[]).filter(({ header }) => !DIFFERENT.has(header)))(
    'sees $header as Java does',
    (expected) => {
      const header = converter.toConnect('k', Buffer.from(expected.header))
      expect(shown(header.schema)).toEqual(expected.schema)
      expect(javaText(header.value, header.schema)).toBe(expected.javaText)
      expect(String(converter.fromConnect(header))).toBe(expected.out)
    },
  )

  it('keeps nulls, and reads the word null as one', () => {
    expect(converter.toConnect('k', null)).toEqual({ key: 'k', schema: null, value: null })
    expect(converter.toConnect('k', Buffer.from(' null '))).toEqual({ key: 'k', schema: null, value: null })
    expect(converter.fromConnect({ key: 'k', schema: null, value: null })).toBeNull()
  })

  it('takes what is nested too deep or far too large for text', () => {
    for (const text of ['['.repeat(100_000), '1e999999999']) {
      expect(converter.toConnect('k', Buffer.from(text))).toEqual({ key: 'k', schema: STRING, value: text })
    }
  })
})
