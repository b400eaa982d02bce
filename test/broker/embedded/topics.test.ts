import { afterEach, beforeEach, expect, it } from 'vitest'
import type { BrokerBackend } from '../../../src/broker/backend.ts'
import { openEmbeddedBackend } from '../../../src/broker/embedded/backend.ts'
import { silentLogger } from '../../../src/config/logger.ts'
import { batchOf } from './batch.ts'

let home: BrokerBackend

beforeEach(async () => {
  home = await openEmbeddedBackend(':memory:', { logger: silentLogger() })
})
afterEach(() => home.close())

const read = { node: 0, bytesMin: 1, bytesMax: 1e6, isolation: 'read_committed' as const }

it('creates a topic once, with one partition unless told', async () => {
  const made = await Promise.all([
    home.createTopic({ name: 't', replicationFactor: 3 }),
    home.createTopic({ name: 't' }),
  ])
  expect(made).toEqual([true, false])
  expect(await home.metadata({})).toEqual([
    { topic: 't', internal: false, partitions: [{ partition: 0, leader: 0, replicas: 1 }] },
  ])
  expect(await home.metadata({ topics: ['other', 't'] })).toHaveLength(1)
})

it.each(['', '.', '..', 'a b', 'ä', 'x'.repeat(250)])('refuses %j as a name', async (name) => {
  await expect(home.createTopic({ name })).rejects.toMatchObject({ code: 'invalid_topic' })
})

it.each([
  { 'retention.ms': '-2' },
  { 'retention.ms': 'soon' },
  { 'cleanup.policy': 'burn' },
  { 'cleanup.policy': '' },
  { 'min.cleanable.dirty.ratio': '1.5' },
  { 'no.such.config': '1' },
])('refuses the configs %j', async (configs) => {
  await expect(home.createTopic({ name: 't', configs: configs as Record<string, string> })).rejects.toMatchObject({
    code: 'invalid_config',
    message: expect.stringContaining(Object.keys(configs)[0]!),
  })
  expect(await home.metadata({})).toEqual([])
})

it('tells configs with their defaults, and null takes one back', async () => {
  await home.createTopic({ name: 't', configs: { 'cleanup.policy': 'compact, delete', 'segment.ms': '100' } })
  expect(await home.topicConfigs({ topic: 't' })).toMatchObject({
    'cleanup.policy': 'compact, delete',
    'segment.ms': '100',
    'retention.ms': '604800000',
  })
  await home.setTopicConfigs({ topic: 't', configs: { 'cleanup.policy': null, 'retention.ms': '5' } })
  expect(await home.topicConfigs({ topic: 't' })).toMatchObject({ 'cleanup.policy': 'delete', 'retention.ms': '5' })
})

it('adds partitions, and never takes any away', async () => {
  await home.createTopic({ name: 't' })
  await home.addPartitions({ topic: 't', total: 3 })
  expect((await home.metadata({}))[0]?.partitions.map(({ partition }) => partition)).toEqual([0, 1, 2])
  await expect(home.addPartitions({ topic: 't', total: 3 })).rejects.toMatchObject({ code: 'invalid_request' })
})

it('deletes a topic with its records and committed offsets, and wakes who reads it', async () => {
  await home.createTopic({ name: 't' })
  await home.produce({ node: 0, timeoutMs: 1, batches: [{ topic: 't', partition: 0, bytes: batchOf(['a']) }] })
  await home.commitOffsets({ groupId: 'g', offsets: [{ topic: 't', partition: 0, offset: 1 }] })
  const waiting = home.fetch({ ...read, waitMsMax: 60_000, partitions: [{ topic: 't', partition: 0, offset: 1 }] })
  await home.deleteTopic({ topic: 't' })
  expect((await waiting)[0]?.error?.code).toBe('topic_not_found')
  expect(await home.groupOffsets({ groupId: 'g' })).toEqual([])
  await expect(home.deleteTopic({ topic: 't' })).rejects.toMatchObject({ code: 'topic_not_found' })

  await home.createTopic({ name: 't' })
  const [again] = await home.fetch({ ...read, waitMsMax: 0, partitions: [{ topic: 't', partition: 0, offset: 0 }] })
  expect(again).toMatchObject({ bytes: new Uint8Array(0), startOffset: 0, endOffset: 0 })
})

it('lists offsets by place and by time', async () => {
  await home.createTopic({ name: 't' })
  for (const timestampMs of [1000, 2000, 3000]) {
    const bytes = batchOf([
      { value: 'a', timestampMs },
      { value: 'b', timestampMs: timestampMs + 500 },
    ])
    await home.produce({ node: 0, timeoutMs: 1, batches: [{ topic: 't', partition: 0, bytes }] })
  }
  const offset = async (at: 'earliest' | 'latest' | number) => {
    const partitions = [{ topic: 't', partition: 0 }]
    return (await home.listOffsets({ partitions, at, isolation: 'read_committed' }))[0]?.offset
  }
  expect(await Promise.all(['earliest' as const, 'latest' as const].map(offset))).toEqual([0, 6])
  expect(await Promise.all([0, 1000, 1001, 2000, 3500, 3501].map(offset))).toEqual([0, 0, 1, 2, 5, 6])
})
