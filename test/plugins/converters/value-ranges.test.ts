import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cellWriter } from '../../../src/plugins/connectors/postgres/sink/cell-writer.ts'
import { UTC } from '../../../src/plugins/connectors/postgres/time-zone.ts'
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
  struct,
  UNRESTRICTED,
} from '../../../src/sdk/index.ts'
import { startTestRegistry, type TestRegistry } from '../../support/registry.ts'
import { shippedCatalog } from '../../support/shipped-plugins.ts'

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

describe.each(CONVERTERS)('%s', (name) => {
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
