import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { BrokerError } from '../../../src/broker/broker-error.ts'
import { openBroker } from '../../../src/broker/open-broker.ts'
import { lagByWorkers, lagOnBroker, sinkGroup } from '../../../src/cli/verbs/sink-lag.ts'
import { RequestError } from '../../../src/clients/http-client.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'

describe('the lag of a sink by the offsets of the broker', () => {
  let broker: Broker
  beforeAll(async () => {
    broker = await openBroker({ kind: 'embedded', directory: ':memory:' }, { logger: silentLogger() })
    for (const name of ['b', 'a']) await broker.topics.create({ name, partitions: 11 })
    const producer = await broker.producer()
    for (const partition of [2, 10])
      await producer.send(
        Array.from({ length: 3 }, () => ({ topic: 'a', partition, key: null, value: Buffer.from('x') })),
      )
    await broker.groups.setOffsets('connect-sink', [
      { topic: 'b', partition: 0, offset: 0 },
      { topic: 'a', partition: 10, offset: 1 },
      { topic: 'a', partition: 2, offset: 3 },
    ])
  })
  afterAll(() => broker.close())

  it('is the end of each partition minus the committed offset, by topic and partition', async () => {
    expect(await lagOnBroker(broker, 'connect-sink')).toEqual([
      { topic: 'a', partition: 2, offset: 3, end: 3, lag: 0 },
      { topic: 'a', partition: 10, offset: 1, end: 3, lag: 2 },
      { topic: 'b', partition: 0, offset: 0, end: 0, lag: 0 },
    ])
  })

  it('is not known for a topic that was deleted, whose offsets Kafka keeps', async () => {
    const offsets = async () => [{ topic: 'deleted', partition: 0, offset: 7 }]
    const kept = { groups: { ...broker.groups, offsets }, topics: broker.topics }
    expect(await lagOnBroker(kept, 'connect-sink')).toEqual([
      { topic: 'deleted', partition: 0, offset: 7, end: null, lag: null },
    ])
  })

  it('is empty for a group that has committed nothing', async () => {
    expect(await lagOnBroker(broker, 'connect-other')).toEqual([])
  })

  it('is not known when the broker denies the offsets of a topic', async () => {
    const offsets = () => Promise.reject(new BrokerError('not_authorized', 'the client needs DESCRIBE on topic a'))
    const denied = { groups: broker.groups, topics: { ...broker.topics, offsets } }
    await expect(lagOnBroker(denied, 'connect-sink')).rejects.toThrow('DESCRIBE on topic a')
  })
})

it.each([
  [{}, 'connect-sink'],
  [{ 'consumer.override.group.id': 'own' }, 'own'],
  [{ 'consumer.override.bootstrap.servers': 'other:9092' }, undefined],
])('the group of a sink with %j is %s', (config, group) => {
  expect(sinkGroup('sink', config)).toBe(group)
})

describe('the lag of a sink by its workers', () => {
  const offset = (partition: number, at: number) => ({
    partition: { kafka_topic: 'my-topic', kafka_partition: partition },
    offset: { kafka_offset: at },
  })
  const client = {
    offsets: async () => [offset(10, 5), offset(2, 1), { partition: offset(3, 0).partition, offset: null }],
  }

  it('is what they measured, by topic and partition', async () => {
    const lags = async () => (partition: string) => (partition === 'my-topic-10' ? 4 : undefined)
    expect(await lagByWorkers(client, { lags }, 'sink')).toEqual({
      isMeasured: true,
      lags: [
        { topic: 'my-topic', partition: 2, offset: 1, end: null, lag: null },
        { topic: 'my-topic', partition: 3, offset: null, end: null, lag: null },
        { topic: 'my-topic', partition: 10, offset: 5, end: null, lag: 4 },
      ],
    })
  })

  it('is not measured by those of Kafka Connect', async () => {
    const lags = () => Promise.reject(new RequestError(404, 404, 'HTTP 404 Not Found'))
    const { isMeasured, lags: known } = await lagByWorkers(client, { lags }, 'sink')
    expect([isMeasured, known.map(({ lag }) => lag)]).toEqual([false, [null, null, null]])
  })
})
