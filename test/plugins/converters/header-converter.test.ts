import { expect, it } from 'vitest'
import { avroConverter } from '../../../src/plugins/converters/avro/converter.ts'
import { asHeaderConverter } from '../../../src/plugins/converters/header-converter.ts'
import { shippedCatalog } from '../../../src/plugins/shipped.ts'
import { INT32, parseConfig, STRING } from '../../../src/sdk/index.ts'

const catalog = shippedCatalog()

function created(name: string, settings: Readonly<Record<string, string>> = {}) {
  const plugin = catalog.find('header_converter', name)!
  return plugin.create(parseConfig(plugin.config, settings))
}

it.each([
  ['StringConverter', STRING, 'text', 'text'],
  ['IntegerConverter', INT32, 7, '\0\0\0\u0007'],
  ['JsonConverter', STRING, 'text', '"text"'],
])('%s converts headers as it converts values, and reads them back under their name', (name, schema, value, text) => {
  const converter = created(name, name === 'JsonConverter' ? { 'schemas.enable': 'false' } : {})
  const bytes = converter.fromConnect({ key: 'h', schema, value })
  expect(Buffer.from(bytes!).toString()).toBe(text)
  expect(converter.toConnect('h', bytes)).toMatchObject({ key: 'h', value })
})

it('keeps a header without a value', () => {
  const converter = created('org.apache.kafka.connect.storage.StringConverter')
  expect(converter.fromConnect({ key: 'h', schema: STRING, value: null })).toBeNull()
  expect(converter.toConnect('h', null)).toMatchObject({ key: 'h', value: null })
})

it('refuses a converter that waits for a registry', () => {
  const plugin = asHeaderConverter(avroConverter)
  const settings = parseConfig(plugin.config, { 'schema.registry.url': 'http://127.0.0.1:1' })
  expect(() => plugin.create(settings).fromConnect({ key: 'h', schema: STRING, value: 'x' })).toThrow(
    'AvroConverter waits for something: it can not convert headers',
  )
})
