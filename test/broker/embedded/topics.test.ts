import { afterEach, beforeEach, expect, it } from 'vitest'
import type { BrokerBackend } from '../../../src/broker/broker-backend.ts'
import { openEmbeddedBackend } from '../../../src/broker/embedded/embedded-backend.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { batchOf } from './batch.ts'

let backend: BrokerBackend

beforeEach(async () => {
  backend = await openEmbeddedBackend(':memory:', { logger: silentLogger() })
})
afterEach(() => backend.close())

const read = { node: 0, bytesMin: 1, bytesMax: 1e6, isolation: 'read_committed' as const }

it('creates a topic once, with one partition by default', async () => {
  const created = await Promise.all([
    backend.createTopic({ name: 't', replicationFactor: 3 }),
    backend.createTopic({ name: 't' }),
  ])
  expect(created).toEqual([true, false])
  expect(await backend.metadata({})).toEqual([
    { topic: 't', internal: false, partitions: [{ partition: 0, leader: 0, replicas: 1 }] },
  ])
  expect(await backend.metadata({ topics: ['other', 't'] })).toHaveLength(1)
})

it.each(['', '.', '..', 'a b', 'ä', 'x'.repeat(250)])('refuses %j as a name', async (name) => {
  await expect(backend.createTopic({ name })).rejects.toMatchObject({ code: 'invalid_topic' })
})

it.each([
  { 'retention.ms': '-2' },
  { 'retention.ms': 'soon' },
  { 'cleanup.policy': 'burn' },
  { 'cleanup.policy': '' },
  { 'min.cleanable.dirty.ratio': '1.5' },
  { 'no.such.config': '1' },
])('rejects the configs %j', async (configs) => {
  await expect(backend.createTopic({ name: 't', configs: configs as Record<string, string> })).rejects.toMatchObject({
    code: 'invalid_config',
    message: expect.stringContaining(Object.keys(configs)[0]!),
  })
  expect(await backend.metadata({})).toEqual([])
})

it('returns configs with their defaults, and resets one that is set to null', async () => {
  await backend.createTopic({ name: 't', configs: { 'cleanup.policy': 'compact, delete', 'segment.ms': '100' } })
  expect(await backend.topicConfigs({ topic: 't' })).toMatchObject({
    'cleanup.policy': 'compact, delete',
    'segment.ms': '100',
    'retention.ms': '604800000',
  })
  await backend.setTopicConfigs({ topic: 't', configs: { 'cleanup.policy': null, 'retention.ms': '5' } })
  expect(await backend.topicConfigs({ topic: 't' })).toMatchObject({ 'cleanup.policy': 'delete', 'retention.ms': '5' })
})

it('adds partitions and rejects a lower number', async () => {
  await backend.createTopic({ name: 't' })
  await backend.addPartitions({ topic: 't', total: 3 })
  expect((await backend.metadata({}))[0]?.partitions.map(({ partition }) => partition)).toEqual([0, 1, 2])
  await expect(backend.addPartitions({ topic: 't', total: 3 })).rejects.toMatchObject({ code: 'invalid_request' })
})

it('deletes a topic with its records and committed offsets, and wakes waiting readers', async () => {
  await backend.createTopic({ name: 't' })
  await backend.produce({ node: 0, timeoutMs: 1, batches: [{ topic: 't', partition: 0, bytes: batchOf(['a']) }] })
  await backend.commitOffsets({ groupId: 'g', offsets: [{ topic: 't', partition: 0, offset: 1 }] })
  const waiting = backend.fetch({ ...read, waitMsMax: 60_000, partitions: [{ topic: 't', partition: 0, offset: 1 }] })
  await backend.deleteTopic({ topic: 't' })
  expect((await waiting)[0]?.error?.code).toBe('topic_not_found')
  expect(await backend.groupOffsets({ groupId: 'g' })).toEqual([])
  await expect(backend.deleteTopic({ topic: 't' })).rejects.toMatchObject({ code: 'topic_not_found' })

  await backend.createTopic({ name: 't' })
  const [fetchedAfterwards] = await backend.fetch({
    ...read,
    waitMsMax: 0,
    partitions: [{ topic: 't', partition: 0, offset: 0 }],
  })
  expect(fetchedAfterwards).toMatchObject({ bytes: new Uint8Array(0), startOffset: 0, endOffset: 0 })
})

it('returns the earliest and the latest offset and offsets by timestamp', async () => {
  await backend.createTopic({ name: 't' })
  for (const timestampMs of [1000, 2000, 3000]) {
    const bytes = batchOf([
      { value: 'a', timestampMs },
      { value: 'b', timestampMs: timestampMs + 500 },
    ])
    await backend.produce({ node: 0, timeoutMs: 1, batches: [{ topic: 't', partition: 0, bytes }] })
  }
  const offset = async (at: 'earliest' | 'latest' | number) => {
    const partitions = [{ topic: 't', partition: 0 }]
    return (await backend.listOffsets({ partitions, at, isolation: 'read_committed' }))[0]?.offset
  }
  expect(await Promise.all(['earliest' as const, 'latest' as const].map(offset))).toEqual([0, 6])
  expect(await Promise.all([0, 1000, 1001, 2000, 3500, 3501].map(offset))).toEqual([0, 0, 1, 2, 5, 6])
})
