import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { openBroker } from '../../src/broker/open-broker.ts'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { elasticsearchSink } from '../../src/plugins/connectors/search/elasticsearch-sink.ts'
import { opensearchSink } from '../../src/plugins/connectors/search/opensearch-sink.ts'
import {
  array,
  BOOLEAN,
  type HarnessRecord,
  INT64,
  map,
  runSink,
  type SinkConnector,
  STRING,
  struct,
  TIMESTAMP,
  type z,
} from '../../src/sdk/index.ts'
import { describeOn, real } from '../env/real.ts'
import { partDirectory } from '../env/workspace.ts'
import { SEED } from '../support/property-seed.ts'
import { until } from '../support/until.ts'
import { startWorkerProcess } from '../support/worker-process.ts'

const WAIT = { everyMs: 100, timeoutMs: 120_000 }
const KILLS = Number(process.env['WEIR_SEARCH_KILLS'] ?? 2)
const PARTITIONS = 2
/** Records of each partition. */
const RECORDS = 1_000 * (KILLS + 1)
const KEYS = 50
/** Each of these keys ends with a record without a value. */
const DELETED_KEYS = 10
const RECORD_TIME_MS = Date.UTC(2026, 0, 1)

const opensearch = await real('opensearch')

describeOn([opensearch], 'the sinks of Elasticsearch and OpenSearch', () => {
  it('write documents, versions, mappings and deletions that the server accepts', async () => {
    const { topic, request, put } = setUp(elasticsearchSink)
    const schema = struct('Order', {
      id: { ...INT64, default: 5 },
      name: { ...STRING, default: 'x' },
      open: { ...BOOLEAN, default: true },
      at: { ...TIMESTAMP, default: new Date(0) },
      tags: array(STRING),
      sizes: map(STRING, INT64),
    })
    const order = (key: string, id: number | bigint, offset: number): HarnessRecord => {
      const sizes = new Map([['s', 1]])
      const value = { id, name: 'n', open: false, at: new Date(1), tags: ['a'], sizes }
      return { topic, key, offset, value, valueSchema: schema }
    }
    const config = { 'behavior.on.null.values': 'delete' }
    await put(config, [order('a', 1, 0), order('b', 2n ** 60n, 1), order('a', 3, 2)])
    await put(config, [order('a', 1, 0), { topic, key: 'b', value: null, offset: 9 }])
    await put(config, [order('b', 2, 5)])
    const { mappings } = (await request('GET', `/${topic}/_mapping`))[topic] as { mappings: { properties: object } }
    expect(mappings.properties).toMatchObject({ id: { type: 'long', null_value: 5 }, at: { type: 'date' } })
    expect(await request('GET', `/${topic}/_doc/a`)).toMatchObject({
      _version: 2,
      _source: { id: 3, name: 'n', open: false, at: 1, tags: ['a'], sizes: { s: 1 } },
    })
    expect(await request('GET', `/${topic}/_doc/b`)).toMatchObject({ found: false })
  })

  it('find the documents that the server rejects, one by one, and store all others', async () => {
    const { topic, request, put } = setUp(elasticsearchSink)
    const config = { 'schema.ignore': 'true' }
    const value = { n: 1 }
    const rejected = await put(config, [
      { topic, key: 'good', value },
      { topic, key: 'x'.repeat(513), value },
      { topic, key: 'also good', value },
      { topic, key: 'wrong type', value: { n: 'text' } },
      { topic, key: 'not a number', value: { m: Number.NaN } },
    ])
    expect(rejected.map(({ record }) => record.key)).toEqual(expect.arrayContaining(['x'.repeat(513), 'wrong type']))
    await request('POST', `/${topic}/_refresh`)
    const { hits } = await request('GET', `/${topic}/_search?size=10`)
    const stored = (hits as { hits: readonly { _id: string }[] }).hits.map(({ _id }) => _id)
    expect(stored).toEqual(expect.arrayContaining(['good', 'also good']))
    expect(stored.length + rejected.length).toBe(5)
  })

  it('update fields with upsert, in order, and generate ids', async () => {
    const { topic, request, put } = setUp(opensearchSink)
    const records = [{ a: 1, b: 1 }, { a: 2 }, { c: 3 }].map((value) => ({ topic, key: 'k', value }))
    await put({ 'schema.ignore': 'true', 'index.write.method': 'upsert' }, records)
    expect(await request('GET', `/${topic}/_doc/k`)).toMatchObject({ _source: { a: 2, b: 1, c: 3 } })
    await put({ 'schema.ignore': 'true', 'key.ignore': 'true', 'key.ignore.id.strategy': 'none' }, records)
    await request('POST', `/${topic}/_refresh`)
    expect(await request('GET', `/${topic}/_count`)).toMatchObject({ count: 4 })
  })

  it('create data streams with their template; a record that is written again is not stored twice', async () => {
    const { topic, request, put } = setUp(opensearchSink)
    const config = { 'schema.ignore': 'true', 'key.ignore': 'true', 'data.stream.enabled': 'true' }
    const record = { topic, value: { n: 1 }, offset: 4, timestampMs: RECORD_TIME_MS }
    await put(config, [record])
    await put(config, [record])
    await request('POST', `/${topic}/_refresh`)
    expect(await request('GET', `/${topic}/_search`)).toMatchObject({
      hits: { hits: [{ _id: `${topic}+0+4`, _source: { n: 1, '@timestamp': RECORD_TIME_MS } }] },
    })
  })

  it('lose no document, and leave none older than the newest record of its key, although the worker is killed', {
    timeout: 240_000 + KILLS * 60_000,
  }, async () => {
    const { topic, request } = setUp(elasticsearchSink)
    const data = partDirectory('data')
    const newest = await produce(data, topic)
    const start = () =>
      startWorkerProcess({ log: ['--data', data], groupId: topic, settings: { 'offset.flush.interval.ms': '300' } })
    let worker = await start()
    onTestFinished(() => worker.kill())
    const client = createWorkerClient({ url: worker.url, timeoutMs: 60_000 })
    const base = {
      'tasks.max': '2',
      topics: topic,
      'connection.url': opensearch.address.url,
      'read.timeout.ms': '60000',
      'connection.timeout.ms': '60000',
      'retry.backoff.ms': '50',
      'max.retries': '1000',
      'schema.ignore': 'true',
      'batch.size': '40',
      'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
      'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
      'value.converter.schemas.enable': 'false',
      'consumer.override.max.poll.records': '100',
    }
    await client.create(topic, {
      ...base,
      'connector.class': 'io.confluent.connect.elasticsearch.ElasticsearchSinkConnector',
      'behavior.on.null.values': 'delete',
    })
    await client.create(`${topic}-all`, {
      ...base,
      'connector.class': 'io.aiven.kafka.connect.opensearch.OpensearchSinkConnector',
      'data.stream.enabled': 'true',
      'data.stream.prefix': 'all',
      'key.ignore': 'true',
    })
    const all = `all-${topic}`
    const countOf = async (index: string) => {
      await request('POST', `/${index}/_refresh`)
      return Number((await request('GET', `/${index}/_count`))['count'] ?? 0)
    }
    const random = delays(SEED)
    const withValue = PARTITIONS * RECORDS - PARTITIONS * DELETED_KEYS
    for (let kill = 0; kill < KILLS; kill++) {
      const before = await countOf(all)
      await until('more documents', WAIT, async () => (await countOf(all)) > before || before === withValue)
      await sleep(random())
      await worker.kill()
      worker = await start()
    }
    await until('all records', WAIT, async () => (await countOf(all)) === withValue)
    const sources = async () => {
      await request('POST', `/${topic}/_refresh`)
      const { hits } = (await request('GET', `/${topic}/_search?size=1000`)) as {
        hits?: { hits: readonly { _id: string; _source: { n: number } }[] }
      }
      return new Map(hits?.hits.map(({ _id, _source }) => [_id, _source.n] as const))
    }
    await until(
      'the newest documents',
      WAIT,
      async () => JSON.stringify([...(await sources())].toSorted()) === JSON.stringify([...newest].toSorted()),
    )
    await worker.stop()
    expect(await countOf(all)).toBe(withValue)
  })
})

/** A topic of its own, requests to the server, and runs of a sink. */
function setUp<Config extends z.ZodObject>(sink: SinkConnector<Config>) {
  const { url } = opensearch.address
  const request = async (method: string, path: string): Promise<Readonly<Record<string, unknown>>> =>
    (await fetch(`${url}${path}`, { method })).json() as Promise<Readonly<Record<string, unknown>>>
  const put = async (config: Readonly<Record<string, string>>, records: readonly HarnessRecord[]) => {
    const base = { 'connection.url': url, 'connection.timeout.ms': '60000', 'read.timeout.ms': '60000' }
    const run = await runSink(sink, { config: { ...base, ...config } })
    await run.put(records)
    await run.stop()
    return run.rejected
  }
  return { topic: `search-${crypto.randomUUID()}`, request, put }
}

/** Times between new documents and the kill. */
function delays(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state % 400
  }
}

/** Writes records whose numbers grow, and returns the last number of each key that has a value at the end. */
async function produce(data: string, topic: string): Promise<ReadonlyMap<string, number>> {
  const broker = await openBroker({ kind: 'embedded', directory: data }, { logger: silentLogger() })
  await broker.topics.create({ name: topic, partitions: PARTITIONS, replicationFactor: 1 })
  const producer = await broker.producer()
  const newest = new Map<string, number>()
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const records = Array.from({ length: RECORDS }, (_, n) => {
      const isDeletion = n >= RECORDS - DELETED_KEYS
      const key = `${partition}-${n % KEYS}`
      if (isDeletion) newest.delete(key)
      else newest.set(key, n)
      return { key, value: isDeletion ? null : Buffer.from(JSON.stringify({ n })) }
    })
    await producer.send(records.map(({ key, value }) => ({ topic, partition, key: Buffer.from(key), value })))
  }
  await producer.close()
  await broker.close()
  return newest
}
