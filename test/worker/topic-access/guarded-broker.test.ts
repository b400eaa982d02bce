import { describe, expect, it } from 'vitest'
import { GuardedBroker } from '../../../src/worker/topic-access/guarded-broker.ts'
import { TopicAccess } from '../../../src/worker/topic-access/topic-access.ts'
import type { TopicAccessPolicy } from '../../../src/worker/topic-access/topic-access-policy.ts'
import { openTestBroker, produceTexts, readRecords } from '../../support/topic.ts'
import { OPEN_POLICY } from '../../support/topic-access.ts'

const POLICY: TopicAccessPolicy = { ...OPEN_POLICY, ownTopics: ['configs', 'offsets'], takenGroups: ['connect-other'] }
const NOT_ALLOWED = { code: 'not_allowed' }
const TEXT = { key: null, value: Buffer.from('v') }

async function open() {
  const broker = await openTestBroker('orders', 'configs', 'offsets')
  await produceTexts(broker, 'orders', 'a')
  await produceTexts(broker, 'configs', 'secret')
  let policy = POLICY
  const guarded = new GuardedBroker(broker, new TopicAccess('own', () => policy))
  const deny = (topic: string) => {
    policy = { ...policy, ownTopics: [...policy.ownTopics, topic] }
  }
  return { broker, guarded, deny }
}

describe('a producer of a connector', () => {
  it('sends no record of a batch with a topic that is not allowed', async () => {
    const { broker, guarded } = await open()
    const producer = await guarded.producer()
    const records = ['orders', 'configs'].map((topic) => ({ ...TEXT, topic }))
    await expect(producer.send(records)).rejects.toMatchObject(NOT_ALLOWED)
    await expect(producer.addPartitions([{ topic: 'configs', partition: 0 }])).rejects.toMatchObject(NOT_ALLOWED)
    await expect(producer.sendOffsets('connect-other', [])).rejects.toMatchObject(NOT_ALLOWED)
    await producer.close()
    expect(await readRecords(broker, 'orders')).toHaveLength(1)
    expect(await readRecords(broker, 'configs')).toHaveLength(1)
  })

  it('sends offsets, and only offsets, to the topic of offsets', async () => {
    const { broker, guarded } = await open()
    const producer = await guarded.producer()
    await producer.sendSourceOffsets([{ ...TEXT, topic: 'offsets' }])
    await expect(producer.send([{ ...TEXT, topic: 'offsets' }])).rejects.toMatchObject(NOT_ALLOWED)
    await expect(producer.sendSourceOffsets([{ ...TEXT, topic: 'configs' }])).rejects.toMatchObject(NOT_ALLOWED)
    await producer.close()
    expect(await readRecords(broker, 'offsets')).toHaveLength(1)
  })

  it('follows a change of the policy', async () => {
    const { guarded, deny } = await open()
    const producer = await guarded.producer()
    await producer.send([{ ...TEXT, topic: 'orders' }])
    deny('orders')
    await expect(producer.send([{ ...TEXT, topic: 'orders' }])).rejects.toMatchObject(NOT_ALLOWED)
    await producer.close()
  })
})

describe('a consumer of a connector', () => {
  it('does not join for a topic or a group that is not allowed', async () => {
    const { guarded } = await open()
    const topics = guarded.consumer({ groupId: 'connect-own', topics: ['orders', 'configs'] })
    await expect(topics).rejects.toMatchObject(NOT_ALLOWED)
    await expect(guarded.consumer({ groupId: 'connect-other', topics: ['orders'] })).rejects.toMatchObject(NOT_ALLOWED)
  })

  it('leaves out what its filter matches and is not allowed', async () => {
    const { guarded } = await open()
    const consumer = await guarded.consumer({ groupId: 'connect-own', topics: () => true })
    const polled = []
    while (polled.length === 0) polled.push(...(await consumer.poll(1_000)))
    expect(polled.map(({ topic }) => topic)).toEqual(['orders'])
    expect(consumer.assignment()).toEqual([{ topic: 'orders', partition: 0 }])
    await consumer.close()
  })

  it('returns no record of a topic that has become denied: it fails, or leaves it out if a filter selected it', async () => {
    for (const topics of [['orders'], (topic: string) => topic === 'orders']) {
      const { broker, guarded, deny } = await open()
      const consumer = await guarded.consumer({ groupId: 'connect-own', topics })
      const first = []
      while (first.length === 0) first.push(...(await consumer.poll(1_000)))
      deny('orders')
      await produceTexts(broker, 'orders', 'b')
      if (typeof topics === 'function') expect(await consumer.poll(1_000)).toEqual([])
      else await expect(consumer.poll(1_000)).rejects.toMatchObject(NOT_ALLOWED)
      await consumer.close()
    }
  })
})

it('a connector neither creates nor describes a topic that it may not write, and opens none that it may not read', async () => {
  const { guarded } = await open()
  await expect(guarded.topics.create({ name: 'configs' })).rejects.toMatchObject(NOT_ALLOWED)
  await expect(guarded.topics.describe('configs')).rejects.toMatchObject(NOT_ALLOWED)
  await expect(guarded.openTopic({ topic: 'configs', offset: 0 })).rejects.toMatchObject(NOT_ALLOWED)
  const reader = await guarded.openTopic({ topic: 'orders', offset: 0 })
  const polled = []
  while (polled.length === 0) polled.push(...(await reader.poll(1_000)))
  expect(polled.map(({ value }) => String(value))).toEqual(['a'])
  await reader.close()
})
