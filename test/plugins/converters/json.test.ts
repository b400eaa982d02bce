import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { javaText } from '../../../src/java-compat/java-text.ts'
import { jsonConverter } from '../../../src/plugins/converters/json/json-converter.ts'
import {
  BOOLEAN,
  type ConverterInstance,
  FLOAT64,
  INT32,
  INT64,
  optional,
  parseConfig,
  type RawConfig,
  type SchemaAndValue,
  STRING,
  struct,
  TIMESTAMP,
  UNRESTRICTED,
} from '../../../src/sdk/index.ts'
import { propertyRuns } from '../../support/property-seed.ts'
import { anyStruct } from './arbitrary-data.ts'
import golden from './json.golden.json' with { type: 'json' }

type Golden = {
  readonly json: string
  readonly config: RawConfig
  readonly out?: string | null
  readonly javaText?: string | null
  readonly error?: string
}

const converter = (config: RawConfig = {}): ConverterInstance =>
  jsonConverter.create(parseConfig(jsonConverter.config, config), { ...UNRESTRICTED, isKey: false })
const read = (instance: ConverterInstance, text: string | null) =>
  instance.toConnect('t', text === null ? null : Buffer.from(text)) as SchemaAndValue
const write = (instance: ConverterInstance, { schema, value }: SchemaAndValue) => {
  const bytes = instance.fromConnect('t', schema, value) as Buffer | null
  return bytes === null ? null : bytes.toString()
}

/** Where Weir differs on purpose: text and why. */
const DIFFERENT: readonly (readonly [RegExp, string])[] = [
  [/"payload":1\.17549435E-38/, 'Java 17 writes more digits than necessary'],
  [/"payload":4\.9e-324/, 'the same'],
  [/"payload":-0\.0/, 'Java loses the sign of zero'],
  [/"scale":"2"\}\},"payload":1\}/, 'Java keeps the scale of the text, and then cannot write the value'],
  [/^(1\.0|1e3)$/, 'schemaless numbers have no type'],
  [/^12345678901234567890$/, 'the number overflows in Java'],
]
const cases = (golden as readonly Golden[]).filter(({ json }) => !DIFFERENT.some(([pattern]) => pattern.test(json)))

describe('JsonConverter compared with Apache Kafka', () => {
  it.each(cases.filter(({ error }) => error === undefined))(
    'reads and writes $json',
    ({ json: text, config, out, javaText: shown }) => {
      const instance = converter(config)
      const data = read(instance, text)
      expect(write(instance, data)).toBe(out)
      if (shown !== null) expect(javaText(data.value, data.schema)).toBe(shown)
    },
  )

  it.each(cases.filter(({ error }) => error !== undefined))(
    'rejects $json with the same message',
    ({ json, config, error }) => {
      expect(() => read(converter(config), json)).toThrow(error)
    },
  )
})

describe('JsonConverter', () => {
  it('reads back random data that it wrote', { tags: ['slow'] }, () => {
    const instance = converter()
    fc.assert(
      fc.property(anyStruct, (data) => {
        expect(read(instance, write(instance, data))).toEqual(data)
      }),
      { numRuns: propertyRuns(100) },
    )
  })

  it('writes decimals as numbers without losing digits', { tags: ['slow'] }, () => {
    const instance = converter({ 'decimal.format': 'NUMERIC' })
    fc.assert(
      fc.property(anyStruct, (data) => {
        expect(read(instance, write(instance, data))).toEqual(data)
      }),
      { numRuns: propertyRuns(100) },
    )
  })

  it('preserves tombstones', () => {
    expect(write(converter(), { schema: null, value: null })).toBeNull()
    expect(read(converter(), null)).toEqual({ schema: null, value: null })
    expect(write(converter(), { schema: optional(STRING), value: null })).toBe(
      '{"schema":{"type":"string","optional":true},"payload":null}',
    )
  })

  it('returns the same schema object for all messages with the same schema', () => {
    const instance = converter()
    const schema = struct('Order', { id: INT32 })
    const texts = [1, 2].map((id) => write(instance, { schema, value: { id } }))
    const [one, two] = texts.map((text) => read(instance, text))
    expect(one?.schema).toBe(two?.schema)
    expect([one?.value, two?.value]).toEqual([{ id: 1 }, { id: 2 }])
  })

  it('reads envelopes in every notation, independently of earlier messages', () => {
    const instance = converter()
    const schema = '{"type":"int64","optional":false,"default":9007199254740993}'
    const parameters = '{"type":"int32","optional":false,"parameters":{"a":"1","payload":"2"}}'
    for (let round = 0; round < 2; round++) {
      expect(read(instance, `{"schema":${schema},"payload":5}`).value).toBe(5)
      expect(read(instance, `{"payload":6,"schema":${schema}}`).value).toBe(6)
      expect(read(instance, `{ "schema" : ${schema} , "payload" : 7 }`).value).toBe(7)
      expect(read(instance, `{"schema":${schema},"payload":8} `).value).toBe(8)
      expect(read(instance, `{"schema":${parameters},"payload":9}`).value).toBe(9)
      expect(() => read(instance, `{"schema":${schema},"payload":5,"more":1}`)).toThrow(
        'may not contain additional fields',
      )
      expect(() => read(instance, `{"schema":${schema},"x":1,"payload":5}`)).toThrow(
        'may not contain additional fields',
      )
      expect(() => read(instance, `{"schema":${schema},"payload":}`)).toThrow('serialization error')
    }
  })

  it('throws an error for a value that is not valid for its schema', () => {
    const schema = struct('Order', { id: INT32 })
    expect(() => write(converter(), { schema, value: { id: 'x' } })).toThrow("expected int32, got the string 'x'")
    expect(() => write(converter(), { schema, value: {} })).toThrow(
      'expected int32, got null: the schema is not optional',
    )
    const text = '{"schema":{"type":"int32","optional":false},"payload":"x"}'
    expect(() => read(converter(), text)).toThrow("expected int32, got the string 'x'")
  })

  it('writes a value in the same way whatever values it wrote before', { tags: ['slow'] }, () => {
    const source = struct('Source', { name: STRING, lsn: optional(INT64), isLast: BOOLEAN })
    const schema = struct('Event', {
      source,
      before: optional(source),
      ratio: optional(FLOAT64),
      at: optional(TIMESTAMP),
      text: optional(STRING),
      count: { type: 'int32', optional: true, default: 3 },
    })
    const few = (...values: readonly unknown[]) => fc.constantFrom(...values)
    const block = fc.record({ name: few('a', 'b'), lsn: few(1, 1n, null, 2n ** 60n), isLast: few(true, false, 'no') })
    const event = fc.record({
      source: block,
      before: fc.option(block),
      ratio: few(0, -0, 1, null),
      at: few(new Date(0), new Date(1), null),
      text: few('', '"', 'é', 'x'.repeat(100), `${'x'.repeat(99)}y`, null, undefined),
      count: few(null, undefined, 0, -0, 5, 'five'),
    })
    const textOrError = (instance: ConverterInstance, value: unknown) => {
      try {
        return write(instance, { schema, value })
      } catch (error) {
        return (error as Error).message
      }
    }
    fc.assert(
      fc.property(fc.array(event, { minLength: 20, maxLength: 20 }), (events) => {
        const instance = converter({ 'schemas.enable': 'false' })
        for (const one of events) {
          expect(textOrError(instance, one)).toBe(textOrError(converter({ 'schemas.enable': 'false' }), one))
        }
      }),
      { numRuns: propertyRuns(50) },
    )
  })

  it('writes the present value of a date that was changed in place', () => {
    const instance = converter({ 'schemas.enable': 'false' })
    const at = new Date(1)
    const event = { schema: struct('Event', { at: TIMESTAMP }), value: { at } }
    expect(write(instance, event)).toBe('{"at":1}')
    at.setTime(2)
    expect(write(instance, event)).toBe('{"at":2}')
  })

  it('treats a member named __proto__ like any other', () => {
    const plain = converter({ 'schemas.enable': 'false' })
    const { value } = read(plain, '{"__proto__":{"admin":true}}')
    expect((value as { admin?: boolean }).admin).toBeUndefined()
    expect(write(plain, { schema: null, value })).toBe('{"__proto__":{"admin":true}}')
  })
})
