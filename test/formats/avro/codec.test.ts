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

describe('data that is resolved to a reader schema', () => {
  const record = (type: unknown, more: object = {}) => ({
    type: 'record',
    name: 'R',
    fields: [{ name: 'a', type, ...more }],
  })
  const parsed = (text: string) => (avroFormat.parse({ text }) as ParsedAvro).schema
  const empty = schemaOf({ type: 'record', name: 'R', fields: [] })
  const resolved = (writer: unknown, reader: unknown, value: unknown) => {
    const codec = avroCodec(schemaOf(writer), { reader: schemaOf(reader), unions: 'plain' })
    return codec.decode(codec.encode(value))
  }

  it.each<[string, unknown, unknown, unknown, unknown]>([
    ['long as double', 'long', -(2n ** 60n), 'double', -(2 ** 60)],
    ['long as float', 'long', -(2n ** 60n) + 1n, 'float', -(2 ** 60)],
    ['int as long', 'int', -7, 'long', -7],
    ['int as float', 'int', 2 ** 24 + 1, 'float', 2 ** 24],
    ['float as double', 'float', 0.5, 'double', 0.5],
    ['string as bytes', 'string', 'é', 'bytes', Buffer.from('é')],
    ['bytes as string', 'bytes', Buffer.from('é'), 'string', 'é'],
    ['int as a branch', 'int', 5, ['null', 'double', 'string'], 5],
    ['the same type before others', 'int', 5, ['double', 'int'], { int: 5 }],
    ['a branch without a union', ['null', 'string'], 'x', 'string', 'x'],
    ['int as double rather than as float', 'int', 5, ['float', 'double'], { double: 5 }],
    ['int as float if there is no other number', 'int', 5, ['null', 'float'], 5],
    [
      'a record with another name',
      { type: 'record', name: 'R', fields: [{ name: 'a', type: 'int' }] },
      { a: 5 },
      ['null', { type: 'record', name: 'S', fields: [{ name: 'a', type: 'long' }] }],
      { a: 5 },
    ],
    [
      'a record with the same name before others',
      { type: 'record', name: 'n.R', fields: [] },
      {},
      ['S', 'x.R', 'n.R', 'T'].map((name) => ({ type: 'record', name, fields: [] })),
      { 'n.R': {} },
    ],
    ['a branch that the reader has, of others', ['int', 'boolean', 'string'], 'x', ['string', 'null'], 'x'],
  ])('is promoted and matched as in Java: %s', (_, writer, value, reader, result) => {
    expect(resolved(writer, reader, value)).toEqual(result)
  })

  it('is rejected if it has a union branch or an enum symbol that the reader schema does not have', () => {
    expect(() => resolved(['int', 'string'], 'string', 5)).toThrow('cannot read int as string')
    const words = (...symbols: readonly string[]) => ({ type: 'enum', name: 'E', symbols })
    expect(resolved(words('A', 'B'), words('A'), 'A')).toBe('A')
    expect(() => resolved(words('A', 'B'), words('A'), 'B')).toThrow('E has no symbol B and no default')
    expect(resolved(words('A', 'B'), { ...words('A'), default: 'A' }, 'B')).toBe('A')
    expect(() => avroCodec(schemaOf(['int', 'long']), { reader: schemaOf('string') })).toThrow(
      'cannot read int as string',
    )
  })

  it.each<[string, string, string, unknown]>([
    ['of the second branch', '["null","string"]', '"x"', 'x'],
    ['of a branch in an array', '{"type":"array","items":["null","string"]}', '["x",null]', ['x', null]],
    ['of an ambiguous branch', '["int","double"]', '1.5', { double: 1.5 }],
    ['beyond 2^53', '"long"', '9223372036854775807', 2n ** 63n - 1n],
    ['that is not a number', '"double"', '"NaN"', Number.NaN],
    ['that is infinite', '"float"', '"-Infinity"', Number.NEGATIVE_INFINITY],
    ['of bytes', '"bytes"', '"\\u00ff"', Buffer.of(255)],
    [
      'of a map with the key __proto__',
      '{"type":"map","values":"int"}',
      '{"__proto__":1}',
      JSON.parse('{"__proto__":1}'),
    ],
    [
      'of a record without all fields',
      '{"type":"record","name":"N","fields":[{"name":"x","type":"int","default":1},{"name":"y","type":"int"}]}',
      '{"y":2}',
      { x: 1, y: 2 },
    ],
  ])('gets a default %s', (_, type, text, value) => {
    const reader = parsed(`{"type":"record","name":"R","fields":[{"name":"a","type":${type},"default":${text}}]}`)
    const { decode } = avroCodec(empty, { reader, unions: 'plain' })
    expect(decode(new Uint8Array())).toEqual({ a: value })
  })

  it('shares no default with other data', () => {
    const { decode } = avroCodec(empty, { reader: schemaOf(record({ type: 'array', items: 'int' }, { default: [] })) })
    const [one, other] = [decode(new Uint8Array()), decode(new Uint8Array())] as { a: number[] }[]
    one!.a.push(1)
    expect(other).toEqual({ a: [] })
  })

  it('takes a field of the writer once', () => {
    const fields = [
      { name: 'a', type: 'int' },
      { name: 'b', type: 'int', aliases: ['a'], default: 9 },
    ]
    expect(resolved(record('int'), { type: 'record', name: 'R', fields }, { a: 5 })).toEqual({ a: 5, b: 9 })
  })

  it('is never read by a record that cannot be resolved, also inside another one', () => {
    const tree = (type: unknown) => [
      {
        type: 'record',
        name: 'Tree',
        fields: [
          {
            name: 'leaf',
            type: ['null', { type: 'record', name: 'Leaf', fields: [{ name: 'of', type: ['null', 'Tree'] }] }],
          },
          { name: 'a', type },
        ],
      },
      'Leaf',
    ]
    const codec = avroCodec(schemaOf(tree('int')), { reader: schemaOf(tree('string')) })
    expect(codec.decode(codec.encode({ Leaf: { of: null } }))).toEqual({ Leaf: { of: null } })
    const nested = codec.encode({ Leaf: { of: { Tree: { leaf: null, a: 1 } } } })
    expect(() => codec.decode(nested)).toThrow('cannot read int as string')
  })
})

it('has the same form for a union of int and long, whatever the long is', () => {
  const { encode, decode } = avroCodec(schemaOf(['null', 'int', 'long']), { unions: 'plain' })
  for (const value of [null, { int: 5 }, { long: 5 }, { long: 2n ** 60n }]) expect(decode(encode(value))).toEqual(value)
})

/** Zigzag varints, as Avro writes numbers. */
const varints = (...values: readonly (bigint | number)[]) =>
  Buffer.from(
    values.flatMap((value) => {
      const bytes: number[] = []
      let left = BigInt.asUintN(64, (BigInt(value) << 1n) ^ (BigInt(value) >> 63n))
      for (; left > 127n; left >>= 7n) bytes.push(Number(left & 127n) | 128)
      return [...bytes, Number(left)]
    }),
  )

describe('damaged Avro data', () => {
  const array = (items: unknown) => ({ type: 'array', items })
  const map = (values: unknown) => ({ type: 'map', values })
  const EMPTY = { type: 'record', name: 'Empty', fields: [] }
  const PAIR = { type: 'record', name: 'Pair', fields: ['a', 'b'].map((name) => ({ name, type: ['null', 'Empty'] })) }

  it.each<[string, unknown, Buffer, string]>([
    ['an int beyond 32 bits', 'int', varints(2n ** 31n), 'has a number of more than 32 bits'],
    ['a long of 11 bytes', 'long', Buffer.alloc(11, 255), 'has a number of more than 64 bits'],
    ['a long beyond 64 bits', 'long', Buffer.from([...Array(9).fill(255), 2]), 'has a number of more than 64 bits'],
    ['a boolean of 2', 'boolean', Buffer.of(2), 'has a boolean that is neither 0 nor 1'],
    ['a text of negative length', 'string', varints(-1), 'has the length -1'],
    ['a text that is longer than the data', 'string', varints(2n ** 40n), 'is truncated'],
    ['a branch that does not exist', ['null', 'int'], varints(2), 'has an index of 2 for 2 values'],
    [
      'a symbol that does not exist',
      { type: 'enum', name: 'E', symbols: ['A'] },
      varints(-1),
      'has an index of -1 for 1',
    ],
    ['an array of 2^40 texts', array('string'), varints(2n ** 40n, 0, 0), 'is truncated'],
    ['a map of 2^40 ints', map('int'), varints(2n ** 40n, 0, 0), 'is truncated'],
    ['an array of 2^40 nulls', array('null'), varints(2n ** 40n, 0), 'has too many values without bytes'],
    ['2^40 empty records', array(EMPTY), varints(-(2n ** 40n), 0, 0), 'has too many values without bytes'],
    ['2^40 records of nulls', [EMPTY, array(PAIR)], varints(1, 2n ** 40n, 0, 0, 0, 0, 0), 'is truncated'],
    ['an array with a wrong size', array('int'), varints(-1, 5, 7, 0), 'has a block of another size than it claims'],
    ['data after the value', 'int', varints(1, 2), 'has 1 bytes after its end'],
  ])('is rejected: %s', (_, schema, bytes, problem) => {
    const { decode } = avroCodec(schemaOf(schema))
    expect(() => decode(bytes)).toThrow(`the bytes are not valid for their schema: the data ${problem}`)
  })

  it('is reported for a block with a wrong size, also in a field that the reader schema does not have', () => {
    const reader = schemaOf({ type: 'record', name: 'R', fields: [] })
    const writer = schemaOf({ type: 'record', name: 'R', fields: [{ name: 'a', type: array('int') }] })
    expect(() => avroCodec(writer, { reader }).decode(varints(-1, -2, 0))).toThrow('another size than it claims')
  })

  it('is not assumed for up to 65,536 values without bytes, such as nulls, nor for blocks that state their size', () => {
    expect(avroCodec(schemaOf(array('null'))).decode(varints(1_000, 0))).toHaveLength(1_000)
    expect(avroCodec(schemaOf(array('int'))).decode(varints(-2, 2, 7, 8, 1, 9, 0))).toEqual([7, 8, 9])
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

it('encodes and decodes names with letters that are not ASCII, which Java accepts', () => {
  const word = { type: 'enum', name: 'ä.b.Größe', symbols: ['groß', 'klein'] }
  const record = { type: 'record', name: 'Maß', fields: [{ name: 'größe', type: [word, 'string', 'null'] }] }
  for (const unions of ['wrapped', 'plain'] as const) {
    const { encode, decode } = avroCodec(schemaOf(record), { unions })
    for (const größe of [{ 'ä.b.Größe': 'groß' }, { string: 'x' }, null])
      expect(decode(encode({ größe }))).toEqual({ größe })
    expect(() => encode({ grosse: null })).toThrow('the value is not valid for its schema')
  }
})

it('encodes a type with the name of a primitive type in a namespace', () => {
  const text = { type: 'record', name: 'n.string', fields: [{ name: 'a', type: ['string', 'null', 'n.string'] }] }
  const { encode, decode } = avroCodec(schemaOf(text))
  const value = { a: { 'n.string': { a: { string: 'x' } } } }
  expect(decode(encode(value))).toEqual(value)
})

it('encodes branches and fields with the names that the encoder itself gives to types', () => {
  const inner = { type: 'record', name: 'constructor', fields: [{ name: 'x61__in_avsc', type: 'int' }] }
  const { encode, decode } = avroCodec(schemaOf(['null', 'int', inner]))
  const value = JSON.parse('{"constructor":{"x61__in_avsc":5}}')
  expect(decode(encode(value))).toEqual(value)
})

const WITH_DEFAULT = (name: string) =>
  `{"type":"record","name":"R","fields":[{"name":"${name}","type":"string","default":"d"}]}`
