import { describe, expect, it } from 'vitest'
import { javaText } from '../../../src/java-compat/java-text.ts'
import { jsonConverter } from '../../../src/plugins/converters/json/json-converter.ts'
import { parseConfig, type SchemaAndValue, UNRESTRICTED } from '../../../src/sdk/index.ts'
import { shippedCatalog } from '../../support/shipped-plugins.ts'
import { type ScalarCase, scalarCases } from './scalar-cases.ts'
import golden from './scalars.golden.json' with { type: 'json' }

/** What Java's class answered: the bytes it wrote, what it read, or how it failed. */
type Outcome = {
  readonly bytes?: string | null
  readonly schema?: unknown
  readonly javaText?: string | null
  readonly error?: string
}

const catalog = shippedCatalog()
const cases = scalarCases().map((one, index) => ({ ...one, java: golden[index] as Outcome }))
const classes = [...new Set(cases.map((one) => one.class))]

describe('the scalar converters compared with Kafka Connect', () => {
  it('have a result of the original for every case', () => {
    expect(golden).toHaveLength(cases.length)
  })

  it.each(classes)('have the same results: %s', (name) => {
    for (const one of cases.filter((known) => known.class === name)) {
      const ours = outcomeOf(one)
      // A number without a schema has no Java class of its own: it is taken where it fits.
      if ('side' in one && isUntypedNumber(one.side) && one.java.error?.startsWith('Failed to serialize')) continue
      if (one.java.error === undefined) expect(ours, JSON.stringify(one)).toEqual(one.java)
      // Java's message contains the value.
      else if (one.java.error.endsWith(WITHOUT_DELEGATE))
        expect(ours.error, JSON.stringify(one)).toContain(WITHOUT_DELEGATE)
      // The reason stands behind, where Java has it in the exception that caused this one.
      else expect(ours.error, JSON.stringify(one)).toContain(one.java.error.replace(/: $/, ''))
    }
  })

  it('convert numbers without a schema exactly, and reject those out of range', () => {
    const short = catalog.find('converter', 'ShortConverter')!.create({}, { ...UNRESTRICTED, isKey: false })
    expect(short.fromConnect('t', null, 12)).toEqual(Buffer.from('000c', 'hex'))
    expect(() => short.fromConnect('t', null, 70_000)).toThrow('Failed to serialize to short')
    expect(() => short.fromConnect('t', null, 'x')).toThrow('(was class java.lang.String)')
  })
})

const WITHOUT_DELEGATE = ' requires a delegate.converter.type to be configured'

function isUntypedNumber(side: object | null): boolean {
  return side !== null && 'plain' in side && typeof side.plain === 'number'
}

function outcomeOf(one: ScalarCase): Outcome {
  const plugin = catalog.find(
    'converter',
    one.class.startsWith('io.') ? one.class : `org.apache.kafka.connect.${one.class}`,
  )!
  const converter = plugin.create(parseConfig(plugin.config, one.config), { ...UNRESTRICTED, isKey: false })
  try {
    if ('side' in one) {
      const { schema, value } = sideOf(one.side)
      const bytes = converter.fromConnect('t', schema, value) as Buffer | null
      return { bytes: bytes === null ? null : bytes.toString('hex') }
    }
    const bytes = one.bytes === null ? null : Buffer.from(one.bytes, 'hex')
    const { schema, value } = converter.toConnect('t', bytes) as SchemaAndValue
    const { schema: told } = JSON.parse(String(json(true).fromConnect('t', schema, value))) as { schema: unknown }
    return { schema: told, javaText: javaText(value, schema) }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

function sideOf(side: object | null): SchemaAndValue {
  if (side === null) return { schema: null, value: null }
  const [reader, data] = 'plain' in side ? [json(false), side.plain] : [json(true), side]
  return reader.toConnect('t', Buffer.from(JSON.stringify(data))) as SchemaAndValue
}

function json(schemas: boolean) {
  return jsonConverter.create(parseConfig(jsonConverter.config, { 'schemas.enable': String(schemas) }), {
    ...UNRESTRICTED,
    isKey: false,
  })
}
