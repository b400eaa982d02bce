import { describe, expect, it, onTestFinished } from 'vitest'
import { opensearchSink } from '../../../../src/plugins/connectors/search/opensearch-sink.ts'
import { type HarnessRecord, runSink, validateConfig } from '../../../../src/sdk/index.ts'
import { type SearchServerOptions, startSearchServer } from '../../../support/search-server.ts'

describe('OpenSearchSink', () => {
  it.each([
    ['topic.partition.offset', { _id: 'orders+0+4' }],
    ['record.key', { _id: 'k', version: 4, version_type: 'external' }],
    ['none', {}],
  ])('names documents of ignored keys by key.ignore.id.strategy=%s', async (strategy, expected) => {
    const { run, server } = await start({ 'key.ignore': 'true', 'key.ignore.id.strategy': strategy })
    await run.put([{ ...document('k', { n: 1 }), offset: 4 }])
    expect(server.bulks).toEqual([[{ action: 'index', _index: 'orders', source: { n: 1 }, ...expected }]])
  })

  it('routes documents by the key or by a field', async () => {
    const byKey = await start({ 'routing.type': 'key' })
    await byKey.run.put([document('k', { n: 1 })])
    expect(byKey.server.bulks[0]?.[0]?.routing).toBe('k')
    const byValue = await start({ 'routing.type': 'value', 'routing.type.record.value.path': '/customer/id' })
    await byValue.run.put([document('a', { customer: { id: 7 } }), document('b', { customer: {} })])
    expect(byValue.server.bulks[0]?.[0]?.routing).toBe('7')
    expect(byValue.run.rejected.map(({ error }) => error.message)).toEqual([
      'the value has no text or number at /customer/id (routing.type.record.value.path)',
    ])
  })

  it('creates data streams with an index template, and adds missing timestamps', async () => {
    const { run, server } = await start({ 'data.stream.enabled': 'true', 'data.stream.prefix': 'shop' }, {})
    await run.put([
      { ...document('a', { n: 1 }), timestampMs: 5 },
      { ...document('b', { '@timestamp': 'own' }), timestampMs: 5 },
    ])
    expect(server.created).toEqual([
      {
        path: '/_index_template/shop-orders-connector-data-stream-template',
        body: { index_patterns: ['shop-orders'], priority: 200, data_stream: {} },
      },
      { path: '/_data_stream/shop-orders', body: undefined },
    ])
    expect(server.documents()).toEqual({
      'shop-orders/a': { n: 1, '@timestamp': 5 },
      'shop-orders/b': { '@timestamp': 'own' },
    })
  })

  it('handles documents with a newer version by behavior.on.version.conflict; ignored by default', async () => {
    const rejections = async (config: Readonly<Record<string, string>>) => {
      const { run } = await start(config)
      await run.put([{ ...document('a', { n: 2 }), offset: 2 }])
      await run.put([{ ...document('a', { n: 1 }), offset: 1 }])
      return run.rejected.length
    }
    expect(await rejections({})).toBe(0)
    expect(await rejections({ 'behavior.on.version.conflict': 'warn' })).toBe(0)
    expect(await rejections({ 'behavior.on.version.conflict': 'fail' })).toBe(1)
    expect(await rejections({ 'behavior.on.version.conflict': 'report' })).toBe(1)
  })

  it('leaves records without a value out by default, and names indices without characters that are not allowed', async () => {
    const { run, server } = await start({}, { indices: ['a_b'] })
    await run.put([
      { topic: '+A:b', key: 'k', value: { n: 1 } },
      { topic: '+A:b', key: 'k', value: null },
    ])
    expect(server.documents()).toEqual({ 'a_b/k': { n: 1 } })
    expect(run.rejected).toEqual([])
  })
})

describe('the configuration of OpenSearchSink', () => {
  const problems = (config: Readonly<Record<string, string>>) =>
    validateConfig(opensearchSink.config, { 'connection.url': 'http://h:9200', ...config }).flatMap(
      ({ errors }) => errors,
    )

  it.each<[Readonly<Record<string, string>>, string]>([
    [{ 'data.stream.enabled': 'true', 'index.write.method': 'upsert' }, 'index.write.method=upsert is not possible'],
    [{ 'key.ignore': 'true', 'index.write.method': 'upsert' }, 'requires key.ignore.id.strategy=record.key'],
    [{ 'routing.type': 'value' }, 'routing.type=value requires routing.type.record.value.path'],
    [
      { 'routing.type': 'value', 'routing.type.record.value.path': '/a', 'behavior.on.null.values': 'delete' },
      'a record without a value has no routing',
    ],
    [{ 'routing.type.record.value.path': 'a' }, "'a' is not a JSON pointer"],
    [{ 'existing.resource.type': 'index' }, 'existing.resource.type=index requires topic.to.existing.resource.mapping'],
    [{ 'aws.region': 'eu-central-1' }, 'requests are not signed'],
  ])('rejects %o', (config, message) => {
    expect(problems(config)).toContainEqual(expect.stringContaining(message))
  })

  it('accepts a configuration of the original', () => {
    expect(
      problems({
        'connection.url': 'https://u.aivencloud.com:24947',
        'connection.username': 'u',
        'connection.password': 'p',
        'type.name': '_doc',
        'schema.ignore': 'true',
        'key.ignore': 'true',
        'behavior.on.malformed.documents': 'report',
      }),
    ).toEqual([])
  })
})

async function start(
  config: Readonly<Record<string, string>> = {},
  options: SearchServerOptions = { indices: ['orders'] },
) {
  const server = await startSearchServer(options)
  const run = await runSink(opensearchSink, {
    config: { 'connection.url': server.url, 'read.timeout.ms': '60000', 'schema.ignore': 'true', ...config },
  })
  onTestFinished(() => run.stop())
  return { server, run }
}

function document(key: unknown, value: unknown): HarnessRecord {
  return { topic: 'orders', key, value }
}
