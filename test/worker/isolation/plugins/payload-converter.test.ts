import { describe, expect, it, onTestFinished } from 'vitest'
import { avroConverter } from '../../../../src/plugins/converters/avro/avro-converter.ts'
import { jsonConverter } from '../../../../src/plugins/converters/json/json-converter.ts'
import { jsonSchemaConverter } from '../../../../src/plugins/converters/json-schema/json-schema-converter.ts'
import { protobufConverter } from '../../../../src/plugins/converters/protobuf/protobuf-converter.ts'
import { scalarConverters } from '../../../../src/plugins/converters/scalar-converters.ts'
import {
  type Converter,
  decimal,
  INT64,
  optional,
  parseConfig,
  STRING,
  struct,
  UNRESTRICTED,
} from '../../../../src/sdk/index.ts'
import { PayloadConverter } from '../../../../src/worker/isolation/plugins/payload-converter.ts'
import type { PayloadEdit } from '../../../../src/worker/plugin-host.ts'
import { startTestRegistry } from '../../../support/registry.ts'

const TOPIC = 'orders'
const USE = { ...UNRESTRICTED, isKey: false }
const ORDER = struct('Order', { id: INT64, name: optional(STRING), price: decimal(2) })
const VALUE = { id: 9_007_199_254_740_993n, name: '<b>', price: { unscaled: 1_050n, scale: 2 } }
const JSON_TEXT = '{"id":9007199254740993,"name":"<b>","price":10.50}'

function open(plugin: Converter, config: Readonly<Record<string, string>> = {}) {
  const converter = new PayloadConverter(plugin, config, USE)
  return {
    decode: async (bytes: Uint8Array) => (await converter.decode([{ topic: TOPIC, bytes }]))[0],
    encode: async (original: Uint8Array, edited: PayloadEdit) =>
      Buffer.from(await converter.encode({ topic: TOPIC, bytes: original }, edited)),
  }
}

async function registryConfig() {
  const registry = await startTestRegistry()
  onTestFinished(() => registry.stop())
  const subjects = async () => (await registry.call('GET', '/schemas')).body
  return { config: { 'schema.registry.url': registry.url }, subjects }
}

const REGISTRY_CONVERTERS = [avroConverter, jsonSchemaConverter, protobufConverter] as readonly Converter[]

describe('a payload of a registry converter', () => {
  it.each(REGISTRY_CONVERTERS)(
    'of $class is JSON, and is written again with the schema of the original',
    { tags: ['slow'] },
    async (plugin) => {
      const { config, subjects } = await registryConfig()
      const original = Buffer.from(
        (await plugin.create(parseConfig(plugin.config, config), USE).fromConnect(TOPIC, ORDER, VALUE)) as Uint8Array,
      )
      const registered = await subjects()
      const { decode, encode } = open(plugin, config)
      const decoded = await decode(original)
      expect(decoded).toMatchObject({ form: 'json', problem: null })
      expect(decoded?.text).toContain('"name":"<b>"')
      expect(await encode(original, { form: 'json', text: decoded?.text ?? '' })).toEqual(original)
      const corrected = await encode(original, { form: 'json', text: decoded?.text.replace('<b>', 'pen') ?? '' })
      expect(corrected.subarray(0, 5)).toEqual(original.subarray(0, 5))
      expect((await decode(corrected))?.text).toBe(decoded?.text.replace('<b>', 'pen'))
      expect(await subjects()).toEqual(registered)
    },
  )

  it('keeps integers and decimals exactly', async () => {
    const { config } = await registryConfig()
    const plugin = avroConverter as Converter
    const original = (await plugin
      .create(parseConfig(plugin.config, config), USE)
      .fromConnect(TOPIC, ORDER, VALUE)) as Uint8Array
    const { decode, encode } = open(plugin, config)
    expect((await decode(original))?.text).toBe(JSON_TEXT)
    const text = JSON_TEXT.replace('10.50', '-1234567890123456789.01')
    expect((await decode(await encode(original, { form: 'json', text })))?.text).toBe(text)
  })

  it('is refused with the place at which its text is invalid', async () => {
    const { config } = await registryConfig()
    const plugin = avroConverter as Converter
    const original = (await plugin
      .create(parseConfig(plugin.config, config), USE)
      .fromConnect(TOPIC, ORDER, VALUE)) as Uint8Array
    const { encode } = open(plugin, config)
    const refusal = (text: string) => encode(original, { form: 'json', text }).catch((error: Error) => error.message)
    expect(await refusal('{"id":1,\n"name" 2}')).toContain('line 2 column 8')
    expect(await refusal(JSON_TEXT.replace('"<b>"', '7'))).toBe('$.name: expected string, got the number 7')
    expect(await refusal(JSON_TEXT.replace('9007199254740993', '"x"'))).toMatch(/^\$\.id: /)
    expect(await refusal(JSON_TEXT.replace('"name"', '"nmae"'))).toBe('$.nmae: the schema has no such field')
    expect(await refusal('{}')).toMatch(/^\$\.id: /)
    expect(await refusal('null')).toMatch(/^\$: /)
  })

  it('whose schema ID is damaged is shown in hexadecimal, which can be corrected', async () => {
    const { config } = await registryConfig()
    const plugin = avroConverter as Converter
    const original = Buffer.from(
      (await plugin.create(parseConfig(plugin.config, config), USE).fromConnect(TOPIC, ORDER, VALUE)) as Uint8Array,
    )
    const damaged = Buffer.from(original)
    damaged.writeInt32BE(0x7fffffff, 1)
    const { decode, encode } = open(plugin, config)
    expect(await decode(damaged)).toEqual({
      form: 'hex',
      text: damaged.toString('hex'),
      problem: expect.stringContaining('2147483647'),
    })
    expect(await encode(damaged, { form: 'hex', text: original.toString('hex') })).toEqual(original)
    await expect(encode(damaged, { form: 'hex', text: damaged.toString('hex') })).rejects.toThrow('2147483647')
    await expect(encode(damaged, { form: 'json', text: JSON_TEXT })).rejects.toThrow('2147483647')
    expect(await decode(Buffer.from([0, 1]))).toMatchObject({ form: 'hex', text: '0001' })
  })
})

describe('a payload of another converter', () => {
  it('is its text if that is all that the converter reads', async () => {
    const { decode, encode } = open(jsonConverter as Converter, { 'schemas.enable': 'false' })
    const spaced = '{ "n": 1.0 }'
    expect(await decode(Buffer.from(spaced))).toEqual({ form: 'text', text: spaced, problem: null })
    expect(await encode(Buffer.from('{'), { form: 'text', text: spaced })).toEqual(Buffer.from(spaced))
    await expect(encode(Buffer.from('{'), { form: 'text', text: '{"a":1,\n "b" 2}' })).rejects.toThrow(
      'line 2 column 6',
    )
  })

  it('is its data if the converter reads a schema', async () => {
    const { decode, encode } = open(jsonConverter as Converter)
    const original = Buffer.from('{"schema":{"type":"int32","optional":false},"payload":1}')
    expect(await decode(original)).toEqual({ form: 'json', text: '1', problem: null })
    expect(String(await encode(original, { form: 'json', text: '2' }))).toBe(
      '{"schema":{"type":"int32","optional":false},"payload":2}',
    )
    const numbers = open(scalarConverters.find((one) => one.class.includes('Integer')) as Converter)
    expect(await numbers.decode(Buffer.from('AAAA'))).toMatchObject({ form: 'json', text: '1094795585' })
    expect(await numbers.encode(Buffer.from('AAAA'), { form: 'json', text: '7' })).toEqual(Buffer.from([0, 0, 0, 7]))
    expect(await numbers.decode(Buffer.from('AAA'))).toMatchObject({ form: 'text', problem: expect.any(String) })
  })

  it('is in hexadecimal if it is no text, and says which digit is wrong', async () => {
    const { decode, encode } = open(jsonConverter as Converter, { 'schemas.enable': 'false' })
    const bytes = Buffer.from([0x22, 0xff, 0x22])
    expect(await decode(Buffer.from([0x00, 0xff]))).toMatchObject({ form: 'hex', text: '00ff' })
    await expect(encode(bytes, { form: 'hex', text: '22 zz' })).rejects.toThrow("'z' at digit 3")
    await expect(encode(bytes, { form: 'hex', text: '222' })).rejects.toThrow('3 hexadecimal digits')
    expect(await encode(bytes, { form: 'hex', text: '22 41 22' })).toEqual(Buffer.from('"A"'))
  })
})
