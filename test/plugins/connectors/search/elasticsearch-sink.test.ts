import { describe, expect, it } from 'vitest'
import { elasticsearchSink } from '../../../../src/plugins/connectors/search/elasticsearch-sink.ts'
import {
  array,
  decimal,
  decimalFromText,
  FLOAT64,
  type HarnessRecord,
  INT64,
  map,
  optional,
  runSink,
  STRING,
  struct,
  TIMESTAMP,
  validateConfig,
} from '../../../../src/sdk/index.ts'
import { orderRecord as document, startElasticsearchSink as start } from '../../../support/search-server.ts'

describe('ElasticsearchSink', () => {
  it('writes each record as the document of its key, with the offset as external version', async () => {
    const { run, server } = await start()
    await run.put([document('a', { n: 1 }, 7), document(42, { n: 2 }, 8)])
    expect(server.bulks).toEqual([
      [
        { action: 'index', _index: 'orders', _id: 'a', version: 7, version_type: 'external', source: { n: 1 } },
        { action: 'index', _index: 'orders', _id: '42', version: 8, version_type: 'external', source: { n: 2 } },
      ],
    ])
    expect(server.seen.at(-1)?.headers['content-type']).toBe('application/x-ndjson')
  })

  it('never replaces a newer document: records that are written again are as if they were accepted', async () => {
    const { run, server } = await start()
    await run.put([document('a', { n: 1 }, 1), document('a', { n: 2 }, 2)])
    await run.put([document('a', { n: 1 }, 1)])
    expect(server.documents()).toEqual({ 'orders/a': { n: 2 } })
    expect(run.rejected).toEqual([])
  })

  it('creates an index once, and a mapping from the schema of values if the index has none', async () => {
    const { run, server } = await start({ 'schema.ignore': 'false' }, {})
    const schema = struct('Order', {
      id: { ...INT64, default: 5 },
      name: STRING,
      at: TIMESTAMP,
      price: decimal(2),
      tags: array(STRING),
      sizes: map(STRING, FLOAT64),
    })
    const value = {
      id: 1,
      name: 'x',
      at: new Date(0),
      price: decimalFromText('1.50', 2),
      tags: ['t'],
      sizes: new Map([['s', 1.5]]),
    }
    await run.put([{ topic: 'orders', key: 'a', value, valueSchema: schema }])
    await run.put([{ topic: 'orders', key: 'b', value, valueSchema: schema }])
    const text = { type: 'text', fields: { keyword: { type: 'keyword', ignore_above: 256 } } }
    expect(server.created).toEqual([
      { path: '/orders', body: undefined },
      {
        path: '/orders/_mapping',
        body: {
          properties: {
            id: { type: 'long', null_value: 5 },
            name: text,
            at: { type: 'date' },
            price: { type: 'double' },
            tags: text,
            sizes: { properties: { key: text, value: { type: 'double' } } },
          },
        },
      },
    ])
    expect(server.documents()['orders/a']).toEqual({
      id: 1,
      name: 'x',
      at: 0,
      price: 1.5,
      tags: ['t'],
      sizes: { s: 1.5 },
    })
  })

  it('keeps the mapping that an index has', async () => {
    const { run, server } = await start({ 'schema.ignore': 'false' })
    await run.put([{ topic: 'orders', key: 'a', value: { n: 1 }, valueSchema: struct('V', { n: INT64 }) }])
    expect(server.created).toEqual([])
    expect(server.documents()).toEqual({ 'orders/a': { n: 1 } })
  })

  it('rejects a value without a schema where a mapping is needed, with the remedy', async () => {
    const { run } = await start({ 'schema.ignore': 'false' })
    await run.put([document('a', { n: 1 })])
    expect(run.rejected.map(({ error }) => error.message)).toEqual([
      'the value has no schema to create a mapping from: set schema.ignore=true, or use a converter with schemas',
    ])
  })

  it('writes maps as lists of entries with compact.map.entries=false, and maps without text keys always', async () => {
    const value = { names: new Map([['a', 1]]), numbers: new Map([[5, 1]]) }
    const valueSchema = struct('V', { names: map(STRING, INT64), numbers: map(INT64, INT64) })
    const entry = (key: string | number) => [{ key, value: 1 }]
    for (const [compact, names] of [
      ['true', { a: 1 }],
      ['false', entry('a')],
    ] as const) {
      const { run, server } = await start({ 'schema.ignore': 'false', 'compact.map.entries': compact })
      await run.put([{ topic: 'orders', key: 'a', value, valueSchema }])
      expect(server.documents()['orders/a']).toEqual({ names, numbers: entry(5) })
    }
  })

  it('writes the defaults of schemas for missing values', async () => {
    const { run, server } = await start({ 'schema.ignore': 'false' })
    const valueSchema = struct('V', { a: { ...optional(INT64), default: 3 }, b: optional(INT64) })
    await run.put([{ topic: 'orders', key: 'a', value: { a: null, b: null }, valueSchema }])
    expect(server.documents()['orders/a']).toEqual({ a: 3, b: null })
  })

  it('names documents by topic, partition and offset for topics whose key is ignored', async () => {
    const { run, server } = await start({ 'topic.key.ignore': 'logs' }, { indices: ['orders', 'logs'] })
    await run.put([{ topic: 'logs', key: 'k', partition: 2, offset: 9, value: { n: 1 } }, document('k', { n: 2 })])
    expect(server.documents()).toEqual({ 'logs/logs+2+9': { n: 1 }, 'orders/k': { n: 2 } })
    expect(server.bulks[0]?.[0]).not.toHaveProperty('version')
  })

  it.each([
    ['Orders', 'orders'],
    ['_internal', 'internal'],
    ['-x', 'x'],
    ['..', 'dot.'],
  ])('writes topic %s to index %s', async (topic, index) => {
    const { run, server } = await start({}, { indices: [index] })
    await run.put([{ topic, key: 'a', value: { n: 1 } }])
    expect(server.documents()).toEqual({ [`${index}/a`]: { n: 1 } })
  })

  it('deletes documents of records without a value, unless a newer document exists', async () => {
    const { run, server } = await start({ 'behavior.on.null.values': 'delete' })
    await run.put([document('a', { n: 1 }, 1), document('b', { n: 1 }, 5)])
    await run.put([
      document('a', null, 6),
      document('b', null, 4),
      document(null, null, 7),
      document('unknown', null, 8),
    ])
    expect(server.documents()).toEqual({ 'orders/b': { n: 1 } })
    expect(run.rejected).toEqual([])
  })

  it('handles records without a value as invalid by default, and leaves them out with ignore', async () => {
    const strict = await start()
    await strict.run.put([document('a', null)])
    expect(strict.run.rejected.map(({ error }) => error.message)).toEqual([
      'the record has no value (behavior.on.null.values)',
    ])
    const ignoring = await start({ 'behavior.on.null.values': 'ignore' })
    await ignoring.run.put([document('a', null)])
    expect([ignoring.run.rejected, ignoring.server.bulks]).toEqual([[], []])
    const letters = { 'errors.tolerance': 'all', 'errors.deadletterqueue.topic.name': 'dead' }
    const reporting = await start({ 'behavior.on.null.values': 'ignore', ...letters })
    await reporting.run.put([document('a', null)])
    expect(reporting.run.rejected).toHaveLength(1)
  })

  it.each<[string, HarnessRecord, string]>([
    ['no key', document(null, { n: 1 }), 'the record has no key for the id of its document'],
    ['an empty key', document('', { n: 1 }), 'an empty key cannot be the id of a document'],
    ['a fractional key', document(1.5, { n: 1 }), 'a key of type float64 cannot be the id of a document'],
    ['a list as key', document(['a'], { n: 1 }), 'a key of type array cannot be the id of a document'],
    ['a text as value', document('a', 'text'), 'the value is not a JSON object'],
  ])('rejects a record with %s, or logs it with drop.invalid.message', async (_, record, message) => {
    const { run, server } = await start()
    await run.put([record, document('good', { n: 1 })])
    expect(run.rejected.map(({ error }) => error.message)).toEqual([expect.stringContaining(message)])
    const dropping = await start({ 'drop.invalid.message': 'true' })
    await dropping.run.put([record, document('good', { n: 1 })])
    expect(dropping.run.rejected).toEqual([])
    expect(dropping.server.documents()).toEqual(server.documents())
  })

  it('adds and replaces fields with write.method=upsert, in order although documents repeat', async () => {
    const { run, server } = await start({ 'write.method': 'upsert' })
    await run.put([document('a', { n: 1, m: 1 }, 0), document('a', { n: 2 }, 1), document('b', { n: 3 }, 2)])
    expect(server.documents()).toEqual({ 'orders/a': { n: 2, m: 1 }, 'orders/b': { n: 3 } })
    // One operation of a document for each request: the server may accept the second one only.
    expect(server.bulks.map((bulk) => bulk.map(({ _id }) => _id))).toEqual([['a'], ['a', 'b']])
  })

  it('takes versions from external.version.header', async () => {
    const { run, server } = await start({ 'external.version.header': 'v' })
    const version = (value: unknown) => ({ headers: [{ key: 'v', value, schema: null }] })
    await run.put([
      { ...document('a', { n: 1 }, 0), ...version('9007199254740993') },
      { ...document('b', { n: 1 }, 1), ...version('nine') },
      document('c', { n: 1 }, 2),
    ])
    expect(server.seen.at(-1)?.body).toContain('"version":9007199254740993,')
    expect(run.rejected.map(({ error }) => error.message)).toEqual([
      "the header 'v' (external.version.header) is not an integer from 0 to 2^63 - 1",
      "the record has no header 'v' (external.version.header)",
    ])
  })

  it('writes to data streams once, with the timestamp of the record or of a field', async () => {
    const stream = { 'data.stream.type': 'logs', 'data.stream.dataset': 'shop', 'data.stream.namespace': 'x-${topic}' }
    const { run, server } = await start({ ...stream, 'key.ignore': 'true' }, {})
    const record = { topic: 'Orders', value: { n: 1, '@timestamp': 'own' }, offset: 3, timestampMs: 1000 }
    await run.put([record])
    await run.put([record])
    expect(server.created).toEqual([{ path: '/_data_stream/logs-shop-x-orders', body: undefined }])
    expect(server.bulks[0]?.[0]).toMatchObject({ action: 'create', _id: 'Orders+0+3' })
    expect(server.documents()).toEqual({ 'logs-shop-x-orders/Orders+0+3': { n: 1, '@timestamp': 1000 } })
    expect(run.rejected).toEqual([])
    const byField = await start({ ...stream, 'data.stream.timestamp.field': 'none,at' }, {})
    await byField.run.put([document('a', { at: '2026-01-01' })])
    expect(byField.server.documents()['logs-shop-x-orders/a']).toEqual({ at: '2026-01-01', '@timestamp': '2026-01-01' })
  })

  it('writes to the resources of topic.to.external.resource.mapping and creates none', async () => {
    const mapping = { 'external.resource.usage': 'alias_index', 'topic.to.external.resource.mapping': 'orders:current' }
    const { run, server } = await start(mapping, { indices: ['current'] })
    await run.put([document('a', { n: 1 })])
    expect(server.documents()).toEqual({ 'current/a': { n: 1 } })
    const missing = await start(mapping, {})
    await expect(missing.run.put([document('a', { n: 1 })])).rejects.toThrow("'current' does not exist: create it")
    await expect(run.put([{ topic: 'other', key: 'a', value: {} }])).rejects.toThrow("topic 'other' has no entry")
  })

  it('limits requests by batch.size and bulk.size.bytes', async () => {
    const { run, server } = await start({ 'batch.size': '2', 'max.in.flight.requests': '1' })
    await run.put(['a', 'b', 'c', 'd', 'e'].map((key) => document(key, { n: 1 })))
    expect(server.bulks.map((bulk) => bulk.length)).toEqual([2, 2, 1])
    const bytes = await start({ 'bulk.size.bytes': '300', 'max.in.flight.requests': '1' })
    await bytes.run.put(['a', 'b', 'c'].map((key) => document(key, { text: 'x'.repeat(150) })))
    expect(bytes.server.bulks.map((bulk) => bulk.length)).toEqual([1, 1, 1])
  })

  it('sends the operations of a document in order over several concurrent requests', async () => {
    const keys = ['a', 'b', 'c', 'd']
    const { run, server } = await start({ 'batch.size': '5', 'write.method': 'upsert', 'max.in.flight.requests': '4' })
    await run.put(Array.from({ length: 100 }, (_, n) => document(keys[n % 4], { n }, n)))
    const order = (key: string) =>
      server.bulks.flat().flatMap(({ _id, source }) => (_id === key ? [(source as { doc: { n: number } }).doc.n] : []))
    for (const [at, key] of keys.entries()) expect(order(key)).toEqual(Array.from({ length: 25 }, (_, n) => n * 4 + at))
  })
})

describe('the configuration of ElasticsearchSink', () => {
  const problems = (config: Readonly<Record<string, string>>) =>
    validateConfig(elasticsearchSink.config, { 'connection.url': 'http://h:9200', ...config }).flatMap(
      ({ errors }) => errors,
    )

  it.each<[Readonly<Record<string, string>>, string]>([
    [{ 'connection.url': '' }, 'expected URLs such as https://host:9200'],
    [{ 'connection.username': 'u' }, 'connection.username and connection.password must be set together'],
    [{ 'key.ignore': 'true', 'topic.key.ignore': 'a' }, 'topic.key.ignore cannot be set with key.ignore=true'],
    [{ 'data.stream.type': 'logs' }, 'data.stream.type and data.stream.dataset must be set together'],
    [
      { 'data.stream.type': 'logs', 'data.stream.dataset': 'd', 'write.method': 'upsert' },
      'write.method=upsert is not possible with data streams',
    ],
    [
      { 'data.stream.type': 'logs', 'data.stream.dataset': 'd', 'behavior.on.null.values': 'delete' },
      'behavior.on.null.values=delete is not possible with data streams',
    ],
    [{ 'data.stream.timestamp.field': 'at' }, 'data.stream.timestamp.field can only be set with a data stream'],
    [
      { 'external.resource.usage': 'INDEX' },
      'external.resource.usage=index requires topic.to.external.resource.mapping',
    ],
    [{ 'topic.to.external.resource.mapping': 'a:b,c:b' }, 'its topic or resource is in another entry already'],
    [{ 'kerberos.user.principal': 'me' }, 'there is no maintained Kerberos client'],
  ])('rejects %o', (config, message) => {
    expect(problems(config)).toContainEqual(expect.stringContaining(message))
  })

  it('accepts the configurations of the original, and says once which keys have no effect', async () => {
    const config = {
      'connection.url': 'elasticsearch:9200',
      'type.name': '_doc',
      'key.ignore': 'false',
      'write.method': 'UPSERT',
      'behavior.on.malformed.documents': 'WARN',
      'linger.ms': '1000',
    }
    expect(problems(config)).toEqual([])
    const lines: (readonly [object, string | undefined])[] = []
    const log = (fields: object, message?: string) => void lines.push([fields, message])
    const run = await runSink(elasticsearchSink, { config, log: { debug: log, info: log, warn: log, error: log } })
    await run.stop()
    expect(lines).toEqual([[{ keys: ['linger.ms', 'type.name'] }, 'these keys have no effect']])
  })
})
