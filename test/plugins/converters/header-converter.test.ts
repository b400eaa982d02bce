import { describe, expect, it } from 'vitest'
import { asHeaderConverter } from '../../../src/plugins/converters/header-converter.ts'
import {
  type ConnectRecord,
  defineConverter,
  INT32,
  parseConfig,
  type Schema,
  STRING,
  UNRESTRICTED,
  z,
} from '../../../src/sdk/index.ts'
import { shippedCatalog } from '../../support/shipped-plugins.ts'
import golden from './insert-header.golden.json' with { type: 'json' }

const catalog = shippedCatalog()

function created(name: string, settings: Readonly<Record<string, string>> = {}) {
  const plugin = catalog.find('header_converter', name)!
  return plugin.create(parseConfig(plugin.config, settings), UNRESTRICTED)
}

it.each([
  ['StringConverter', STRING, 'text', 'text'],
  ['IntegerConverter', INT32, 7, '\0\0\0\u0007'],
  ['JsonConverter', STRING, 'text', '"text"'],
])('%s converts headers like values, and reads them back', (name, schema, value, text) => {
  const converter = created(name, name === 'JsonConverter' ? { 'schemas.enable': 'false' } : {})
  const bytes = converter.fromConnect({ key: 'h', schema, value })
  expect(Buffer.from(bytes!).toString()).toBe(text)
  expect(converter.toConnect('h', bytes)).toMatchObject({ key: 'h', value })
})

it('preserves a header with a null value', () => {
  const converter = created('org.apache.kafka.connect.storage.StringConverter')
  expect(converter.fromConnect({ key: 'h', schema: STRING, value: null })).toBeNull()
  expect(converter.toConnect('h', null)).toMatchObject({ key: 'h', value: null })
})

type Golden = {
  readonly literal: string
  readonly schema: unknown
  readonly simple: string
  readonly string: string
  readonly json?: string
}

/** Converts a schema to the form in the recording. Arrays and maps with mixed elements have no element schema. */
function shown(schema: Schema | null | undefined): unknown {
  if (schema === null || schema === undefined) return null
  const { type, items, keys } = schema
  return {
    type,
    ...(type === 'array' && { items: shown(items) }),
    ...(type === 'map' && { keys: shown(keys), values: shown(items) }),
  }
}

describe('InsertHeader compared with Apache Kafka 4.3.1', () => {
  it.each(golden as readonly Golden[])('has the same result for $literal with each header converter', (expected) => {
    const plugin = catalog.find('transformation', 'org.apache.kafka.connect.transforms.InsertHeader')!
    const config = parseConfig(plugin.config, { header: 'h', 'value.literal': expected.literal })
    const record = plugin.create(config)({ headers: [] } as unknown as ConnectRecord)!
    const [header] = record.headers
    expect(shown(header!.schema)).toEqual(expected.schema)
    expect(String(created('SimpleHeaderConverter').fromConnect(header!))).toBe(expected.simple)
    expect(String(created('StringConverter').fromConnect(header!))).toBe(expected.string)
    const json = () => String(created('JsonConverter').fromConnect(header!))
    if (expected.json === undefined) expect(json).toThrow(expect.objectContaining({ code: 'data' }))
    else expect(json()).toBe(expected.json)
  })
})

it('asHeaderConverter rejects an asynchronous converter', () => {
  const plugin = asHeaderConverter(
    defineConverter({
      class: 'SlowConverter',
      version: '1',
      summary: 'Answers later.',
      config: z.object({}),
      create: () => ({ fromConnect: async () => null, toConnect: async () => ({ schema: null, value: null }) }),
    }),
  )
  expect(() => plugin.create({}, UNRESTRICTED).fromConnect({ key: 'h', schema: STRING, value: 'x' })).toThrow(
    'SlowConverter is asynchronous: it cannot convert headers',
  )
})
