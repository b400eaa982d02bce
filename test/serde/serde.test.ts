import { create, toBinary } from '@bufbuild/protobuf'
import { TimestampSchema } from '@bufbuild/protobuf/wkt'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRegistryClient, type RegistryClient } from '../../src/clients/registry-client.ts'
import {
  createDeserializer,
  createSerializer,
  type DeserializerOptions,
  type SchemaDefinition,
  type SerializerOptions,
} from '../../src/serde/serde.ts'
import { startTestRegistry, type TestRegistry } from '../support/registry.ts'

let running: TestRegistry
let client: RegistryClient
beforeAll(async () => {
  running = await startTestRegistry()
  client = createRegistryClient({ url: running.url })
})
afterAll(() => running.stop())

const serializer = (options: Omit<SerializerOptions, 'registry'>) =>
  createSerializer({ registry: { url: running.url }, ...options })
const deserializer = (options: Omit<DeserializerOptions, 'registry'> = {}) =>
  createDeserializer({ registry: { url: running.url }, ...options })
const through = async (topic: string, options: Omit<SerializerOptions, 'registry'>, value: unknown) =>
  deserializer({ validate: true }).deserialize(await serializer(options).serialize(topic, value))

const avro = (schema: object): SchemaDefinition => ({ type: 'AVRO', text: JSON.stringify(schema) })
const ORDER = avro({
  type: 'record',
  name: 'Order',
  namespace: 'shop',
  fields: [
    { name: 'id', type: 'long' },
    { name: 'note', type: ['null', 'string'], default: null },
    { name: 'tags', type: { type: 'map', values: 'int' }, default: {} },
  ],
})
const ORDER_JSON: SchemaDefinition = {
  type: 'JSON',
  text: '{"title":"Order","type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":false}',
}
const SHOP: SchemaDefinition = {
  type: 'PROTOBUF',
  text: `syntax = "proto3";
    package shop;
    import "google/protobuf/timestamp.proto";
    message Order {
      int64 id = 1;
      oneof payment { string card = 2; bool cash = 3; }
      repeated Line lines = 4;
      map<string, double> prices = 5;
      google.protobuf.Timestamp at = 6;
      optional int32 count = 7;
      message Line { string sku = 1; State state = 2; message Part { bytes data = 1; } }
    }
    message Refund { string reason = 1; }
    enum State { OPEN = 0; DONE = 1; }`,
}

describe('values', () => {
  it.each([
    { id: 1, note: null, tags: {} },
    { id: 2 ** 52, note: 'ok', tags: { a: 1 } },
    { id: -9_007_199_254_740_993n, note: null, tags: {} },
  ])('of Avro are restored, with exact longs and plain unions: %o', async (value) => {
    expect(await through('avro', { schema: ORDER }, value)).toEqual(value)
  })

  it('of an ambiguous Avro union name their branch', async () => {
    const schema = avro(['int', 'double'])
    expect(await through('open', { schema }, { double: 1 })).toEqual({ double: 1 })
    await expect(through('open', { schema }, 'x')).rejects.toMatchObject({ code: 'invalid_data' })
  })

  it('of JSON are restored and validated against the schema', async () => {
    expect(await through('json', { schema: ORDER_JSON }, { id: 7 })).toEqual({ id: 7 })
    await expect(through('json', { schema: ORDER_JSON }, { id: 'x' })).rejects.toMatchObject({
      code: 'invalid_data',
      message: expect.stringContaining('#/id must be integer'),
    })
    const bytes = await serializer({ schema: ORDER_JSON, validate: false }).serialize('json', { id: 'x' })
    expect(await deserializer().deserialize(bytes)).toEqual({ id: 'x' })
    await expect(deserializer({ validate: true }).deserialize(bytes)).rejects.toMatchObject({ code: 'invalid_data' })
  })

  it('of Protobuf are restored with every kind of field', async () => {
    const value = {
      id: 9_007_199_254_740_993n,
      payment: { case: 'cash', value: true },
      lines: [{ sku: 'a', state: 1 }],
      prices: { a: 1.5 },
      at: create(TimestampSchema, { seconds: 5n }),
      count: 0,
    }
    expect(await through('proto', { schema: SHOP }, value)).toMatchObject(value)
    expect(await through('proto', { schema: SHOP }, {})).toMatchObject({
      id: 0n,
      lines: [],
      payment: { case: undefined },
    })
    for (const wrong of [{ id: 'x' }, { nothing: 1 }, { $typeName: 'shop.Refund', reason: '' }, 5]) {
      await expect(through('proto', { schema: SHOP }, wrong)).rejects.toMatchObject({ code: 'invalid_data' })
    }
  })

  it('that are null (tombstones) stay null', async () => {
    expect(await serializer({ schema: ORDER }).serialize('t', null)).toBeNull()
    expect(await deserializer().deserialize(null)).toBeNull()
  })
})

describe('the wire format', () => {
  const guidHead = (guid: string) => Buffer.from(`01${guid.replaceAll('-', '')}`, 'hex')

  it('is a zero byte, the ID and the data', async () => {
    const bytes = await serializer({ schema: avro({ type: 'string' }) }).serialize('frames', 'ok')
    const { id } = await client.latest('frames-value')
    expect(bytes?.toString('hex')).toBe(`00${id.toString(16).padStart(8, '0')}046f6b`)
  })

  it.each([
    ['shop.Order', '00', [0]],
    ['shop.Refund', '0202', [1]],
    ['shop.Order.Line', '040000', [0, 0]],
    ['shop.Order.Line.Part', '06000000', [0, 0, 0]],
  ])('identifies the Protobuf message by zigzag indexes: %s', async (message, indexes) => {
    const bytes = await serializer({ schema: SHOP, message }).serialize('indexes', {})
    expect(bytes?.toString('hex', 5)).toBe(indexes)
    expect(await deserializer().deserialize(bytes)).toMatchObject({ $typeName: message })
  })

  it.each([
    ['before the data', (guid: string, data: Buffer) => [Buffer.concat([guidHead(guid), data]), {}] as const],
    ['in a header', (guid: string, data: Buffer) => [data, { __value_schema_id: guidHead(guid) }] as const],
    [
      'in the last of several headers',
      (guid: string, data: Buffer) =>
        [data, { other: 'x', __value_schema_id: ['x', guidHead(guid).toString('latin1')] }] as const,
    ],
  ])('can have a GUID instead of the ID, %s', async (_, record) => {
    const { guid = '' } = await client.register('guids-value', { schema: '"string"' })
    const [bytes, headers] = record(guid, Buffer.from('046f6b', 'hex'))
    expect(await deserializer().deserialize(bytes, headers)).toBe('ok')
  })

  it('has the indexes of a Protobuf message after the GUID', async () => {
    const framed = await serializer({ schema: SHOP, message: 'shop.Refund' }).serialize('guid', { reason: 'late' })
    const { guid = '' } = await client.byId(framed?.readInt32BE(1) ?? 0)
    const [indexes, data] = [framed?.subarray(5, 7) ?? '', framed?.subarray(7) ?? Buffer.of()]
    const headers = { __key_schema_id: Buffer.concat([guidHead(guid), Buffer.from(indexes)]) }
    const value = { $typeName: 'shop.Refund', reason: 'late' }
    expect(await deserializer({ isKey: true }).deserialize(data, headers)).toMatchObject(value)
    // The header of a key does not apply to a value.
    await expect(deserializer().deserialize(data, headers)).rejects.toMatchObject({ code: 'not_framed' })
  })

  it('reports an unknown GUID', async () => {
    const bytes = guidHead('00000000-0000-0000-0000-000000000000')
    await expect(deserializer().deserialize(bytes)).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('Schema 00000000-0000-0000-0000-000000000000 not found'),
    })
  })

  it('supports indexes of more than one byte', async () => {
    const names = Array.from({ length: 80 }, (_, at) => `message M${at} { int32 f = 1; }`)
    const schema: SchemaDefinition = { type: 'PROTOBUF', text: `syntax = "proto3"; ${names.join(' ')}` }
    const bytes = await serializer({ schema, message: 'M79' }).serialize('many', { f: 3 })
    expect(bytes?.toString('hex', 5)).toBe('029e010803')
    expect(await deserializer().deserialize(bytes)).toMatchObject({ $typeName: 'M79', f: 3 })
  })

  it('equals the encoding of another Protobuf library', async () => {
    const schema: SchemaDefinition = {
      type: 'PROTOBUF',
      text: 'syntax = "proto3"; message Timestamp { int64 seconds = 1; int32 nanos = 2; }',
    }
    const value = { seconds: -5n, nanos: 7 }
    const bytes = await serializer({ schema }).serialize('stamps', value)
    expect(bytes?.subarray(6)).toEqual(Buffer.from(toBinary(TimestampSchema, create(TimestampSchema, value))))
  })

  it.each([
    ['an empty payload', ''],
    ['JSON without a prefix', '7b7d'],
    ['a truncated prefix', '000000'],
  ])('is required: %s is rejected with not_framed', async (_, hex) => {
    await expect(deserializer().deserialize(Buffer.from(hex, 'hex'))).rejects.toMatchObject({ code: 'not_framed' })
  })

  it.each(['ff', '80', '8080808080', 'fe01', '0404'])(
    'is required: the message indexes %s are rejected',
    async (hex) => {
      const bytes = await serializer({ schema: SHOP }).serialize('indexes', {})
      const wrong = Buffer.concat([bytes!.subarray(0, 5), Buffer.from(hex, 'hex')])
      await expect(deserializer().deserialize(wrong)).rejects.toMatchObject({
        code: expect.stringMatching(/not_framed|invalid_data/),
      })
    },
  )
})

describe('subjects', () => {
  it.each<[SerializerOptions['subjectName'], string]>([
    ['TopicName', 'named-value'],
    ['RecordName', 'shop.Order'],
    ['TopicRecordName', 'named-shop.Order'],
    [(topic, record) => `${record}@${topic}`, 'shop.Order@named'],
  ])('are named by the strategy %s', async (subjectName, subject) => {
    await serializer({ schema: ORDER, ...(subjectName && { subjectName }) }).serialize('named', {
      id: 1,
      note: null,
      tags: {},
    })
    expect(await client.subjects()).toContain(subject)
  })

  it('of keys differ from those of values, and use the name of the Protobuf message', async () => {
    await serializer({ schema: avro({ type: 'int' }), isKey: true }).serialize('keyed', 1)
    await serializer({ schema: SHOP, message: 'shop.Refund', subjectName: 'RecordName' }).serialize('keyed', {})
    expect(await client.subjects()).toEqual(expect.arrayContaining(['keyed-key', 'shop.Refund']))
    const nameless = serializer({ schema: avro({ type: 'int' }), subjectName: 'RecordName' })
    await expect(nameless.serialize('keyed', 1)).rejects.toMatchObject({ code: 'nameless' })
  })
})

describe('schemas', () => {
  it('are registered once by concurrent calls', async () => {
    const one = serializer({ schema: avro({ type: 'bytes' }) })
    const before = running.written.length
    await Promise.all(Array.from({ length: 20 }, () => one.serialize('once', Buffer.of(1))))
    expect(running.written.length - before).toBe(1)
  })

  it('are not registered with the policy look-up', async () => {
    const options = { schema: avro({ type: 'float' }), policy: 'look-up' } as const
    await expect(serializer(options).serialize('closed', 1)).rejects.toMatchObject({ code: 'refused' })
    const { id } = await client.register('closed-value', { schema: '"float"' })
    expect((await serializer(options).serialize('closed', 1))?.readInt32BE(1)).toBe(id)
  })

  it('can be the latest version of the subject with the policy use-latest', async () => {
    const latest = { type: 'record', name: 'R', fields: [{ name: 'a', type: 'int' }] }
    const { id } = await client.register('latest-value', { schema: JSON.stringify(latest) })
    const bytes = await serializer({ policy: 'use-latest' }).serialize('latest', { a: 1 })
    expect(bytes?.readInt32BE(1)).toBe(id)
    const compatible = serializer({ policy: 'use-latest', schema: avro(latest) })
    expect(await compatible.serialize('latest', { a: 1 })).toEqual(bytes)
    for (const schema of [avro({ type: 'string' }), ORDER_JSON]) {
      const incompatible = serializer({ policy: 'use-latest', schema })
      await expect(incompatible.serialize('latest', 'x')).rejects.toMatchObject({ code: 'incompatible' })
    }
    const lenient = serializer({ policy: 'use-latest', schema: avro({ type: 'string' }), strict: false })
    expect(await lenient.serialize('latest', { a: 1 })).toEqual(bytes)
    expect(() => serializer({})).toThrow('the policy auto-register requires a schema')
  })

  const WITH_REFERENCES: readonly [SchemaDefinition, unknown][] = [
    [
      {
        ...avro({ type: 'record', name: 'Outer', fields: [{ name: 'inner', type: 'x.Middle' }] }),
        references: [
          {
            name: 'x.Middle',
            text: '{"type":"record","name":"x.Middle","fields":[{"name":"leaf","type":"x.Leaf"}]}',
            references: [
              { name: 'x.Leaf', subject: 'leaves', text: '{"type":"enum","name":"x.Leaf","symbols":["A","B"]}' },
            ],
          },
        ],
      },
      { inner: { leaf: 'B' } },
    ],
    [
      {
        type: 'JSON',
        text: '{"$id":"http://x/outer.json","type":"object","properties":{"inner":{"$ref":"inner.json"}}}',
        references: [{ name: 'inner.json', text: '{"type":"string","maxLength":3}' }],
      },
      { inner: 'abc' },
    ],
    [
      {
        type: 'PROTOBUF',
        text: 'syntax = "proto3"; import "inner.proto"; message Outer { inner.Inner inner = 1; }',
        references: [{ name: 'inner.proto', text: 'syntax = "proto3"; package inner; message Inner { int32 f = 1; }' }],
      },
      { inner: { f: 3 } },
    ],
  ]
  it.each(WITH_REFERENCES)(
    'are registered with the schemas that they reference: %o',
    { tags: ['slow'] },
    async (schema, value) => {
      const topic = `referring-${schema.type}`
      expect(await through(topic, { schema }, value)).toMatchObject(value as object)
      const { references } = await client.latest(`${topic}-value`)
      expect(references).toMatchObject([{ name: schema.references?.[0]?.name, version: 1 }])
      // References with a version need no registration.
      const known = { ...schema, references: references! }
      expect(await through(topic, { schema: known, policy: 'look-up' }, value)).toMatchObject(value as object)
      expect(await through(topic, { schema, policy: 'look-up' }, value)).toMatchObject(value as object)
    },
  )

  it('validate values against referenced schemas', async () => {
    const [, [schema]] = WITH_REFERENCES as readonly [unknown, readonly [SchemaDefinition, unknown]]
    await expect(through('referring-JSON', { schema }, { inner: 'abcd' })).rejects.toMatchObject({
      code: 'invalid_data',
    })
  })

  it('that are soft-deleted can be read with their soft-deleted references', async () => {
    const [[schema, value]] = WITH_REFERENCES as readonly [readonly [SchemaDefinition, unknown], ...unknown[]]
    const bytes = await serializer({ schema }).serialize('gone', value)
    // The schemas of other tests refer to the same ones.
    const referring = (await client.subjects()).filter((subject) => /^(?:gone|referring-AVRO)-value$/.test(subject))
    for (const subject of referring) await client.deleteSubject(subject)
    for (const subject of ['x.Middle', 'leaves']) await client.deleteSubject(subject)
    expect(await deserializer().deserialize(bytes)).toMatchObject(value as object)
  })

  it('of a reader convert values to the reader’s fields', async () => {
    const bytes = await serializer({ schema: ORDER }).serialize('read', { id: 3, note: 'x', tags: {} })
    const fields = [
      { name: 'id', type: 'double' },
      { name: 'source', type: 'string', default: 'web' },
    ]
    const readerSchema = avro({ type: 'record', name: 'Order', namespace: 'shop', fields })
    expect(await deserializer({ readerSchema }).deserialize(bytes)).toEqual({ id: 3, source: 'web' })
    await expect(deserializer({ readerSchema: avro({ type: 'string' }) }).deserialize(bytes)).rejects.toMatchObject({
      code: 'invalid_schema',
    })
  })

  it('of another format than the expected one are rejected', async () => {
    const bytes = await serializer({ schema: ORDER_JSON }).serialize('json', { id: 1 })
    await expect(deserializer({ type: 'AVRO' }).deserialize(bytes)).rejects.toMatchObject({ code: 'wrong_format' })
  })

  it('cause different errors if they are invalid, unknown, or the registry is unavailable', async () => {
    await expect(serializer({ schema: { type: 'AVRO', text: 'x' } }).serialize('t', 1)).rejects.toMatchObject({
      code: 'invalid_schema',
    })
    await expect(deserializer().deserialize(Buffer.from('000000ffff00', 'hex'))).rejects.toMatchObject({
      code: 'refused',
      message: 'schema 65535: Schema 65535 not found',
    })
    const unreachable = createSerializer({ registry: { url: 'http://127.0.0.1:1' }, schema: ORDER })
    await expect(unreachable.serialize('t', {})).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('are evicted from the caches and loaded again', async () => {
    const one = serializer({ schema: avro({ type: 'boolean' }), subjectsMax: 2 })
    for (const topic of ['a', 'b', 'c', 'a']) expect(await one.serialize(topic, true)).toHaveLength(6)
    const reader = deserializer({ schemasMax: 1 })
    const frames = [
      await one.serialize('a', true),
      await serializer({ schema: ORDER_JSON }).serialize('json', { id: 1 }),
    ]
    for (const bytes of [...frames, ...frames]) expect(await reader.deserialize(bytes)).toBeDefined()
  })
})
