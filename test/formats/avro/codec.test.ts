import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { avroFormat, type ParsedAvro } from '../../../src/formats/avro/avro-format.ts'
import { avroCodec } from '../../../src/formats/avro/codec.ts'

const schemaOf = (json: unknown) => (avroFormat.parse({ text: JSON.stringify(json) }) as ParsedAvro).schema
const long = schemaOf('long')

describe('avroCodec', () => {
  it('decodes longs exactly, as numbers if these are exact', () => {
    const { encode, decode } = avroCodec(long)
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
        expect(BigInt(decode(encode(value)) as number | bigint)).toBe(value)
      }),
    )
    expect(decode(encode(2 ** 53 - 1))).toBe(2 ** 53 - 1)
    expect(decode(encode(5n))).toBe(5)
  })

  it('decodes longs exactly near the limits of exact doubles', () => {
    const { encode, decode } = avroCodec(long)
    for (const edge of [-(2n ** 53n), -(2n ** 52n), 2n ** 52n, 2n ** 53n]) {
      for (let value = edge - 3n; value <= edge + 3n; value++) {
        expect(BigInt(decode(encode(value)) as number | bigint)).toBe(value)
        expect(encode(Number.isSafeInteger(Number(value)) ? Number(value) : value)).toEqual(encode(value))
      }
    }
  })

  it('preserves all keys of a map, including __proto__', () => {
    const { encode, decode } = avroCodec(schemaOf({ type: 'map', values: 'string' }))
    const value = Object.fromEntries([...'abc', '__proto__'].map((key) => [key, `of ${key}`]))
    expect(Object.entries(decode(encode(value)) as object)).toEqual(Object.entries(value))
  })

  it('encodes the examples of the specification', () => {
    const pair = schemaOf({
      type: 'record',
      name: 'T',
      fields: [
        { name: 'a', type: 'long' },
        { name: 'b', type: 'string' },
      ],
    })
    expect(Buffer.from(avroCodec(pair).encode({ a: 27, b: 'foo' })).toString('hex')).toBe('3606666f6f')
  })

  it('represents a union value as an object with the name of its branch', () => {
    const union = schemaOf(['null', 'string', { type: 'record', name: 'n.R', fields: [] }])
    const { encode, decode } = avroCodec(union)
    for (const value of [null, { string: 'x' }, { 'n.R': {} }]) {
      expect(JSON.parse(JSON.stringify(decode(encode(value))))).toEqual(value)
    }
  })

  it('resolves data to a reader schema: adds defaults, omits unknown fields, and accepts another namespace', () => {
    const writer = schemaOf({
      type: 'record',
      name: 'old.R',
      fields: [
        { name: 'a', type: 'int' },
        { name: 'gone', type: 'string' },
      ],
    })
    const reader = schemaOf({
      type: 'record',
      name: 'new.R',
      fields: [
        { name: 'a', type: 'double' },
        { name: 'b', type: ['null', 'int'], default: null },
      ],
    })
    const bytes = avroCodec(writer).encode({ a: 3, gone: 'x' })
    expect({ ...(avroCodec(writer, { reader }).decode(bytes) as object) }).toEqual({ a: 3, b: null })
  })

  it('throws an error for values, bytes and schemas that are not valid', () => {
    expect(() => avroCodec(long).encode('x')).toThrow('the value is not valid for its schema')
    expect(() => avroCodec(schemaOf('string')).decode(Buffer.from([200]))).toThrow(
      'the bytes are not valid for their schema',
    )
    expect(() => avroCodec(schemaOf('string'), { reader: long })).toThrow('the schema cannot be compiled')
  })
})

describe('Avro names that are also members of Object.prototype', () => {
  const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '__defineGetter__']
  const parsed = (text: string) => (avroFormat.parse({ text }) as ParsedAvro).schema
  const value = (text: string) => JSON.parse(text) as Record<string, unknown>

  it.each(NAMES)('are valid field names: %s', (name) => {
    const text = `{"type":"record","name":"R","fields":[{"name":"${name}","type":"string"},{"name":"a","type":"int"}]}`
    const schema = parsed(text)
    const sent = value(`{"${name}":"x","a":1}`)
    const bytes = avroCodec(schema).encode(sent)
    expect(JSON.stringify(avroCodec(schema).decode(bytes))).toBe(JSON.stringify(sent))
    const reader = parsed(text.replace('"string"', '["null","string"],"default":null').replace('"int"', '"long"'))
    expect(JSON.stringify(avroCodec(schema, { reader, unions: 'plain' }).decode(bytes))).toBe(JSON.stringify(sent))
    const added = avroCodec(parsed('{"type":"record","name":"R","fields":[]}'), { reader: parsed(WITH_DEFAULT(name)) })
    expect(JSON.stringify(added.decode(new Uint8Array()))).toBe(`{"${name}":"d"}`)
    expect(() => avroCodec(schema).encode({ a: 1 })).toThrow('the value is not valid for its schema')
  })

  it.each(NAMES)('are valid enum symbols and type names: %s', (name) => {
    const codec = avroCodec(parsed(`{"type":"enum","name":"${name}","symbols":["A","${name}"]}`))
    expect(codec.decode(codec.encode(name))).toBe(name)
    const other = avroCodec(parsed('{"type":"enum","name":"E","symbols":["A","B"]}'))
    expect(() => other.encode(name)).toThrow('the value is not valid for its schema')
  })

  it.each(NAMES)('are compared and printed like other names: %s', (name) => {
    const text = `{"type":"record","name":"R","fields":[{"name":"${name}","type":"string"}]}`
    expect([avroFormat.parse({ text }).canonical, avroFormat.parse({ text }).fields]).toEqual([text, [name]])
    const empty = avroFormat.parse({ text: '{"type":"record","name":"R","fields":[]}' })
    const found = avroFormat.parse({ text }).incompatibilities(empty, { roles: { reader: 'new', writer: 'old' } })
    expect(found.map(({ type }) => type)).toEqual(['READER_FIELD_MISSING_DEFAULT_VALUE'])
  })
})

const WITH_DEFAULT = (name: string) =>
  `{"type":"record","name":"R","fields":[{"name":"${name}","type":"string","default":"d"}]}`
