import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { avroConverter } from '../../../src/plugins/converters/avro/avro-converter.ts'
import {
  type Field,
  INT32,
  map,
  optional,
  parseConfig,
  type Schema,
  STRING,
  struct,
  UNRESTRICTED,
} from '../../../src/sdk/index.ts'
import { startTestRegistry, type TestRegistry } from '../../support/registry.ts'

let registry: TestRegistry
beforeAll(async () => {
  registry = await startTestRegistry()
})
beforeEach(() => registry.reset())
afterAll(() => registry.stop())

type Options = Readonly<Record<string, string>>
const converter = (options: Options) =>
  avroConverter.create(parseConfig(avroConverter.config, { 'schema.registry.url': registry.url, ...options }), {
    ...UNRESTRICTED,
    isKey: false,
  })
/** What is in the registry for it, and what is read of that. */
async function throughAvro(schema: Schema, value: unknown, options: Options) {
  const bytes = (await converter(options).fromConnect('t', schema, value)) as Buffer
  const { body } = await registry.call('GET', '/subjects/t-value/versions/latest')
  const avro = JSON.parse((body as { schema: string }).schema) as Record<string, unknown>
  return { bytes, avro, read: await converter(options).toConnect('t', bytes) }
}

/** What is read of bytes that were written with an Avro schema. */
async function fromAvro(schema: unknown, hex: string, options: Options) {
  const { body } = await registry.call('POST', '/subjects/t-value/versions', { schema: JSON.stringify(schema) })
  const id = (body as { id: number }).id.toString(16).padStart(8, '0')
  return converter(options).toConnect('t', Buffer.from(`00${id}${hex}`, 'hex'))
}

const fieldOf = ({ schema }: { schema: Schema | null }, name: string) =>
  schema?.fields?.find((field: Field) => field.name === name)?.schema

describe('scrub.invalid.names', () => {
  const line = struct('my-shop.Order*Line', { 'a-b': INT32, '1st': STRING, 'ü.': optional(STRING) })
  const value = { 'a-b': 1, '1st': 'x', 'ü.': null }

  it('encodes invalid names like Java, including the name of the record', async () => {
    const outer = struct('9 a', { line, again: line, lines: map(INT32, line) })
    const given = { line: value, again: value, lines: new Map([[1, value]]) }
    const { avro, read } = await throughAvro(outer, given, { 'scrub.invalid.names': 'true' })
    expect(avro).toMatchObject({
      name: 'x9_a',
      'connect.name': '9 a',
      fields: [
        {
          type: {
            name: 'Order_Line',
            namespace: 'my_shop',
            fields: [{ name: 'a_b' }, { name: 'x1st' }, { name: '_C3_BC_', default: null }],
          },
        },
        { type: 'my_shop.Order_Line' },
        {},
      ],
    })
    const scrubbed = { a_b: 1, x1st: 'x', _C3_BC_: null }
    expect(read.value).toEqual({ line: scrubbed, again: scrubbed, lines: new Map([[1, scrubbed]]) })
    expect(fieldOf(read, 'line')?.name).toBe('my-shop.Order*Line')
  })

  it('uses the encoded names in defaults and in unions', async () => {
    const inner = { ...line, default: { 'a-b': 7, '1st': 'y', 'ü.': null } }
    const { read } = await throughAvro(
      struct('S', { one: optional(inner) }),
      { one: value },
      { 'scrub.invalid.names': 'true' },
    )
    expect(read.value).toEqual({ one: { a_b: 1, x1st: 'x', _C3_BC_: null } })
    expect(fieldOf(read, 'one')?.default).toEqual({ a_b: 7, x1st: 'y', _C3_BC_: null })
  })

  it('rejects invalid names if it is disabled', async () => {
    await expect((async () => converter({}).fromConnect('t', line, value))()).rejects.toMatchObject({ code: 'data' })
  })
})

describe('allow.optional.map.keys', () => {
  const counts = map(optional(STRING), INT32)
  const value = new Map([['a', 1]])

  it('writes a map with optional keys as an Avro map', async () => {
    expect((await throughAvro(counts, value, {})).avro).toMatchObject({ type: 'array' })
    registry.reset()
    const { avro, read } = await throughAvro(counts, value, { 'allow.optional.map.keys': 'true' })
    expect(avro).toEqual({ type: 'map', values: 'int' })
    expect(read.value).toEqual(value)
  })

  it('rejects null as a key', async () => {
    const write = converter({ 'allow.optional.map.keys': 'true' })
    await expect((async () => write.fromConnect('t', counts, new Map([[null, 1]])))()).rejects.toMatchObject({
      code: 'data',
      message: 'expected string, got null',
    })
  })
})

describe('ignore.default.for.nullables', () => {
  const schema = struct('S', { n: optional({ ...INT32, default: 5 }), m: { ...INT32, default: 6 } })

  it.each([
    ['false', { n: 5, m: 6 }],
    ['true', { n: null, m: 6 }],
  ])('with the value %s writes nulls as %o', async (ignore, expected) => {
    const { read } = await throughAvro(schema, { n: null, m: null }, { 'ignore.default.for.nullables': ignore })
    expect(read.value).toEqual(expected)
  })
})

describe('discard.type.doc.default', () => {
  const avro = {
    type: 'record',
    name: 'R',
    doc: 'of the record',
    fields: [
      { name: 'n', type: { type: 'int', 'connect.doc': 'of Connect' }, doc: 'of the field', default: 3 },
      { name: 'e', type: { type: 'enum', name: 'E', doc: 'of the enum', symbols: ['A'], default: 'A' } },
      { name: 'o', type: ['null', 'string'], doc: 'of the optional' },
    ],
  }
  const on = { 'discard.type.doc.default': 'true', 'enhanced.avro.schema.support': 'true' }

  it('reads the documentation of fields instead of types, and ignores the default of an enum', async () => {
    const read = await fromAvro(avro, '060000', on)
    expect(read.schema).toMatchObject({ doc: 'of the record', parameters: { 'connect.record.doc': 'of the record' } })
    expect(fieldOf(read, 'n')).toMatchObject({ doc: 'of the field', default: 3 })
    expect(fieldOf(read, 'n')?.parameters).toBeUndefined()
    expect(fieldOf(read, 'o')).toMatchObject({ doc: 'of the optional', optional: true })
    expect(fieldOf(read, 'e')).toMatchObject({ doc: 'of the enum' })
    expect(fieldOf(read, 'e')?.parameters).toEqual({
      'connect.enum.doc': 'of the enum',
      'connect.record.doc': 'of the enum',
      'io.confluent.connect.avro.Enum': 'E',
      'io.confluent.connect.avro.Enum.A': 'A',
    })
    const otherwise = await fromAvro(avro, '060000', {})
    expect(fieldOf(otherwise, 'n')).toMatchObject({ doc: 'of Connect' })
    expect(fieldOf(otherwise, 'e')?.doc).toBeUndefined()
  })

  it('preserves the documentation of fields in the Avro schema', async () => {
    const { schema, value } = await fromAvro(avro, '060000', on)
    registry.reset()
    const written = await throughAvro(schema!, value, on)
    expect(written.avro).toMatchObject({
      doc: 'of the record',
      fields: [
        { name: 'n', doc: 'of the field', default: 3, type: { 'connect.default': 3 } },
        { name: 'e', doc: 'of the enum', type: { type: 'enum', doc: 'of the enum', symbols: ['A'] } },
        { name: 'o', doc: 'of the optional' },
      ],
    })
  })
})

it('preserves the default of a field if the default of its type is discarded', async () => {
  const parameters = { 'io.confluent.connect.avro.field.default': 'true' }
  const schema = struct('S', { n: { ...INT32, default: 1, parameters } })
  const on = await throughAvro(schema, { n: 1 }, { 'discard.type.doc.default': 'true' })
  expect(on.avro).toMatchObject({ fields: [{ type: { 'connect.default': 1, 'connect.parameters': parameters } }] })
  registry.reset()
  const off = await throughAvro(schema, { n: 1 }, {})
  expect(off.avro).toMatchObject({ fields: [{ type: 'int', default: 1 }] })
})

describe('generalized.sum.type.support', () => {
  const on = { 'generalized.sum.type.support': 'true' }
  const avro = {
    type: 'record',
    name: 'R',
    fields: [
      { name: 'u', type: ['int', 'null', 'string'] },
      { name: 'v', type: ['long', { type: 'enum', name: 'E', symbols: ['B', 'A'] }] },
    ],
  }

  it('reads unions and enums with the names that are common to all formats', async () => {
    const read = await fromAvro(avro, '0402780202', on)
    expect(read.value).toEqual({ u: { connect_union_field_2: 'x' }, v: { connect_union_field_1: 'A' } })
    expect(fieldOf(read, 'u')).toMatchObject({
      name: 'connect_union_0',
      optional: true,
      parameters: { 'org.apache.kafka.connect.data.Union': 'connect_union_0' },
      fields: [{ name: 'connect_union_field_0' }, { name: 'connect_union_field_2' }],
    })
    expect(fieldOf(read, 'v')?.name).toBe('connect_union_1')
    expect(fieldOf(read, 'v')?.fields?.[1]?.schema.parameters).toEqual({
      'org.apache.kafka.connect.data.Enum': 'E',
      'org.apache.kafka.connect.data.Enum.B': '0',
      'org.apache.kafka.connect.data.Enum.A': '1',
    })
  })

  it('writes them as Avro unions and enums', async () => {
    const { schema, value } = await fromAvro(avro, '0402780202', on)
    registry.reset()
    const { avro: written, read } = await throughAvro(schema!, value, on)
    expect(written['fields']).toMatchObject([
      { type: ['null', 'int', 'string'] },
      { type: ['long', { type: 'enum', name: 'E', symbols: ['B', 'A'] }] },
    ])
    expect(read.value).toEqual({ u: { connect_union_field_2: 'x' }, v: { connect_union_field_1: 'A' } })
  })
})

describe('flatten.singleton.unions', () => {
  it('reads a union with a single branch as that branch or as a struct', async () => {
    expect(await fromAvro(['int'], '0006', {})).toEqual({ schema: INT32, value: 3 })
    const kept = await fromAvro(['int'], '0006', { 'flatten.singleton.unions': 'false' })
    expect(kept).toMatchObject({ schema: { name: 'io.confluent.connect.avro.Union' }, value: { int: 3 } })
  })
})

describe('Avro fixed', () => {
  const avro = {
    type: 'record',
    name: 'R',
    fields: [
      { name: 'a', type: { type: 'fixed', name: 'x.Two', size: 2 } },
      { name: 'b', type: ['null', 'x.Two'], default: null },
      { name: 'd', type: { type: 'fixed', name: 'x.Money', size: 3, logicalType: 'decimal', precision: 5 } },
    ],
  }

  it('is read as bytes with its name and size as parameters, and written as the same fixed', async () => {
    const read = await fromAvro(avro, '0102020304ffff85', {})
    const money = { unscaled: -123n, scale: 0 }
    expect(read.value).toEqual({ a: Buffer.from([1, 2]), b: Buffer.from([3, 4]), d: money })
    expect(fieldOf(read, 'a')).toMatchObject({
      type: 'bytes',
      name: 'x.Two',
      parameters: { 'connect.fixed.size': '2' },
    })
    registry.reset()
    const { avro: written, bytes } = await throughAvro(read.schema!, read.value, {})
    expect(bytes.subarray(5).toString('hex')).toBe('0102020304ffff85')
    expect(written['fields']).toMatchObject([
      { type: { type: 'fixed', name: 'Two', namespace: 'x', size: 2 } },
      { type: ['null', 'x.Two'] },
      { type: { type: 'fixed', size: 3, logicalType: 'decimal', scale: 0, precision: 5 } },
    ])
  })

  it('rejects bytes with a different length', async () => {
    const { schema } = await fromAvro(avro, '010200000001', {})
    const value = { a: Buffer.from([1]), b: null, d: { unscaled: 1n, scale: 0 } }
    await expect((async () => converter({}).fromConnect('t', schema, value))()).rejects.toMatchObject({ code: 'data' })
  })
})
