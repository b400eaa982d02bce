import { expect, it } from 'vitest'
import { asHeaderConverter } from '../../../src/plugins/converters/header-converter.ts'
import { shippedCatalog } from '../../../src/plugins/shipped.ts'
import { defineConverter, INT32, parseConfig, STRING, UNRESTRICTED, z } from '../../../src/sdk/index.ts'

const catalog = shippedCatalog()

function created(name: string, settings: Readonly<Record<string, string>> = {}) {
  const plugin = catalog.find('header_converter', name)!
  return plugin.create(parseConfig(plugin.config, settings), UNRESTRICTED)
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
    'SlowConverter waits for something: it can not convert headers',
  )
})
