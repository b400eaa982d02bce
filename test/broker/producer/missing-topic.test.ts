import { afterEach, describe, expect, it } from 'vitest'
import type { Broker, NewRecord } from '../../../src/broker/broker.ts'
import type { BrokerBackend } from '../../../src/broker/broker-backend.ts'
import { createBrokerClient } from '../../../src/broker/broker-client.ts'
import { openEmbeddedBackend } from '../../../src/broker/embedded/embedded-backend.ts'
import type { Clock } from '../../../src/common/clock.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { createFaultyBackend, type Fault, fastClock } from '../../support/faulty-backend.ts'

const toClose: Broker[] = []
afterEach(async () => {
  for (const broker of toClose.splice(0)) await broker.close()
})

describe('a producer of a topic that brokers do not know', () => {
  it.each(['produce', 'metadata'] as const)('retries when %s reports it for a while', async (call) => {
    const { broker } = await open({ faultOf: (name, count) => (name === call && count <= 5 ? 'missing' : 'none') })
    const producer = await broker.producer()
    await producer.send([record('a', 'x'), record('a', 'y')])
    expect(await read(broker, 'a')).toEqual(['x', 'y'])
  })

  it('retries when a topic is unknown to the nodes that it is written to, and stores records once and in order', async () => {
    const { broker } = await open({ faultOf: (name, count) => (name === 'produce' && count % 3 ? 'missing' : 'none') })
    const producer = await broker.producer({ batchBytesMax: 100 })
    const values = Array.from({ length: 40 }, (_, at) => String(at))
    await Promise.all(values.map((value) => producer.send([record('a', value)])))
    expect(await read(broker, 'a')).toEqual(values)
  })

  it.each(['produce', 'metadata'] as const)(
    'fails all of its records after max.block.ms when %s reports it',
    { tags: ['slow'] },
    async (call) => {
      const { broker, clock } = await open({ faultOf: (name) => (name === call ? 'missing' : 'none') })
      const producer = await broker.producer({ batchBytesMax: 100, deliveryTimeoutMs: 2 ** 31 - 1 })
      const sent = Array.from({ length: 4 }, () => producer.send([record('a', 'x')]))
      for (const sending of sent) await expect(sending).rejects.toMatchObject({ code: 'topic_not_found' })
      await expect(sent[0]).rejects.toThrow('no broker knew it within 60000 ms (max.block.ms)')
      // The records of one partition wait together. Calls that wait for metadata wait one after the other.
      expect(clock.monotonicMs()).toBeLessThan(call === 'produce' ? 70_000 : 4 * 70_000)
    },
  )

  it('ends the wait with its signal', async () => {
    const ending = new AbortController()
    const { broker, clock } = await open({
      faultOf: (name, count) => {
        if (name !== 'produce') return 'none'
        if (count === 3) ending.abort()
        return 'missing'
      },
    })
    const producer = await broker.producer({ signal: ending.signal })
    await expect(producer.send([record('a', 'x')])).rejects.toThrow('the wait for it was ended')
    expect(clock.monotonicMs()).toBeLessThan(10_000)
  })

  it('waits also when a transaction includes the topic', async () => {
    const { broker } = await open({
      faultOf: (name, count) => (name === 'addPartitionsToTransaction' && count <= 3 ? 'missing' : 'none'),
    })
    const producer = await broker.producer({ transactionalId: 't' })
    producer.begin()
    await producer.send([record('a', 'x')])
    await producer.commit()
    expect(await read(broker, 'a')).toEqual(['x'])
  })
})

it('Records of one topic do not fail because another topic does not exist', async () => {
  let isElecting = true
  const { broker, backend } = await open({
    decorate: (inner) => ({
      // Without leaders, the metadata of both topics is refreshed together.
      metadata: async (request) =>
        (await inner.metadata(request)).map(({ partitions, ...topic }) => ({
          ...topic,
          partitions: partitions.map((partition) => ({ ...partition, leader: isElecting ? -1 : partition.leader })),
        })),
    }),
  })
  const producer = await broker.producer({ maxBlockMs: 0 })
  const sending = Promise.allSettled(['a', 'b'].map((topic) => producer.send([record(topic, 'x')])))
  await expect.poll(() => broker.topics.describe('b')).toBeDefined()
  await backend.deleteTopic({ topic: 'b' })
  isElecting = false
  expect((await sending).map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  expect(await read(broker, 'a')).toEqual(['x'])
})

it('A partition that stores records continuously does not time out when its leader moves', async () => {
  const { broker } = await open({
    faultOf: (name, count) => (name === 'produce' && count === 20 ? 'not leader' : 'none'),
    decorate: (inner, clock) => ({
      produce: async (request) => {
        await clock.sleep(1_000)
        return inner.produce(request)
      },
    }),
  })
  const producer = await broker.producer({ batchBytesMax: 1, recordBytesMax: 1_000, deliveryTimeoutMs: 15_000 })
  const values = Array.from({ length: 40 }, (_, at) => String(at))
  await producer.send(values.map((value) => record('a', value)))
  expect(await read(broker, 'a')).toEqual(values)
})

it('Keys keep their partitions when a topic becomes unknown while a call waits for another topic', async () => {
  const found = Promise.withResolvers<void>()
  const hidden = new Set<string>()
  const { broker, backend } = await open({
    decorate: (inner) => ({
      metadata: async (request) => {
        if (request.topics?.includes('late')) await found.promise
        return (await inner.metadata(request)).filter(({ topic }) => !hidden.has(topic))
      },
    }),
  })
  await backend.createTopic({ name: 'late', partitions: 1 })
  await backend.addPartitions({ topic: 'a', total: 8 })
  const producer = await broker.producer()
  const keyed = Array.from({ length: 8 }, (_, at) => ({ ...record('a', String(at)), key: Buffer.from(String(at)) }))
  const first = await producer.send(keyed)
  const sending = producer.send([...keyed, record('late', 'x')])
  hidden.add('a')
  const reader = broker.reader()
  reader.seek([{ topic: 'a', partition: 8, offset: 0 }])
  await expect(reader.poll(0)).rejects.toMatchObject({ code: 'topic_not_found' })
  hidden.clear()
  found.resolve()
  expect((await sending).partitions.slice(0, 8)).toEqual(first.partitions)
})

it('A producer uses partitions that were added to its topic, within five minutes', async () => {
  const { broker, backend, clock } = await open({})
  const producer = await broker.producer()
  const keyed = Array.from({ length: 40 }, (_, at) => ({ ...record('a', String(at)), key: Buffer.from(String(at)) }))
  await producer.send(keyed)
  await backend.addPartitions({ topic: 'a', total: 4 })
  await clock.sleep(300_001)
  const used = async () => new Set((await producer.send(keyed)).partitions).size
  await expect.poll(used).toBe(4)
})

type Setup = {
  readonly faultOf?: (call: keyof BrokerBackend, count: number) => Fault
  readonly decorate?: (backend: BrokerBackend, clock: Clock) => Partial<BrokerBackend>
}

/** A broker with topics `a` and `b` of one partition. `count` counts the calls of one kind from 1. */
async function open({ faultOf = () => 'none', decorate = () => ({}) }: Setup) {
  const backend = await openEmbeddedBackend(':memory:', { logger: silentLogger() })
  for (const name of ['a', 'b']) await backend.createTopic({ name, partitions: 1 })
  const clock = fastClock()
  const decorated = decorate(backend, clock)
  const calls = new Proxy(backend, {
    get: (_, name: keyof BrokerBackend) => decorated[name] ?? (backend[name] as () => unknown).bind(backend),
  })
  const counts = new Map<string, number>()
  const faulty = createFaultyBackend(calls, (call) => {
    counts.set(call, (counts.get(call) ?? 0) + 1)
    return faultOf(call, counts.get(call) as number)
  })
  const address = () => Promise.reject(new Error('it has no address'))
  const broker = createBrokerClient(faulty, { logger: silentLogger(), clock, address })
  toClose.push(broker)
  return { broker, backend, clock }
}

function record(topic: string, value: string): NewRecord {
  return { topic, key: null, value: Buffer.from(value) }
}

async function read(broker: Broker, topic: string): Promise<string[]> {
  const [end] = await broker.topics.offsets(topic, 'latest', 'read_uncommitted')
  const reader = broker.reader({ isolation: 'read_uncommitted' })
  reader.seek([{ topic, partition: 0, offset: 0 }])
  const values: string[] = []
  for (let next = 0; next < (end?.offset ?? 0); ) {
    for (const { records, nextOffset } of await reader.poll(1_000)) {
      values.push(...records.map(({ value }) => String(value)))
      next = nextOffset
    }
  }
  await reader.close()
  return values
}
