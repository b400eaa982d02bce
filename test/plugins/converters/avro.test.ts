import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRegistryClient } from '../../../src/clients/registry-client.ts'
import { avroConverter } from '../../../src/plugins/converters/avro/avro-converter.ts'
import {
  type ConverterInstance,
  INT32,
  optional,
  parseConfig,
  type RawConfig,
  type Schema,
  type SchemaAndValue,
  STRING,
  struct,
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

const converter = (config: RawConfig = {}, isKey = false): ConverterInstance =>
  avroConverter.create(parseConfig(avroConverter.config, { 'schema.registry.url': registry.url, ...config }), {
    ...UNRESTRICTED,
    isKey,
  })
const write = async (topic: string, schema: Schema, value: unknown, config: RawConfig = {}) =>
  converter(config).fromConnect(topic, schema, value) as Promise<Buffer>
const subjects = () => createRegistryClient({ url: registry.url }).subjects()

const order = struct('shop.Order', { id: INT32, note: optional(STRING) })

describe('AvroConverter', () => {
  it('registers the schema and writes a zero byte, the schema id and the data', async () => {
    const bytes = await write('frames', order, { id: 5, note: 'ok' })
    const { id, schema } = await createRegistryClient({ url: registry.url }).latest('frames-value')
    expect(schema).toBe(
      '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"int"},' +
        '{"name":"note","type":["null","string"],"default":null}],"connect.name":"shop.Order"}',
    )
    expect(bytes.toString('hex')).toBe(`00${id.toString(16).padStart(8, '0')}0a02046f6b`)
  })

  it('reads back random data that it wrote', async () => {
    // Every run has a schema of its own and none has to fit the one before: a topic each.
    let topics = 0
    await fc.assert(
      fc.asyncProperty(anyStruct, async ({ schema, value }) => {
        topics += 1
        const bytes = await write(`any-${topics}`, schema, value)
        const read = await converter().toConnect(`any-${topics}`, bytes)
        expect(read).toEqual({ schema: { ...schema, version: 1 }, value })
      }),
      { numRuns: propertyRuns(30) },
    )
    // Each run asks a registry over HTTP; a busy machine takes its time.
  }, 60_000)

  it('queries the registry once per schema, and then converts synchronously', async () => {
    const instance = converter()
    const first = instance.fromConnect('once', order, { id: 1 })
    expect(first).toBeInstanceOf(Promise)
    const bytes = (await first) as Buffer
    const before = registry.written.length
    expect(instance.fromConnect('once', order, { id: 2 })).toBeInstanceOf(Uint8Array)
    expect(instance.toConnect('once', bytes)).toBeInstanceOf(Promise)
    await instance.toConnect('once', bytes)
    const { schema, value } = instance.toConnect('once', bytes) as SchemaAndValue
    expect([schema?.name, value]).toEqual(['shop.Order', { id: 1, note: null }])
    expect(registry.written.length).toBe(before)
  })

  it('reads the version of a schema in the subject of each topic', async () => {
    const client = createRegistryClient({ url: registry.url })
    const schema = (...fields: readonly string[]) =>
      JSON.stringify({
        type: 'record',
        name: 'V',
        fields: fields.map((name) => ({ name, type: 'int', default: 0 })),
      })
    await client.register('second-value', { schema: schema('a') })
    const { id } = await client.register('second-value', { schema: schema('a', 'b') })
    expect((await client.register('first-value', { schema: schema('a', 'b') })).id).toBe(id)
    const instance = converter()
    const versions = async () =>
      Promise.all(
        ['first', 'second', 'neither'].map(async (topic) => {
          const { schema: read } = await instance.toConnect(topic, Buffer.from([0, 0, 0, 0, id, 2, 4]))
          return read?.version
        }),
      )
    expect(await versions()).toEqual([1, 2, undefined])
    expect(await versions()).toEqual([1, 2, undefined])
  })

  it('queries the registry once for a schema that it cannot read, and not for each of its records', async () => {
    const client = createRegistryClient({ url: registry.url })
    const unreadable = [
      await client.register('list-value', {
        schema: '{"type":"record","name":"L","fields":[{"name":"n","type":["null","L"]}]}',
      }),
      await client.register('json-value', { schemaType: 'JSON', schema: '{"type":"object"}' }),
    ]
    const instance = converter()
    for (const { id } of unreadable) {
      const bytes = Buffer.from([0, 0, 0, 0, id, 0])
      const first = instance.toConnect('list', bytes)
      expect(first).toBeInstanceOf(Promise)
      const error: unknown = await Promise.resolve(first).catch((one: unknown) => one)
      expect(error).toMatchObject({ code: 'data' })
      expect(() => instance.toConnect('list', bytes)).toThrow(error as Error)
    }
  })

  it('uses the configured subject name strategy', async () => {
    await converter({}, true).fromConnect('named', order, { id: 1 })
    await write('named', order, { id: 1 }, { 'value.subject.name.strategy': 'RecordNameStrategy' })
    await write(
      'named',
      order,
      { id: 1 },
      {
        'value.subject.name.strategy': 'io.confluent.kafka.serializers.subject.TopicRecordNameStrategy',
      },
    )
    expect(await subjects()).toEqual(expect.arrayContaining(['named-key', 'shop.Order', 'named-shop.Order']))
    const nameless = write('named', STRING, 'x', { 'value.subject.name.strategy': 'RecordNameStrategy' })
    await expect(nameless).rejects.toMatchObject({ code: 'data' })
    expect(() => converter({ 'value.subject.name.strategy': 'MyStrategy' })).toThrow(
      'expected one of TopicNameStrategy',
    )
  })

  it('does not register schemas with auto.register.schemas=false', async () => {
    const off = { 'auto.register.schemas': 'false' }
    await expect(write('closed', order, { id: 1 }, off)).rejects.toMatchObject({
      code: 'data',
      message: expect.stringMatching(/closed-value/),
    })
    const bytes = await write('closed', order, { id: 1 })
    expect(await write('closed', order, { id: 1 }, off)).toEqual(bytes)
  })

  it('writes with the latest schema and its defaults with use.latest.version', async () => {
    const client = createRegistryClient({ url: registry.url })
    const latest = {
      type: 'record',
      name: 'shop.Order',
      fields: [
        { name: 'source', type: 'string', default: 'unknown' },
        { name: 'id', type: 'int' },
      ],
    }
    const { id } = await client.register('latest-value', { schema: JSON.stringify(latest) })
    const config = { 'auto.register.schemas': 'false', 'use.latest.version': 'true' }
    const bytes = await write('latest', order, { id: 3, note: 'lost' }, config)
    expect(bytes.readInt32BE(1)).toBe(id)
    expect((await converter().toConnect('latest', bytes)).value).toEqual({ source: 'unknown', id: 3 })
    const text = write('latest', STRING, 'x', config)
    await expect(text).rejects.toMatchObject({
      code: 'data',
      message: expect.stringMatching(/^the latest schema of subject 'latest-value'/),
    })
  })

  it('preserves tombstones', async () => {
    expect(await converter().fromConnect('t', null, null)).toBeNull()
    expect(await converter().fromConnect('t', optional(order), null)).toBeNull()
    expect(await converter().toConnect('t', null)).toEqual({ schema: null, value: null })
    await expect(async () => converter().fromConnect('t', order, null)).rejects.toThrow(
      'Found null value for non-optional schema',
    )
  })

  it.each<[string, (instance: ConverterInstance) => unknown, RegExp]>([
    [
      'bytes without the magic byte',
      (instance) => instance.toConnect('t', Buffer.from('{"a":1}')),
      /Unknown magic byte/,
    ],
    [
      'an unknown schema id',
      (instance) => instance.toConnect('t', Buffer.from('000000ffff', 'hex')),
      /schema 65535 of topic 't'/,
    ],
    [
      'a value that is not valid for its schema',
      (instance) => instance.fromConnect('t', order, { id: 'x' }),
      /is not valid for its schema/,
    ],
    ['a value without a schema', (instance) => instance.fromConnect('t', null, { id: 1 }), /requires a schema/],
  ])('throws a DataError for %s', async (_what, run, message) => {
    await expect((async () => run(converter()))()).rejects.toMatchObject({
      code: 'data',
      message: expect.stringMatching(message),
    })
  })

  it('throws a DataError for a schema that is incompatible with the subject', async () => {
    await write('strict', order, { id: 1 })
    const changed = struct('shop.Order', { id: STRING })
    await expect(write('strict', changed, { id: 'x' })).rejects.toMatchObject({
      code: 'data',
      message: expect.stringMatching(/strict-value/),
    })
  })

  it('throws a RetriableError while the registry is unavailable', async () => {
    const down = converter({ 'schema.registry.url': 'http://127.0.0.1:1' })
    await expect((async () => down.fromConnect('t', order, { id: 1 }))()).rejects.toMatchObject({ code: 'retriable' })
  })
})
