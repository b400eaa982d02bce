import { describe, expect, it } from 'vitest'
import { jsonConverter } from '../../../src/plugins/converters/json/converter.ts'
import { shippedCatalog } from '../../../src/plugins/shipped.ts'
import { type ConnectRecord, parseConfig, type Schema, type SchemaAndValue } from '../../../src/sdk/index.ts'
import type { Case, CaseRecord } from './case-data.ts'
import { allCases } from './cases.ts'
import golden from './transforms.golden.json' with { type: 'json' }

/** What Java's class made of a case: the members of the record that it changed, or how it failed. */
type Outcome = { readonly out?: unknown; readonly error?: string | null }

/** Where Weir differs on purpose: Java's message, and why. */
const DIFFERENT: readonly (readonly [message: RegExp, why: string])[] = [
  [/^Cannot invoke ".*" because ".*" is null$/, 'a null pointer of the original; the message says what is missing'],
  [/^Java class class java\.util\.Date does not have/, 'the JSON converter writes a date without a schema as a number'],
  [/^Conversion error: null value for field/, 'the JSON converter says it in other words'],
  [/^Timestamp missing on record: SourceRecord/, "the message does not show the record's content"],
  [/^Cannot list fields on non-struct type$/, 'SetSchemaMetadata of 4.3.1 fails on everything but structs'],
]

const PACKAGE = 'org.apache.kafka.connect.transforms.'
const catalog = shippedCatalog()
const cases = allCases().map((one, index) => ({ ...one, java: golden[index] as Outcome }))
const classes = [...new Set(cases.map((one) => one.class))]

describe("what Kafka Connect's transforms and predicates make of records", () => {
  it('was recorded for every case', () => {
    expect(golden).toHaveLength(cases.length)
    expect(cases.length).toBeGreaterThan(1_000)
  })

  it.each(classes)('is what %s makes of them here', (name) => {
    for (const one of cases.filter((known) => known.class === name)) {
      const ours = outcomeOf(one)
      if (isDifferent(one.java, ours)) continue
      expect(ours, JSON.stringify(one)).toEqual(expected(one))
    }
  })
})

it.each(classes)('gives records of one schema one schema, so that converters know it again: %s', (name) => {
  const transform = catalog.find('transformation', PACKAGE + name)
  for (const { config, record, java } of cases.filter(
    (known) => known.class === name && known.java.error === undefined,
  )) {
    if (transform === undefined || java.out === null) continue
    const change = transform.create(parseConfig(transform.config, config))
    const given = read(record)
    const [first, second] = [change(given), change({ ...given })]
    expect(second?.keySchema).toBe(first?.keySchema)
    expect(second?.valueSchema).toBe(first?.valueSchema)
  }
})

/** The exception's message where Java builds it of the wrong parts, and the fault behind it at its end. */
function expected({ record, java }: (typeof cases)[number]): Outcome {
  if (java.error === undefined) {
    return { out: isMembers(java.out) ? { ...record, partition: record.partition ?? null, ...java.out } : java.out }
  }
  const [, cause, message] = /^Invalid value java\.lang\.\w+: (.*) for configuration (.*)$/.exec(java.error ?? '') ?? []
  if (message === undefined) return { error: java.error }
  return { error: cause?.startsWith('No enum') ? message : `${message} (${cause})` }
}

function isMembers(out: unknown): out is object {
  return typeof out === 'object' && out !== null
}

function isDifferent({ error }: Outcome, ours: Outcome): boolean {
  return ours.error !== error && DIFFERENT.some(([message]) => message.test(error ?? ''))
}

function outcomeOf({ class: name, config, record }: Case): Outcome {
  try {
    const predicate = catalog.find('predicate', PACKAGE + name)
    if (predicate) return { out: predicate.create(parseConfig(predicate.config, config))(read(record)) }
    const transform = catalog.find('transformation', PACKAGE + name)!
    const changed = transform.create(parseConfig(transform.config, config))(read(record))
    return { out: changed && { ...write(changed), ...('offset' in record && { offset: record.offset }) } }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

function read({ key, value, headers, partition, timestampMs = null, ...rest }: CaseRecord): ConnectRecord {
  const [keyed, valued] = [side(key), side(value)]
  return {
    ...rest,
    ...(partition !== null && { partition }),
    timestampMs,
    key: keyed.value,
    keySchema: keyed.schema,
    value: valued.value,
    valueSchema: valued.schema,
    headers: headers.map((header) => ({ key: header.key, ...side(header.value) })),
  }
}

function write({ topic, partition, timestampMs, headers, ...record }: ConnectRecord): object {
  return {
    topic,
    partition: partition ?? null,
    timestampMs,
    key: told(record.keySchema, record.key),
    value: told(record.valueSchema, record.value),
    headers: headers.map(({ key, schema, value }) => ({ key, value: told(schema, value) })),
  }
}

function converter(schemas: boolean) {
  const settings = { 'replace.null.with.default': 'false', 'decimal.format': 'NUMERIC' }
  const config = parseConfig(jsonConverter.config, { ...settings, 'schemas.enable': String(schemas) })
  return jsonConverter.create(config, { isKey: false })
}

const typed = converter(true)
const plain = converter(false)

function side(node: object | null): SchemaAndValue {
  if (node === null) return { schema: null, value: null }
  const [reader, json] = 'plain' in node ? [plain, node.plain] : [typed, node]
  return reader.toConnect('t', Buffer.from(JSON.stringify(json))) as SchemaAndValue
}

function told(schema: Schema | null, value: unknown): unknown {
  if (schema === null && (value === null || value === undefined)) return null
  if (schema === null && value instanceof Date) return { date: value.getTime() }
  const json = JSON.parse(String((schema === null ? plain : typed).fromConnect('t', schema, value)))
  return schema === null ? { plain: json } : json
}
