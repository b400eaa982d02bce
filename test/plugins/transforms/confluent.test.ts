import { describe, expect, it } from 'vitest'
import { type ConnectRecord, parseConfig, type RecordHeader, type Schema, STRING } from '../../../src/sdk/index.ts'
import { catalog } from './replay.ts'
import { transformNamed } from './transform-named.ts'

const CONFLUENT = 'io.confluent.connect.transforms.'
const AIVEN = 'io.aiven.kafka.connect.transforms.'
const RECORD: ConnectRecord = {
  topic: 't',
  key: null,
  keySchema: null,
  value: null,
  valueSchema: null,
  headers: [],
  timestampMs: null,
}
const ORDER: Schema = {
  type: 'struct',
  fields: [
    { name: 'kind', schema: STRING },
    { name: 'note', schema: { type: 'string', optional: true } },
    { name: 'at', schema: { type: 'struct', fields: [{ name: 'city', schema: STRING }] } },
  ],
}
const order = (kind: string): ConnectRecord => ({
  ...RECORD,
  valueSchema: ORDER,
  value: { kind, note: null, at: { city: 'B' } },
})
const schemaless = (value: unknown): ConnectRecord => ({ ...RECORD, value })
const problemOf = (name: string, config: Record<string, string>) => {
  const plugin = catalog.find('transformation', name)!
  try {
    parseConfig(plugin.config, config)
  } catch (error) {
    return (error as Error).message
  }
  return undefined
}

describe("Confluent's Filter", () => {
  const filter = (condition: string, more: Record<string, string> = {}) =>
    transformNamed(`${CONFLUENT}Filter$Value`, { 'filter.condition': condition, 'filter.type': 'include', ...more })

  it.each<[string, Record<string, string>, ConnectRecord, 'kept' | 'dropped']>([
    ["$[?(@.kind == 'a')]", {}, order('a'), 'kept'],
    ["$[?(@.kind == 'a')]", {}, order('b'), 'dropped'],
    ["$[?(@.kind == 'a')]", { 'filter.type': 'exclude' }, order('a'), 'dropped'],
    ["$.at[?(@.city == 'B')]", {}, order('a'), 'kept'],
    ["$[?(@.kind == 'a')]", {}, schemaless({ kind: 'a' }), 'kept'],
    ["$[?(@.nowhere == 'a')]", {}, schemaless({ kind: 'a' }), 'dropped'],
    ['$.kind', {}, order('a'), 'kept'],
    ['$.note', { 'missing.or.null.behavior': 'exclude' }, order('a'), 'dropped'],
    ['$.note', { 'missing.or.null.behavior': 'include', 'filter.type': 'exclude' }, order('a'), 'kept'],
    ['$.nowhere.x', { 'missing.or.null.behavior': 'include' }, schemaless({}), 'kept'],
    ['$.nowhere[?(@.x == 1)]', { 'missing.or.null.behavior': 'exclude' }, schemaless({}), 'dropped'],
    ['$.kind', { 'missing.or.null.behavior': 'include' }, RECORD, 'kept'],
  ])('%s with %j', (condition, more, record, outcome) => {
    expect(filter(condition, more)(record)).toBe(outcome === 'kept' ? record : null)
  })

  it('fails for a field that is missing or null by default', () => {
    expect(() => filter('$.note')(order('a'))).toThrow('a field of filter.condition is missing or null')
    expect(() => filter('$.nowhere')(order('a'))).toThrow('missing or null')
  })

  it('reads the key', () => {
    const byKey = transformNamed(`${CONFLUENT}Filter$Key`, { 'filter.condition': '$.id', 'filter.type': 'include' })
    const record = { ...RECORD, key: { id: 1 } }
    expect(byKey(record)).toBe(record)
  })

  it('leaves the Filter of Kafka as it is: it drops every record', () => {
    expect(transformNamed('org.apache.kafka.connect.transforms.Filter', {})(RECORD)).toBeNull()
  })

  it.each<[Record<string, string>, RegExp]>([
    [{ 'filter.type': 'include' }, /"filter\.condition" which has no default/],
    [{ 'filter.condition': '$.a' }, /"filter\.type" which has no default/],
    [
      { 'filter.condition': '$.a[', 'filter.type': 'include' },
      /Invalid value \$\.a\[ for configuration filter\.condition/,
    ],
    [{ 'filter.condition': '$.a', 'filter.type': 'keep' }, /must be one of: include, exclude/],
  ])('rejects %j', (config, message) => {
    expect(problemOf(`${CONFLUENT}Filter$Value`, config)).toMatch(message)
  })
})

describe("Confluent's ExtractTopic", () => {
  const topicOf = (config: Record<string, string>, record: ConnectRecord, side = 'Value') =>
    transformNamed(`${CONFLUENT}ExtractTopic$${side}`, config)(record)?.topic

  it.each<[Record<string, string>, ConnectRecord, string]>([
    [{ field: 'kind' }, order('new'), 'new'],
    [{ field: 'kind' }, schemaless({ kind: 'new' }), 'new'],
    [{}, { ...RECORD, valueSchema: STRING, value: 'whole' }, 'whole'],
    [{ field: '$.at.city', 'field.format': 'JSON_PATH' }, order('new'), 'B'],
    [{ field: '$["at"]["city"]', 'field.format': 'JSON_PATH' }, order('new'), 'B'],
    [{ field: 'note', 'skip.missing.or.null': 'true' }, order('new'), 't'],
    [{ field: 'nowhere', 'skip.missing.or.null': 'true' }, schemaless({}), 't'],
    [{ field: 'kind', 'skip.missing.or.null': 'true' }, RECORD, 't'],
  ])('takes the topic from the value: %j', (config, record, topic) => {
    expect(topicOf(config, record)).toBe(topic)
  })

  it('takes the topic from the key, and from a header', () => {
    expect(topicOf({}, { ...RECORD, key: 'k', keySchema: STRING }, 'Key')).toBe('k')
    const headers: readonly RecordHeader[] = [
      { key: 'to', value: 'first', schema: STRING },
      { key: 'to', value: 'last', schema: STRING },
    ]
    expect(topicOf({ field: 'to' }, { ...RECORD, headers }, 'Header')).toBe('last')
    expect(topicOf({ field: 'nowhere', 'skip.missing.or.null': 'true' }, { ...RECORD, headers }, 'Header')).toBe('t')
  })

  it('fails for a field that is missing or not a string', () => {
    expect(() => topicOf({ field: 'note' }, order('a'))).toThrow('is missing, null or empty')
    expect(() => topicOf({ field: 'n' }, schemaless({ n: 1 }))).toThrow('must be a string, got a value of type number')
    expect(() => topicOf({ field: 'to' }, RECORD, 'Header')).toThrow('is missing, null or empty')
  })

  it('rejects an invalid JSON path', () => {
    const config = { field: '$.a.size()', 'field.format': 'JSON_PATH' }
    expect(problemOf(`${CONFLUENT}ExtractTopic$Value`, config)).toMatch(/functions such as size\(\) are not supported/)
  })

  it('of Aiven has another key', () => {
    const route = transformNamed(`${AIVEN}ExtractTopic$Value`, { 'field.name': 'kind' })
    expect(route(order('new'))?.topic).toBe('new')
    expect(() => route(schemaless({}))).toThrow('set skip.missing.or.null=true')
  })
})

describe("Confluent's Drop", () => {
  const RETAINED: Schema = { type: 'string' }
  const dropped = (behavior: string) =>
    transformNamed(`${CONFLUENT}Drop$Value`, { 'schema.behavior': behavior })({
      ...RECORD,
      value: 'x',
      valueSchema: RETAINED,
    })

  it.each<[string, Schema | null]>([
    ['nullify', null],
    ['retain', { type: 'string' }],
    ['force_optional', { type: 'string', optional: true }],
  ])('sets the value to null: %s', (behavior, schema) => {
    expect(dropped(behavior)).toEqual({ ...RECORD, value: null, valueSchema: schema })
  })

  it('removes the schema by default, and drops keys', () => {
    expect(transformNamed(`${CONFLUENT}Drop$Key`, {})({ ...RECORD, key: 'k', keySchema: STRING })).toEqual(RECORD)
  })

  it('returns the same schema object for each record', () => {
    const run = transformNamed(`${CONFLUENT}Drop$Value`, { 'schema.behavior': 'force_optional' })
    const given = { ...RECORD, value: 'x', valueSchema: RETAINED }
    expect(run(given)?.valueSchema).toBe(run({ ...given })?.valueSchema)
  })
})

describe('TombstoneHandler', () => {
  it.each([`${CONFLUENT}TombstoneHandler`, `${AIVEN}TombstoneHandler`])('handles only tombstones: %s', (name) => {
    for (const behavior of ['drop_silent', 'drop_warn', 'ignore', 'fail']) {
      const record = schemaless(1)
      expect(transformNamed(name, { behavior })(record)).toBe(record)
    }
    expect(transformNamed(name, { behavior: 'drop_silent' })(RECORD)).toBeNull()
    expect(transformNamed(name, { behavior: 'ignore' })(RECORD)).toBe(RECORD)
    expect(() => transformNamed(name, { behavior: 'fail' })(RECORD)).toThrow('the record is a tombstone')
  })

  it('drops tombstones by default; Aiven’s has no default', () => {
    expect(transformNamed(`${CONFLUENT}TombstoneHandler`, {})(RECORD)).toBeNull()
    expect(problemOf(`${AIVEN}TombstoneHandler`, {})).toMatch(/"behavior" which has no default/)
  })
})

describe('MessageTimestampRouter', () => {
  const CONFIG = {
    'topic.format': 'foo-${topic}-${timestamp}',
    'message.timestamp.format': 'yyyy-MM-dd',
    'topic.timestamp.format': 'yyyy.MM.dd',
    'message.timestamp.keys': 'timestamp,time,ts',
  }
  const route = transformNamed(`${CONFLUENT}MessageTimestampRouter`, CONFIG)

  it('uses the first field that the value has', () => {
    expect(route({ ...schemaless({ time: '2019-08-06' }), topic: 'bar' })?.topic).toBe('foo-bar-2019.08.06')
    expect(route(schemaless({ ts: '2019-08-06', timestamp: null, time: '2020-01-02' }))?.topic).toBe('foo-t-2020.01.02')
  })

  it('rejects values with a schema, without a timestamp, or with another format', () => {
    expect(() => route(order('a'))).toThrow(
      "Only Map objects supported in absence of schema for [appending message's timestamp field to topic], " +
        'found: org.apache.kafka.connect.data.Struct',
    )
    expect(() => route(schemaless({}))).toThrow('none of the fields timestamp, time, ts')
    expect(() => route(schemaless({ ts: 'yesterday' }))).toThrow('message.timestamp.format')
    expect(() => route(schemaless({ ts: 5 }))).toThrow('message.timestamp.format')
  })

  it('rejects a format that does not exist', () => {
    const config = { ...CONFIG, 'topic.timestamp.format': 'bbb' }
    expect(problemOf('MessageTimestampRouter', config)).toMatch(/configuration topic\.timestamp\.format/)
  })
})

it('names of Confluent lead to the plugins of Kafka Connect that do the same', () => {
  expect(catalog.find('transformation', 'io.confluent.connect.cloud.transforms.TopicRegexRouter')?.class).toBe(
    'RegexRouter',
  )
  expect(catalog.find('converter', 'io.confluent.connect.replicator.util.ByteArrayConverter')?.class).toBe(
    'ByteArrayConverter',
  )
})
