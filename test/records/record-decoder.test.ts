import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRegistryClient, type RegistryClient } from '../../src/clients/registry-client.ts'
import { payloadText, RecordDecoder, type RecordDecoderOptions } from '../../src/records/record-decoder.ts'
import { createSerializer, type SchemaDefinition } from '../../src/serde/serde.ts'
import { startTestRegistry, type TestRegistry } from '../support/registry.ts'

let running: TestRegistry
let registry: RegistryClient
beforeAll(async () => {
  running = await startTestRegistry()
  registry = createRegistryClient({ url: running.url })
})
afterAll(() => running.stop())

const bytesOf = async (topic: string, schema: SchemaDefinition, value: unknown, validate = true): Promise<Buffer> =>
  (await createSerializer({ registry: { url: running.url }, schema, validate }).serialize(topic, value)) as Buffer
const decoded = async (value: Buffer | string | null, options: RecordDecoderOptions = { registry }) =>
  (
    await new RecordDecoder(options).decode({
      key: null,
      value: typeof value === 'string' ? Buffer.from(value) : value,
      headers: [],
    })
  ).value

const ORDER: SchemaDefinition = {
  type: 'AVRO',
  text: JSON.stringify({
    type: 'record',
    name: 'Order',
    namespace: 'shop',
    fields: [
      { name: 'id', type: 'long' },
      { name: 'email', type: ['null', 'string'], 'confluent:tags': ['PII'] },
      { name: 'raw', type: 'bytes' },
      {
        name: 'home',
        'confluent:tags': ['PII'],
        type: { type: 'record', name: 'Address', fields: [{ name: 'street', type: 'string' }] },
      },
      { name: 'shares', type: { type: 'array', items: 'double' } },
    ],
  }),
}
const VALUE = {
  id: 9_007_199_254_740_993n,
  email: 'a@b',
  raw: Buffer.of(0, 255),
  home: { street: 'Elm' },
  shares: [0.5, Number.NaN],
}
const ORDER_JSON: SchemaDefinition = {
  type: 'JSON',
  text: JSON.stringify({
    type: 'object',
    properties: {
      id: { type: 'integer' },
      person: { type: 'object', 'confluent:tags': ['PII'], properties: { name: { type: 'string' } } },
    },
  }),
}
const ORDER_PROTO: SchemaDefinition = {
  type: 'PROTOBUF',
  text: `syntax = "proto3";
    package shop;
    import "confluent/meta.proto";
    import "google/protobuf/timestamp.proto";
    message Note { string text = 1; }
    message Order {
      int64 id = 1;
      string email = 2 [(confluent.field_meta).tags = "PII"];
      int32 age = 3 [(confluent.field_meta).tags = "PII"];
      State state = 4;
      google.protobuf.Timestamp at = 5;
      oneof payment { string card = 6 [(confluent.field_meta).tags = "PII"]; bool cash = 7; }
    }
    enum State { OPEN = 0; DONE = 1; }`,
}

describe('a payload with the id of a schema', () => {
  it('of Avro is decoded, with exact longs and bytes as in the JSON encoding of Avro', async () => {
    const shown = await decoded(await bytesOf('avro', ORDER, VALUE))
    expect(shown).toMatchObject({ form: 'json', schema: { id: expect.any(Number), type: 'AVRO' } })
    expect(payloadText(shown)).toBe(
      '{"id":9007199254740993,"email":"a@b","raw":"\u0000ÿ","home":{"street":"Elm"},"shares":[0.5,"NaN"]}'.replace(
        '\u0000',
        '\\u0000',
      ),
    )
  })

  it('of Protobuf is decoded to the JSON of its message', async () => {
    const value = { id: 5n, email: 'a@b', state: 1, at: { seconds: 1n, nanos: 0 } }
    const bytes = await createSerializer({
      registry: { url: running.url },
      schema: ORDER_PROTO,
      message: 'shop.Order',
    }).serialize('proto', value)
    expect((await decoded(bytes)).value).toEqual({
      id: '5',
      email: 'a@b',
      age: 0,
      state: 'DONE',
      at: '1970-01-01T00:00:01Z',
    })
  })

  it('of JSON Schema is decoded, also when it does not match its schema', async () => {
    expect((await decoded(await bytesOf('json', ORDER_JSON, { id: 'x' }, false))).value).toEqual({ id: 'x' })
  })

  it('in a header is decoded with that schema', async () => {
    const bytes = await bytesOf('avro', ORDER, VALUE)
    const record = {
      key: null,
      value: bytes.subarray(5),
      headers: [['__value_schema_id', bytes.subarray(0, 5)]] as const,
    }
    const { value, headers } = await new RecordDecoder({ registry }).decode(record)
    expect(value).toMatchObject({ form: 'json', value: { email: 'a@b' } })
    expect(headers[0]).toMatchObject(['__value_schema_id', { form: 'hex' }])
  })

  it('that cannot be decoded is shown as bytes, with the reason', async () => {
    const unknown = Buffer.of(0, 0, 0, 0x7f, 0xff, 1, 2)
    expect(await decoded(unknown)).toMatchObject({
      form: 'hex',
      value: unknown.toString('hex'),
      problem: expect.stringContaining('schema 32767'),
    })
    const cut = (await bytesOf('avro', ORDER, VALUE)).subarray(0, 8)
    expect(await decoded(cut)).toMatchObject({ form: 'hex', schema: { type: 'AVRO' }, problem: expect.any(String) })
    expect(await decoded(cut, {})).toMatchObject({ form: 'hex', problem: expect.stringContaining('no registry') })
  })

  it('that cannot be fetched is requested again only after a while', async () => {
    let nowMs = 0
    let calls = 0
    const failing = { byId: () => Promise.reject(new Error(`call ${++calls}`)) } as unknown as RegistryClient
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
    const decoder = new RecordDecoder({ registry: failing, clock } as unknown as RecordDecoderOptions)
    const record = { key: null, value: Buffer.of(0, 0, 0, 0, 1, 2), headers: [] }
    await decoder.decode(record)
    await decoder.decode(record)
    expect(calls).toBe(1)
    nowMs = 10_000
    await decoder.decode(record)
    expect(calls).toBe(2)
  })
})

describe('a payload without an id', () => {
  it.each([
    [null, { form: 'null', value: null }],
    ['{"a":12345678901234567890}', { form: 'json', value: { a: 12_345_678_901_234_567_890n } }],
    ['[not JSON', { form: 'text', value: '[not JSON' }],
    ['plain\ntext', { form: 'text', value: 'plain\ntext' }],
    ['\u001b[2J', { form: 'hex', value: '1b5b324a' }],
    [Buffer.of(255, 0), { form: 'hex', value: 'ff00' }],
  ])('%j is shown as what it is', async (bytes, expected) => {
    expect(await decoded(bytes)).toEqual(expected)
  })
})

describe('fields with masked tags', () => {
  const masks = (tags: readonly string[]) => tags.includes('PII')

  it('of Avro are masked as a whole, also records', async () => {
    const shown = await decoded(await bytesOf('avro', ORDER, VALUE), { registry, masks })
    expect(shown).toMatchObject({
      value: { id: 9_007_199_254_740_993n, email: '***', home: '***' },
      masked: ['shop.Order.email', 'shop.Order.home'],
    })
  })

  it('by the metadata of the schema are masked', async () => {
    const id = await createRegistryClient({ url: running.url }).register('tagged-value', {
      schema: JSON.stringify({ type: 'record', name: 'P', fields: [{ name: 'ssn', type: 'string' }] }),
      metadata: { tags: { '**.ssn': ['PII'] } },
    })
    const bytes = Buffer.concat([Buffer.of(0, 0, 0, 0, id.id), Buffer.of(2, 0x61)])
    expect((await decoded(bytes, { registry, masks })).value).toEqual({ ssn: '***' })
  })

  it('of Protobuf are masked or cleared, so that the message stays valid', async () => {
    const value = { id: 5n, email: 'a@b', age: 7, payment: { case: 'card', value: '4111' } }
    const bytes = await createSerializer({
      registry: { url: running.url },
      schema: ORDER_PROTO,
      message: 'shop.Order',
    }).serialize('proto', value)
    expect((await decoded(bytes, { registry, masks })).value).toEqual({
      id: '5',
      email: '***',
      age: 0,
      state: 'OPEN',
      card: '***',
    })
  })

  it('of JSON Schema are masked; data that does not match its schema is withheld', async () => {
    const bytes = await bytesOf('json', ORDER_JSON, { id: 1, person: { name: 'Ann', other: 'x' } })
    expect((await decoded(bytes, { registry, masks })).value).toEqual({ id: 1, person: '***' })
    const wrong = await bytesOf('json', ORDER_JSON, { id: 'x', person: { name: 'Ann' } }, false)
    expect(await decoded(wrong, { registry, masks })).toMatchObject({ form: 'withheld', value: null })
  })

  it.each([
    [
      'a pattern',
      { patternProperties: { '^s': { 'confluent:tags': ['PII'] } } },
      { ssn: '1', id: 1 },
      { ssn: '***', id: 1 },
    ],
    [
      'any other name',
      { properties: { id: {} }, additionalProperties: { 'confluent:tags': ['PII'] } },
      { id: 1, ssn: '1' },
      { id: 1, ssn: '***' },
    ],
    [
      'a reference',
      { $defs: { s: { 'confluent:tags': ['PII'] } }, properties: { ssn: { $ref: '#/$defs/s' } } },
      { ssn: '1' },
      { ssn: '***' },
    ],
    [
      'a reference of other names',
      {
        $defs: { p: { properties: { ssn: { 'confluent:tags': ['PII'] } } } },
        additionalProperties: { $ref: '#/$defs/p' },
      },
      { a: { ssn: '1', id: 1 } },
      { a: { ssn: '***', id: 1 } },
    ],
    [
      'a property beside a reference',
      { $defs: { p: { type: 'object' } }, $ref: '#/$defs/p', properties: { ssn: { 'confluent:tags': ['PII'] } } },
      { ssn: '1' },
      { ssn: '***' },
    ],
    [
      'a branch that does not fit',
      { anyOf: [{ required: ['x'], properties: { ssn: { 'confluent:tags': ['PII'] } } }, {}] },
      { ssn: '1' },
      { ssn: '***' },
    ],
    [
      'a condition',
      JSON.parse('{"if":{},"then":{"properties":{"ssn":{"confluent:tags":["PII"]}}}}'),
      { ssn: '1' },
      { ssn: '***' },
    ],
    [
      'the items of a tuple',
      { properties: { list: { type: 'array', prefixItems: [{}, { 'confluent:tags': ['PII'] }] } } },
      { list: [1, '1'] },
      { list: [1, '***'] },
    ],
    [
      'the items of a list',
      { properties: { list: { items: { properties: { ssn: { 'confluent:tags': ['PII'] } } } } } },
      { list: [{ ssn: '1' }] },
      { list: [{ ssn: '***' }] },
    ],
    ['the whole object', { type: 'object', 'confluent:tags': ['PII'] }, { ssn: '1' }, '***'],
    [
      'a name like that of a prototype',
      { properties: JSON.parse('{"__proto__":{"confluent:tags":["PII"]}}') },
      JSON.parse('{"__proto__":"1","id":1}'),
      JSON.parse('{"__proto__":"***","id":1}'),
    ],
  ])('of JSON Schema are masked by %s', async (_, schema, value, expected) => {
    const draft = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema }
    const bytes = await bytesOf(`json-${_}`, { type: 'JSON', text: JSON.stringify(draft) }, value)
    const shown = await decoded(bytes, { registry, masks })
    expect(payloadText(shown)).toBe(JSON.stringify(expected))
    expect(shown.masked).not.toEqual([])
  })

  it('are those of a tagged record or message as well', async () => {
    const text = JSON.stringify({
      type: 'record',
      name: 'R',
      fields: [
        { name: 'id', type: 'int' },
        {
          name: 'home',
          type: {
            type: 'record',
            name: 'Home',
            'confluent:tags': ['PII'],
            fields: [{ name: 'street', type: 'string' }],
          },
        },
        { name: 'homes', type: { type: 'array', items: 'Home' } },
      ],
    })
    const value = { id: 1, home: { street: 'Elm' }, homes: [{ street: 'Oak' }] }
    const shown = await decoded(await bytesOf('tagged-record', { type: 'AVRO', text }, value), { registry, masks })
    expect(shown).toMatchObject({ form: 'json', value: { id: 1, home: '***', homes: ['***'] } })
    const proto = `syntax = "proto3"; package shop; import "confluent/meta.proto";
      message Home { option (confluent.message_meta).tags = "PII"; string street = 1; }
      message Person { int32 id = 1; Home home = 2; repeated Home homes = 3; map<string, Home> by_name = 4; }`
    const message = (name: string, data: unknown) =>
      createSerializer({
        registry: { url: running.url },
        schema: { type: 'PROTOBUF', text: proto },
        message: name,
      }).serialize(name, data)
    const person = await message('shop.Person', { ...value, byName: { a: { street: 'Fir' } } })
    expect((await decoded(person, { registry, masks })).value).toEqual({ id: 1, homes: [], byName: {} })
    expect(await decoded(await message('shop.Home', { street: 'Elm' }), { registry, masks })).toMatchObject({
      form: 'withheld',
    })
  })

  it('of Protobuf are not shown in an Any or an extension', async () => {
    const text = `syntax = "proto2"; package ext; import "confluent/meta.proto"; import "google/protobuf/any.proto";
      message Secret { optional string ssn = 1 [(confluent.field_meta).tags = "PII"]; }
      message Box { optional google.protobuf.Any any = 1; optional int32 id = 2; extensions 100 to 200; }
      extend Box { optional string ssn = 100 [(confluent.field_meta).tags = "PII"]; }`
    const schema = { type: 'PROTOBUF', text } as const
    const any = { typeUrl: 'type.googleapis.com/ext.Secret', value: Buffer.from('\n\x05123-4') }
    const bytes = await createSerializer({ registry: { url: running.url }, schema, message: 'ext.Box' }).serialize(
      'ext',
      { id: 1, any },
    )
    const withExtension = Buffer.concat([bytes as Buffer, Buffer.from([0xa2, 0x06, 5]), Buffer.from('123-4')])
    const open = JSON.stringify((await decoded(withExtension, { registry })).value)
    expect(open.match(/123-4/g)).toHaveLength(2)
    expect((await decoded(withExtension, { registry, masks })).value).toEqual({ id: 1 })
  })

  it('are in no message about data that does not match its schema', async () => {
    const cut = Buffer.concat([
      (await bytesOf('json', ORDER_JSON, { id: 1 })).subarray(0, 5),
      Buffer.from('{"id": 123-45-6789'),
    ])
    const shown = await decoded(cut, { registry, masks })
    expect(shown).toMatchObject({ form: 'withheld', value: null })
    expect(shown.problem).toBe('its fields cannot be masked, because it does not match its schema')
  })

  it('are not shown of a payload that is too long to be decoded', async () => {
    const options = { registry, masks, bytesMax: 10 }
    const bytes = await bytesOf('avro', ORDER, VALUE)
    expect(await decoded(bytes, options)).toMatchObject({
      form: 'withheld',
      problem: expect.stringContaining('10 bytes'),
    })
    expect(await decoded('a text that is too long', options)).toMatchObject({
      form: 'text',
      value: 'a text that is too long',
    })
    expect(await decoded(bytes, { registry, bytesMax: 10 })).toMatchObject({ form: 'hex' })
  })

  it('are withheld with the rest when the schema cannot be found', async () => {
    const bytes = await bytesOf('avro', ORDER, VALUE)
    expect(await decoded(bytes, { masks })).toMatchObject({ form: 'withheld', value: null })
    expect(payloadText(await decoded(bytes, { masks }))).toBe('***')
  })
})
