import { describe, expect, it } from 'vitest'
import { parseConfig, type Schema, UNRESTRICTED, validateConfig } from '../../../src/sdk/index.ts'
import { shippedCatalog } from '../../support/shipped-plugins.ts'

const catalog = shippedCatalog()
const NAME = 'io.debezium.converters.BinaryDataConverter'
const plugin = catalog.find('converter', NAME)!
const BYTES = Buffer.from([0, 1, 255])
const INT32: Schema = { type: 'int32' }

function converter(config: Record<string, string> = {}) {
  return plugin.create(parseConfig(plugin.config, config), { ...UNRESTRICTED, isKey: false })
}

describe('BinaryDataConverter', () => {
  it.each(['BinaryDataConverter', 'ByteArrayConverter', 'ByteBufferConverter'])(
    'has the names of all versions of Debezium: io.debezium.converters.%s',
    (name) => {
      expect(catalog.find('converter', `io.debezium.converters.${name}`)?.class).toBe('BinaryDataConverter')
    },
  )

  it('passes bytes through, with and without a schema', async () => {
    expect(await converter().fromConnect('t', { type: 'bytes' }, BYTES)).toBe(BYTES)
    expect(await converter().fromConnect('t', null, BYTES)).toBe(BYTES)
    expect(await converter().fromConnect('t', null, null)).toBeNull()
    expect(await converter().toConnect('t', BYTES)).toEqual({ schema: { type: 'bytes', optional: true }, value: BYTES })
  })

  it('converts other data with the delegate, which has the keys with its prefix', async () => {
    const written = await converter({
      'delegate.converter.type': 'org.apache.kafka.connect.json.JsonConverter',
      'delegate.converter.type.schemas.enable': 'false',
    }).fromConnect('t', { type: 'struct', fields: [{ name: 'a', schema: INT32 }] }, { a: 1 })
    expect(String(written)).toBe('{"a":1}')
  })

  it('converts decimals with the delegate, although their type is bytes', async () => {
    const decimal: Schema = {
      type: 'bytes',
      name: 'org.apache.kafka.connect.data.Decimal',
      version: 1,
      parameters: { scale: '1' },
    }
    const written = await converter({ 'delegate.converter.type': 'StringConverter' }).fromConnect('t', decimal, {
      unscaled: 15n,
      scale: 1,
    })
    expect(String(written)).toBe('1.5')
  })

  it('rejects other data without a delegate, and does not show it', () => {
    expect(() => converter().fromConnect('outbox', { type: 'string' }, 'secret')).toThrow(
      "A value of type STRING in topic 'outbox' requires a delegate.converter.type to be configured",
    )
  })

  it.each<[Record<string, string>, string, RegExp]>([
    [
      { 'delegate.converter.type': 'com.example.Mine' },
      'delegate.converter.type',
      /expected a converter of Weir: JsonConverter/,
    ],
    [
      { 'delegate.converter.type': 'JsonConverter', 'delegate.converter.type.schemas.enable': 'maybe' },
      'delegate.converter.type.schemas.enable',
      /Expected value to be either true or false/,
    ],
  ])('rejects %j', (config, key, message) => {
    const parsed = plugin.config.safeParse(config)
    expect(parsed.error?.issues.map((issue) => [String(issue.path[0]), issue.message])).toEqual([
      [key, expect.stringMatching(message)],
    ])
    const shown = validateConfig(plugin.config, config).flatMap(({ errors }) => errors)
    if (key === 'delegate.converter.type') expect(shown).toEqual([expect.stringMatching(message)])
  })

  it('knows the keys of all delegates, so that others are reported', () => {
    const known = plugin.otherKeys?.known ?? []
    const isKnown = (key: string) => known.some((pattern) => pattern.replaceAll('\\', '') === key)
    expect(isKnown('delegate.converter.type.schema.registry.url')).toBe(true)
    expect(isKnown('schemas.enable')).toBe(false)
  })

  it('passes headers with bytes through, and rejects others', () => {
    const header = catalog.find('header_converter', NAME)!
    const instance = header.create(parseConfig(header.config, {}), UNRESTRICTED)
    expect(instance.fromConnect({ key: 'h', schema: { type: 'bytes' }, value: BYTES })).toBe(BYTES)
    expect(instance.toConnect('h', BYTES)).toEqual({
      key: 'h',
      schema: { type: 'bytes', optional: true },
      value: BYTES,
    })
    expect(() => instance.fromConnect({ key: 'h', schema: INT32, value: 1 })).toThrow(
      "A value of type INT32 in header 'h' is not binary",
    )
  })
})
