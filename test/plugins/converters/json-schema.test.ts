import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRegistryClient } from '../../../src/clients/registry-client.ts'
import { jsonSchemaConverter } from '../../../src/plugins/converters/json-schema/json-schema-converter.ts'
import {
  type ConverterInstance,
  decimal,
  FLOAT32,
  INT32,
  INT64,
  map,
  optional,
  parseConfig,
  type RawConfig,
  type Schema,
  STRING,
  struct,
  TIMESTAMP,
  UNRESTRICTED,
} from '../../../src/sdk/index.ts'
import { propertyRuns } from '../../support/property-seed.ts'
import { startTestRegistry, type TestRegistry } from '../../support/registry.ts'
import { anyStruct } from './arbitrary-data.ts'

let registry: TestRegistry
beforeAll(async () => {
  registry = await startTestRegistry()
})
afterAll(() => registry.stop())

const converter = (config: RawConfig = {}): ConverterInstance => {
  const raw = { 'schema.registry.url': registry.url, ...config }
  return jsonSchemaConverter.create(parseConfig(jsonSchemaConverter.config, raw), { ...UNRESTRICTED, isKey: false })
}
const client = () => createRegistryClient({ url: registry.url })
const write = async (topic: string, schema: Schema, value: unknown, config: RawConfig = {}) =>
  converter(config).fromConnect(topic, schema, value) as Promise<Buffer>
const registered = async (topic: string) => JSON.parse((await client().latest(`${topic}-value`)).schema) as unknown

/** Data that others wrote with a schema of theirs, in the wire format. */
async function foreign(topic: string, schema: object, value: unknown, references: readonly object[] = []) {
  const { id } = await client().register(`${topic}-value`, {
    schemaType: 'JSON',
    schema: JSON.stringify(schema),
    references: references as never,
  })
  return Buffer.concat([Buffer.from([0, 0, 0, 0, id]), Buffer.from(JSON.stringify(value))])
}

const order = struct('shop.Order', { id: INT32, note: optional(STRING), price: decimal(2), at: TIMESTAMP })
const value = { id: 7, note: null, price: { unscaled: 1234n, scale: 2 }, at: new Date(5) }

describe('JsonSchemaConverter', () => {
  it('registers the schema with connect.* members, and writes the schema id and JSON', async () => {
    const bytes = await write('orders', order, value, { 'decimal.format': 'NUMERIC' })
    expect(await registered('orders')).toEqual({
      title: 'shop.Order',
      type: 'object',
      properties: {
        id: { type: 'integer', 'connect.type': 'int32', 'connect.index': 0 },
        note: { oneOf: [{ type: 'null' }, { type: 'string' }], 'connect.index': 1 },
        price: {
          title: 'org.apache.kafka.connect.data.Decimal',
          type: 'number',
          'connect.type': 'bytes',
          'connect.version': 1,
          'connect.parameters': { scale: '2' },
          'connect.index': 2,
        },
        at: {
          title: 'org.apache.kafka.connect.data.Timestamp',
          type: 'integer',
          'connect.type': 'int64',
          'connect.version': 1,
          'connect.index': 3,
        },
      },
    })
    expect(bytes[0]).toBe(0)
    expect(bytes.subarray(5).toString()).toBe('{"id":7,"note":null,"price":12.34,"at":5}')
    expect(await converter().toConnect('orders', bytes)).toEqual({ schema: { ...order, version: 1 }, value })
  })

  it('reads back random data that it wrote', async () => {
    let topics = 0
    await fc.assert(
      fc.asyncProperty(anyStruct, async ({ schema, value: given }) => {
        topics += 1
        const checks = { 'json.fail.invalid.schema': 'true' }
        const bytes = await write(`any-${topics}`, schema, given, checks)
        const read = await converter(checks).toConnect(`any-${topics}`, bytes)
        expect(read).toEqual({ schema: { ...schema, version: 1 }, value: given })
      }),
      { numRuns: propertyRuns(20) },
    )
  }, 60_000)

  it('supports object.additional.properties and use.optional.for.nonrequired', async () => {
    const config = { 'use.optional.for.nonrequired': 'true', 'object.additional.properties': 'false' }
    const bytes = await write('closed', struct('C', { id: INT64, note: optional(STRING) }), { id: 1 }, config)
    expect(await registered('closed')).toMatchObject({ additionalProperties: false })
    const { schema } = await converter(config).toConnect('closed', bytes)
    expect(schema?.fields?.map((field) => field.schema.optional ?? false)).toEqual([true, true])
  })

  it('writes maps whose keys are not strings as arrays of entries', async () => {
    const schema = struct('M', { byId: map(INT32, FLOAT32) })
    const bytes = await write('maps', schema, { byId: new Map([[1, 0.5]]) })
    expect(bytes.subarray(5).toString()).toBe('{"byId":[{"key":1,"value":0.5}]}')
    expect((await converter().toConnect('maps', bytes)).value).toEqual({ byId: new Map([[1, 0.5]]) })
  })

  it('reads schemas of other producers: references, unions, enums, required members', async () => {
    await client().register('address', {
      schemaType: 'JSON',
      schema: JSON.stringify({ title: 'Address', type: 'object', properties: { city: { type: 'string' } } }),
    })
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      title: 'Person',
      description: 'somebody',
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', default: 'nobody' },
        age: { type: ['integer', 'null'] },
        color: { enum: ['red', 'blue'] },
        home: { $ref: 'address.json' },
        id: { oneOf: [{ type: 'integer' }, { type: 'string' }] },
        tags: { type: 'object', additionalProperties: { type: 'number' } },
        both: { allOf: [{ type: 'object', properties: { a: { type: 'boolean' } } }, { $ref: '#/definitions/B' }] },
      },
      definitions: { B: { type: 'object', properties: { b: { type: 'array', items: { type: 'integer' } } } } },
    }
    const data = {
      name: 'Ada',
      age: null,
      color: 'red',
      home: { city: 'L' },
      id: 'x',
      tags: { t: 1.5 },
      both: { a: true, b: [1] },
    }
    const reference = { name: 'address.json', subject: 'address', version: 1 }
    const bytes = await foreign('people', schema, data, [reference])
    const config = { 'use.optional.for.nonrequired': 'true', 'json.fail.invalid.schema': 'true' }
    const read = await converter(config).toConnect('people', bytes)
    const choice = 'io.confluent.connect.json.OneOf'
    expect(read.value).toEqual({
      ...data,
      id: { [`${choice}.field.0`]: null, [`${choice}.field.1`]: 'x' },
      tags: new Map([['t', 1.5]]),
    })
    expect(read.schema).toMatchObject({ name: 'Person', doc: 'somebody', version: 1 })
    const types = read.schema?.fields?.map((field) => [field.name, field.schema.type, field.schema.optional ?? false])
    expect(types?.sort()).toEqual([
      ['age', 'int64', true],
      ['both', 'struct', true],
      ['color', 'string', true],
      ['home', 'struct', true],
      ['id', 'struct', true],
      ['name', 'string', false],
      ['tags', 'map', true],
    ])
    // Written again, each choice is what it was.
    const again = await write('people-2', read.schema!, read.value, config)
    expect(JSON.parse(again.subarray(5).toString())).toEqual(data)
  })

  it('reads defaults and enums with numbers that are not exact in JavaScript', async () => {
    const schema = `{"type":"object","properties":{
      "a":{"type":"integer","default":9223372036854775807},
      "b":{"type":"number","title":"org.apache.kafka.connect.data.Decimal","connect.type":"bytes","connect.version":1,
        "connect.parameters":{"scale":"20","other":5},"default":0.12345678901234567891},
      "c":{"enum":[9007199254740993,0.12345678901234567891]}}}`
    const { id } = await client().register('exact-value', { schemaType: 'JSON', schema })
    const read = await converter().toConnect(
      'exact',
      Buffer.concat([Buffer.from([0, 0, 0, 0, id]), Buffer.from('{"c":"x"}')]),
    )
    expect(read.value).toEqual({ a: 2n ** 63n - 1n, b: { unscaled: 12345678901234567891n, scale: 20 }, c: 'x' })
    const parameters = new Map(read.schema?.fields?.map(({ name, schema: own }) => [name, own.parameters]))
    expect(parameters.get('b')).toEqual({ scale: '20' })
    expect(Object.keys(parameters.get('c') ?? {})).toEqual([
      'io.confluent.connect.json.Enum',
      'io.confluent.connect.json.Enum.9007199254740993',
      'io.confluent.connect.json.Enum.0.12345678901234567891',
    ])
  })

  it('supports use.latest.version and subject name strategies', async () => {
    const config = { 'auto.register.schemas': 'false', 'use.latest.version': 'true' }
    const latest = {
      title: 'shop.Order',
      type: 'object',
      properties: { id: { type: 'integer', 'connect.type': 'int32' } },
    }
    const { id } = await client().register('latest-value', { schemaType: 'JSON', schema: JSON.stringify(latest) })
    const bytes = await write('latest', struct('shop.Order', { id: INT32 }), { id: 1 }, config)
    expect(bytes.readInt32BE(1)).toBe(id)
    await write('named', order, value, { 'value.subject.name.strategy': 'RecordNameStrategy' })
    expect(await client().subjects()).toContain('shop.Order')
  })

  it.each<[string, () => Promise<unknown>, RegExp]>([
    [
      'data that is not valid for the schema',
      async () => refused({ 'json.fail.invalid.schema': 'true' }),
      /is not valid for its schema/,
    ],
    ['data of a different type', async () => refused({}), /expected string, got/],
    ['a recursive schema', async () => circular(), /recursive JSON schemas/],
    ['values without a schema', async () => converter().fromConnect('t', null, { a: 1 }), /requires a schema/],
  ])('throws a DataError for %s', async (_what, run, message) => {
    await expect((async () => run())()).rejects.toMatchObject({ code: 'data', message: expect.stringMatching(message) })
  })
})

async function refused(config: RawConfig): Promise<unknown> {
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  return converter(config).toConnect('refused', await foreign('refused', schema, { a: 1 }))
}

async function circular(): Promise<unknown> {
  const schema = { title: 'L', type: 'object', properties: { next: { $ref: '#' } } }
  return converter().toConnect('circular', await foreign('circular', schema, {}))
}
