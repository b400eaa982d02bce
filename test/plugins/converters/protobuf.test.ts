import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRegistryClient } from '../../../src/clients/registry-client.ts'
import { protobufConverter } from '../../../src/plugins/converters/protobuf/protobuf-converter.ts'
import {
  array,
  BOOLEAN,
  BYTES,
  type ConverterInstance,
  DATE,
  decimal,
  FLOAT32,
  FLOAT64,
  INT8,
  INT32,
  INT64,
  int64,
  map,
  optional,
  parseConfig,
  type RawConfig,
  type Schema,
  STRING,
  struct,
  TIME,
  TIMESTAMP,
  UNRESTRICTED,
} from '../../../src/sdk/index.ts'
import { frameIndexes } from '../../../src/serde/wire-format.ts'
import { propertyRuns } from '../../support/property-seed.ts'
import { startTestRegistry, type TestRegistry } from '../../support/registry.ts'

let registry: TestRegistry
beforeAll(async () => {
  registry = await startTestRegistry()
})
afterAll(() => registry.stop())

const converter = (config: RawConfig = {}): ConverterInstance => {
  const raw = { 'schema.registry.url': registry.url, ...config }
  return protobufConverter.create(parseConfig(protobufConverter.config, raw), { ...UNRESTRICTED, isKey: false })
}
const client = () => createRegistryClient({ url: registry.url })
const write = async (topic: string, schema: Schema, value: unknown, config: RawConfig = {}) =>
  converter(config).fromConnect(topic, schema, value) as Promise<Buffer>

/** Data that others wrote with a file of theirs, in the wire format. */
async function foreign(topic: string, schema: string, indexes: readonly number[], data: string) {
  const { id } = await client().register(`${topic}-value`, { schemaType: 'PROTOBUF', schema })
  return Buffer.concat([Buffer.from([0, 0, 0, 0, id]), frameIndexes(indexes), Buffer.from(data, 'hex')])
}

const order = struct('shop.Order', {
  id: INT32,
  total: decimal(2),
  lines: array(struct('shop.Line', { sku: STRING, count: INT64 })),
  tags: map(STRING, FLOAT64),
  at: optional(TIMESTAMP),
})
const value = {
  id: 7,
  total: { unscaled: 1234n, scale: 2 },
  lines: [{ sku: 'a', count: 2n ** 60n }],
  tags: new Map([['x', 0.5]]),
  at: new Date('2026-01-02T03:04:05.006Z'),
}

describe('ProtobufConverter', () => {
  it('registers a message for a struct, and writes the schema id, the message index and the data', async () => {
    const bytes = await write('orders', order, value)
    const { schema, id } = await client().latest('orders-value')
    expect(schema).toBe(`syntax = "proto3";
package shop;

import "confluent/type/decimal.proto";
import "google/protobuf/timestamp.proto";

message Order {
  int32 id = 1;
  confluent.type.Decimal total = 2 [(confluent.field_meta) = {
    params: [
      {
        value: "2",
        key: "scale"
      }
    ]
  }];
  repeated Line lines = 3;
  repeated ConnectDefault1Entry tags = 4;
  google.protobuf.Timestamp at = 5;

  message Line {
    string sku = 1;
    int64 count = 2;
  }
  message ConnectDefault1Entry {
    string key = 1;
    double value = 2;
  }
}
`)
    // The zero byte and the id, then: the first message of the file, its field 1, which is 7.
    expect(bytes.toString('hex')).toMatch(new RegExp(`^00${id.toString(16).padStart(8, '0')}000807`))
    const read = await converter().toConnect('orders', bytes)
    expect(read.value).toEqual(value)
    expect(read.schema).toMatchObject({ type: 'struct', name: 'Order', version: 1 })
  })

  it('reads back random data that it wrote', async () => {
    const kinds: readonly (readonly [Schema, fc.Arbitrary<unknown>])[] = [
      [INT8, fc.integer({ min: -128, max: 127 })],
      [INT32, fc.integer()],
      [INT64, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(int64)],
      [FLOAT32, fc.float({ noNaN: true })],
      [FLOAT64, fc.double({ noNaN: true })],
      [BOOLEAN, fc.boolean()],
      [STRING, fc.string()],
      [BYTES, fc.uint8Array().map((bytes) => Buffer.from(bytes))],
      [decimal(3), fc.bigInt({ min: -(2n ** 90n), max: 2n ** 90n }).map((unscaled) => ({ unscaled, scale: 3 }))],
      [DATE, fc.integer({ min: -30_000, max: 60_000 }).map((day) => new Date(day * 86_400_000))],
      [TIME, fc.integer({ min: 0, max: 86_399_999 })],
      [TIMESTAMP, fc.date({ noInvalidDate: true })],
      [array(INT64), fc.array(fc.maxSafeInteger())],
      [map(INT32, STRING), fc.array(fc.tuple(fc.integer(), fc.string())).map((pairs) => new Map(pairs))],
      [struct('Inner', { a: STRING, b: optional(INT32) }), fc.record({ a: fc.string(), b: fc.option(fc.integer()) })],
    ]
    const config = { 'optional.for.nullables': 'true', 'enhanced.protobuf.schema.support': 'true' }
    const schema = struct('all.Kinds', Object.fromEntries(kinds.map(([kind], index) => [`f${index}`, kind])))
    const nullable = struct(
      'all.Nulls',
      Object.fromEntries(kinds.map(([kind], index) => [`f${index}`, optional(kind)])),
    )
    const values = fc.record(Object.fromEntries(kinds.map(([, arbitrary], index) => [`f${index}`, arbitrary])))
    const instance = converter(config)
    await fc.assert(
      fc.asyncProperty(values, async (given) => {
        const bytes = await instance.fromConnect('kinds', schema, given)
        expect((await instance.toConnect('kinds', bytes)).value).toEqual({ ...given })
        const present = await instance.fromConnect('nulls', nullable, given)
        expect((await instance.toConnect('nulls', present)).value).toEqual({ ...given })
      }),
      { numRuns: propertyRuns(60) },
    )
  }, 60_000)

  it('distinguishes null from zero for optional and wrapped fields', async () => {
    const schema = struct('N', { n: optional(INT32), s: optional(STRING) })
    const read = async (topic: string, config: RawConfig) =>
      (await converter(config).toConnect(topic, await write(topic, schema, { n: null, s: null }, config))).value
    expect(await read('plain', {})).toEqual({ n: 0, s: '' })
    expect(await read('optionals', { 'optional.for.nullables': 'true' })).toEqual({ n: null, s: null })
    expect(await read('wrappers', { 'wrapper.for.nullables': 'true' })).toEqual({ n: null, s: null })
    expect((await client().latest('optionals-value')).schema).toContain('optional int32 n = 1;')
    expect((await client().latest('wrappers-value')).schema).toContain('google.protobuf.StringValue s = 2;')
    const kept = await write('wrappers', schema, { n: 5, s: '' }, { 'wrapper.for.nullables': 'true' })
    expect((await converter().toConnect('wrappers', kept)).value).toEqual({ n: 5, s: '' })
  })

  it('reads schemas of other producers: enums, oneofs, nested messages', async () => {
    const file = `syntax = "proto3"; package p;
      message Outer {
        message Inner { Color color = 1; oneof id { string name = 2; int32 number = 3; } uint64 big = 4; }
        enum Color { RED = 0; BLUE = 1; }
      }`
    const bytes = await foreign('others', file, [0, 0], '0801180720ffffffffffffffff7f')
    const read = await converter().toConnect('others', bytes)
    expect(read.value).toEqual({ color: 'BLUE', big: 2n ** 63n - 1n, id_0: { name: null, number: 7 } })
    expect(read.schema?.fields?.[1]?.schema.parameters).toMatchObject({
      'io.confluent.connect.protobuf.Enum': 'Color',
      'io.confluent.connect.protobuf.Enum.BLUE': '1',
    })
    const numbers = await converter({ 'int.for.enums': 'true', 'generate.index.for.unions': 'false' }).toConnect(
      'others',
      bytes,
    )
    expect(numbers.value).toMatchObject({ color: 1, id: { number: 7 } })
    // Written again, with a schema made of what was read: the same choice, the same word.
    const config = { 'generate.index.for.unions': 'false' }
    const named = await converter(config).toConnect('others', bytes)
    const again = await write('others-2', named.schema!, named.value, config)
    expect((await converter(config).toConnect('others-2', again)).value).toEqual(named.value)
  })

  it('supports use.latest.version and subject name strategies', async () => {
    const { id } = await client().register('latest-value', {
      schemaType: 'PROTOBUF',
      schema: 'syntax = "proto3"; message First { int32 a = 1; } message Order { string source = 1; int32 id = 9; }',
    })
    const config = {
      'auto.register.schemas': 'false',
      'use.latest.version': 'true',
      'latest.compatibility.strict': 'false',
    }
    const bytes = await write('latest', struct('Order', { id: INT32 }), { id: 3 }, config)
    expect(bytes.readInt32BE(1)).toBe(id)
    expect((await converter().toConnect('latest', bytes)).value).toEqual({ source: '', id: 3 })
    await write('named', order, value, { 'value.subject.name.strategy': 'TopicRecordNameStrategy' })
    expect(await client().subjects()).toContain('named-shop.Order')
  })

  it.each<[string, Schema | null, unknown, RegExp]>([
    ['a value without a schema', null, { a: 1 }, /requires a schema/],
    ['a date outside of a struct', DATE, new Date(0), /supports structs and primitives, not .*Date/],
    [
      'a list of lists',
      struct('L', { l: array(array(INT32)) }),
      { l: [[1]] },
      /does not support arrays as items of a list/,
    ],
    [
      'a value that is not valid for its schema',
      struct('V', { n: INT32 }),
      { n: 'x' },
      /expected int32|expected an integer/,
    ],
    ['a field with an invalid name', struct('W', { 'a-b': INT32 }), { 'a-b': 1 }, /a-b|expected/i],
  ])('throws a DataError for %s', async (_what, schema, given, message) => {
    await expect((async () => converter().fromConnect('bad', schema, given))()).rejects.toMatchObject({
      code: 'data',
      message: expect.stringMatching(message),
    })
  })

  it('rejects a chain of messages that each have two fields of the next one, because the Connect schema grows exponentially', {
    tags: ['slow'],
  }, async () => {
    const messages = Array.from({ length: 40 }, (_, at) => `message M${at} { M${at + 1} a = 1; M${at + 1} b = 2; }`)
    const bytes = await foreign('twice', `syntax = "proto3"; ${messages.join('\n')} message M40 {}`, [0], '')
    await expect(async () => converter().toConnect('twice', bytes)).rejects.toMatchObject({
      message: expect.stringContaining('has more than 100000 fields'),
    })
  })

  it('rejects recursive messages', async () => {
    const bytes = await foreign('lists', 'syntax = "proto3"; message L { L next = 1; }', [0], '')
    await expect((async () => converter().toConnect('lists', bytes))()).rejects.toMatchObject({
      code: 'data',
      message: expect.stringMatching(/'L' is recursive/),
    })
  })
})
