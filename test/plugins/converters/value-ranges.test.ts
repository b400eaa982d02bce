import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UTC } from '../../../src/plugins/connectors/jdbc/time-zone.ts'
import { cellWriter } from '../../../src/plugins/connectors/postgres/sink/cell-writer.ts'
import {
  type ConverterInstance,
  decimal,
  INT8,
  INT16,
  INT32,
  INT64,
  parseConfig,
  type RawConfig,
  type Schema,
  STRING,
  struct,
  TIMESTAMP,
  UNRESTRICTED,
} from '../../../src/sdk/index.ts'
import { startTestRegistry, type TestRegistry } from '../../support/registry.ts'
import { shippedCatalog } from '../../support/shipped-plugins.ts'
import { transformNamed } from '../transforms/transform-named.ts'

let registry: TestRegistry
beforeAll(async () => {
  registry = await startTestRegistry()
})
afterAll(() => registry.stop())

const catalog = shippedCatalog()

function createConverter(name: string, config: RawConfig = {}): ConverterInstance {
  const plugin = catalog.find('converter', name)!
  const url = Object.hasOwn(plugin.config.shape, 'schema.registry.url') && { 'schema.registry.url': registry.url }
  return plugin.create(parseConfig(plugin.config, { ...url, ...config }), { ...UNRESTRICTED, isKey: false })
}

// A topic for each record: their schemas are not compatible with each other.
let topics = 0
async function write(name: string, schema: Schema, value: unknown, config: RawConfig = {}): Promise<Uint8Array> {
  topics += 1
  return (await createConverter(name, config).fromConnect(`ranges-${topics}`, schema, value))!
}

const record = (field: Schema) => struct('Row', { field })
const CONVERTERS = ['JsonConverter', 'JsonSchemaConverter', 'AvroConverter', 'ProtobufConverter']
const MISFIT = /^expected (u?int(8|16|32|64)|an integer)|.*its schema/
const TOO_LARGE: readonly (readonly [Schema, number | bigint])[] = [
  [INT8, 300],
  [INT8, -129],
  [INT16, 70_000],
  [INT32, 3_000_000_000],
  [INT64, 2n ** 63n],
]

describe.each(CONVERTERS)('%s', { tags: ['slow'] }, (name) => {
  it.each(TOO_LARGE)('rejects a value out of range of its integer type: %o %s', async (schema, value) => {
    await expect(write(name, record(schema), { field: value })).rejects.toMatchObject({
      code: 'data',
      message: expect.stringMatching(MISFIT),
    })
  })
})

describe('a decimal with a scale other than that of its schema', () => {
  const value = { field: { unscaled: 15n, scale: 1 } }
  const mismatch = {
    code: 'data',
    message: 'Decimal value has mismatching scale for given Decimal schema. Schema has scale 2, value has scale 1.',
  }

  it.each(['JsonConverter', 'JsonSchemaConverter', 'AvroConverter'])(
    'is rejected by %s, which writes the unscaled value',
    async (name) => {
      await expect(write(name, record(decimal(2)), value)).rejects.toMatchObject(mismatch)
    },
  )

  it('is rejected as the default of an Avro field', async () => {
    const schema = record({ ...decimal(2), default: value.field })
    await expect(write('AvroConverter', schema, {})).rejects.toMatchObject(mismatch)
  })

  it('is accepted by formats that store the scale with the value', async () => {
    const config = { 'schemas.enable': 'false', 'decimal.format': 'NUMERIC' }
    expect(String(await write('JsonConverter', record(decimal(2)), value, config))).toBe('{"field":1.5}')
    const bytes = await write('ProtobufConverter', record(decimal(2)), value)
    const read = await createConverter('ProtobufConverter').toConnect('ranges', bytes)
    expect(read.value).toEqual({ field: { unscaled: 150n, scale: 2 } })
  })

  it('is rejected without a schema, because JSON would lose the scale', async () => {
    const converter = createConverter('JsonConverter', { 'schemas.enable': 'false' })
    expect(() => converter.fromConnect('t', null, value)).toThrow('its scale would be lost')
  })
})

describe('a number out of range of its integer type', () => {
  it.each([
    ['int8', '300'],
    ['int16', '70000'],
    ['int32', '3000000000'],
    ['int64', '92233720368547758080'],
  ])('is rejected by JsonConverter when reading %s %s', (type, payload) => {
    const bytes = Buffer.from(`{"schema":{"type":"${type}","optional":false},"payload":${payload}}`)
    expect(() => createConverter('JsonConverter').toConnect('t', bytes)).toThrow(`expected ${type}, got`)
  })

  it.each(TOO_LARGE)('is rejected by PostgresSink: %o %s', (schema, value) => {
    const toCell = cellWriter(schema, { zone: UTC, dateZone: UTC, nullIsDefault: false })
    expect(() => toCell(value)).toThrow(`expected ${schema.type}, got`)
    expect(toCell(7)).toBe('7')
  })
})

describe('a time beyond the range of Date', () => {
  // 1.7e18 is a time in ns where ms are expected. As a zigzag varint for Avro, and as a varint of seconds for Protobuf.
  const ns = 1_700_000_000_000_000_000n
  const varint = (value: bigint): number[] =>
    value < 0x80n ? [Number(value)] : [Number(value & 0x7fn) | 0x80, ...varint(value >> 7n)]
  const beyond = { code: 'data', message: expect.stringMatching(/is not a date that can be represented/) }

  it('is rejected by JsonConverter', () => {
    const schema = '{"type":"int64","optional":false,"name":"org.apache.kafka.connect.data.Timestamp","version":1}'
    const bytes = Buffer.from(`{"schema":${schema},"payload":${ns}}`)
    expect(() => createConverter('JsonConverter').toConnect('t', bytes)).toThrow(expect.objectContaining(beyond))
    const write = () => createConverter('JsonConverter').fromConnect('t', TIMESTAMP, new Date(Number.NaN))
    expect(write).toThrow('expected org.apache.kafka.connect.data.Timestamp')
  })

  it.each<[string, Schema, readonly number[]]>([
    ['AvroConverter', record(TIMESTAMP), varint(ns * 2n)],
    // The direct reader of values does not read maps.
    ['AvroConverter', record({ type: 'map', keys: STRING, items: TIMESTAMP }), [2, 2, 0x61, ...varint(ns * 2n), 0]],
    ['ProtobufConverter', record(TIMESTAMP), [10, 10, 8, ...varint(ns)]],
  ])('is rejected by %s: %o', async (name, schema, data) => {
    const sample = schema.fields?.[0]?.schema.type === 'map' ? new Map() : new Date(0)
    const bytes = Buffer.from(await write(name, schema, { field: sample }))
    const headBytes = name === 'AvroConverter' ? 5 : 6
    const altered = Buffer.concat([bytes.subarray(0, headBytes), Buffer.from(data)])
    await expect(async () => createConverter(name).toConnect('t', altered)).rejects.toMatchObject(beyond)
  })

  it('is rejected by TimestampConverter, InsertField and TimestampRouter', () => {
    const sent = { topic: 't', key: null, keySchema: null, valueSchema: null, headers: [], timestampMs: Number(ns) }
    const converted = (config: RawConfig) =>
      transformNamed('TimestampConverter$Value', config)({ ...sent, value: ns, valueSchema: INT64 })
    for (const type of ['string', 'Timestamp', 'Date']) {
      expect(() => converted({ 'target.type': type, format: 'yyyy' })).toThrow(expect.objectContaining(beyond))
    }
    expect(converted({ 'target.type': 'unix' })).toMatchObject({ value: ns })
    const row = { ...sent, value: { a: 1 }, valueSchema: struct('Row', { a: INT32 }) }
    const insert = transformNamed('InsertField$Value', { 'timestamp.field': 'at' })
    expect(() => insert(row)).toThrow(expect.objectContaining(beyond))
    expect(() => transformNamed('TimestampRouter', {})(row)).toThrow(expect.objectContaining(beyond))
  })

  it('does not match the format of TimestampConverter', () => {
    const convert = transformNamed('TimestampConverter$Value', { 'target.type': 'unix', format: 'y' })
    const sent = { topic: 't', key: null, keySchema: null, headers: [], timestampMs: 0, valueSchema: null }
    expect(() => convert({ ...sent, value: '99999999' })).toThrow('does not match pattern (y)')
  })
})
