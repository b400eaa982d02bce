import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Broker, Consumer, NewRecord, PartitionRecords } from '../../src/broker/broker.ts'
import type { BrokerBackend } from '../../src/broker/broker-backend.ts'
import { createBrokerClient } from '../../src/broker/broker-client.ts'
import { openEmbeddedBackend } from '../../src/broker/embedded/embedded-backend.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { createFaultyBackend, createStrictBackend, type Fault, fastClock } from '../support/faulty-backend.ts'
import { propertyRuns } from '../support/property-seed.ts'

const PARTITIONS = 3
const PROPERTY_TIMEOUT_MS = 60_000

const faults = (...kinds: Fault[]) =>
  fc.array(fc.oneof({ weight: 2, arbitrary: fc.constant<Fault>('none') }, fc.constantFrom(...kinds)), { maxLength: 40 })

describe('Producer on a faulty broker', () => {
  it(
    'stores every record exactly once and in order',
    async () => {
      const calls = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 12 })
      await fc.assert(
        fc.asyncProperty(calls, faults('broken before', 'broken after', 'not leader'), async (sizes, plan) => {
          await withBroker(plan, ['produce', 'metadata'], async (broker, reliable) => {
            const producer = await broker.producer({ batchBytesMax: 300 })
            let number = 0
            const sends = sizes.map((size) => Array.from({ length: size }, () => record(number++)))
            await Promise.all(sends.map((records) => producer.send(records)))
            expect(await readAll(broker, reliable)).toEqual(expected(number))
          })
        }),
        { numRuns: propertyRuns(20) },
      )
    },
    PROPERTY_TIMEOUT_MS,
  )

  it('opens when a broker can give it an id again, however long that takes within max.block.ms', async () => {
    const plan: Fault[] = ['broken before', 'broken after', 'broken before']
    await withBroker(plan, ['initProducer'], async (broker) => {
      await expect(broker.producer()).resolves.toBeDefined()
    })
    await withBroker(Array<Fault>(200).fill('broken before'), ['initProducer'], async (broker) => {
      await expect(broker.producer({ maxBlockMs: 5_000 })).rejects.toMatchObject({ code: 'unavailable' })
    })
  })

  it('commits a transaction whose coordinator does not answer for longer than a call of the client may take', async () => {
    const calls = ['addPartitionsToTransaction', 'endTransaction'] as const
    const plan: Fault[] = Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? 'broken before' : 'broken after'))
    plan[19] = 'none'
    await withBroker(plan.slice(0, 36), calls, async (broker, reliable) => {
      const producer = await broker.producer({ transactionalId: 'x', maxBlockMs: 2 ** 31 - 1 })
      producer.begin()
      await producer.send([record(0)])
      await producer.commit()
      expect(await readAll(broker, reliable)).toEqual(expected(1))
    })
  })

  it(
    'reports each rejected record once and stores all others exactly once and in order',
    async () => {
      const calls = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 12 })
      const rejectedValues = fc.uniqueArray(fc.integer({ min: 0, max: 100 }), { maxLength: 12 })
      await fc.assert(
        fc.asyncProperty(
          calls,
          rejectedValues,
          faults('broken before', 'broken after', 'not leader'),
          async (sizes, rejected, plan) => {
            const backend = await openBackend()
            const remaining = [...plan]
            const strict = createStrictBackend(backend, (value) => rejected.includes(Number(value)))
            const broker = brokerOf(
              createFaultyBackend(strict, (call) => (call === 'produce' ? (remaining.shift() ?? 'none') : 'none')),
            )
            const producer = await broker.producer({ batchBytesMax: 300 })
            let number = 0
            const reported: string[] = []
            const sends = sizes.map((size) => Array.from({ length: size }, () => record(number++)))
            await Promise.all(
              sends.map((records) =>
                producer.send(records, (index, { code }) => reported.push(`${records[index]?.value} ${code}`)),
              ),
            )
            const isRejected = (value: string) => rejected.includes(Number(value))
            const all = expected(number)
            expect(await readAll(brokerOf(backend))).toEqual(
              all.map((values) => values.filter((value) => !isRejected(value))),
            )
            expect(reported.toSorted()).toEqual(
              all
                .flat()
                .filter(isRejected)
                .map((value) => `${value} invalid_record`)
                .toSorted(),
            )
            await broker.close()
          },
        ),
        { numRuns: propertyRuns(20) },
      )
    },
    PROPERTY_TIMEOUT_MS,
  )

  it('rejects a record after the delivery timeout and stores later records', async () => {
    let isDown = true
    const backend = await openBackend()
    const faulty = createFaultyBackend(backend, (call) => (isDown && call === 'produce' ? 'broken before' : 'none'))
    const broker = brokerOf(faulty)
    const producer = await broker.producer({ deliveryTimeoutMs: 5_000 })
    await expect(producer.send([record(0)])).rejects.toMatchObject({ code: 'timeout' })
    isDown = false
    await producer.send([record(0), record(1), record(2)])
    expect(await readAll(broker)).toEqual(expected(3))
    await broker.close()
  })
})

describe('Producer with a batch that cannot be encoded', () => {
  it('fails its records and stores later ones', async () => {
    const broker = brokerOf(await openBackend())
    const producer = await broker.producer()
    // Valid when the record is checked.
    const times = [0, 1.5]
    const changing = Object.defineProperty({ ...record(0) }, 'timestampMs', { get: () => times.shift() ?? 1.5 })
    await expect(producer.send([changing])).rejects.toMatchObject({ code: 'invalid_request' })
    await producer.send([record(0), record(1), record(2)])
    expect(await readAll(broker)).toEqual(expected(3))
    await broker.close()
  })
})

describe('Reader on a faulty broker', () => {
  it(
    'returns every record exactly once and in order',
    async () => {
      const counts = fc.integer({ min: 1, max: 200 })
      await fc.assert(
        fc.asyncProperty(
          counts,
          faults('broken before', 'broken after', 'not leader', 'cut short'),
          async (count, plan) => {
            await withBroker(plan, ['fetch', 'metadata'], async (broker, reliable) => {
              const producer = await broker.producer({ batchBytesMax: 300 })
              for (let number = 0; number < count; number += 7)
                await producer.send(Array.from({ length: Math.min(7, count - number) }, (_, at) => record(number + at)))
              expect(await readAll(broker, reliable)).toEqual(expected(count))
            })
          },
        ),
        { numRuns: propertyRuns(20) },
      )
    },
    PROPERTY_TIMEOUT_MS,
  )
})

describe('Consumer on a faulty broker', () => {
  it(
    'continues at the committed offset of its group',
    async () => {
      const calls: readonly (keyof BrokerBackend)[] = [
        'joinGroup',
        'syncGroup',
        'heartbeat',
        'groupOffsets',
        'listOffsets',
        'fetch',
      ]
      await fc.assert(
        fc.asyncProperty(faults('broken before', 'broken after', 'not leader'), async (plan) => {
          await withBroker(plan, calls, async (broker) => {
            const producer = await broker.producer()
            await producer.send(Array.from({ length: 30 }, (_, number) => record(number)))
            await broker.groups.setOffsets('g', [{ topic: 't', partition: 0, offset: 4 }])
            // The instance id lets a member whose join response was lost rejoin as the same member.
            const consumer = await broker.consumer({ groupId: 'g', instanceId: 'i', topics: ['t'] })
            expect(await valuesOf(consumer, 26)).toEqual(
              expected(30).map((values, at) => (at === 0 ? values.slice(4) : values)),
            )
          })
        }),
        { numRuns: propertyRuns(15) },
      )
    },
    PROPERTY_TIMEOUT_MS,
  )

  it.each(['fetch', 'metadata', 'listOffsets'] as const)(
    'waits when %s reports that its topic is unknown',
    async (name) => {
      const backend = await openBackend()
      let attempts = 0
      let isMissing = false
      const fault = (call: keyof BrokerBackend) => (isMissing && call === name && ++attempts <= 3 ? 'missing' : 'none')
      const broker = brokerOf(createFaultyBackend(backend, fault))
      const producer = await brokerOf(backend).producer()
      await producer.send([record(0), record(1), record(2)])
      const consumer = await broker.consumer({ groupId: 'g', topics: ['t'] })
      isMissing = true
      expect(await valuesOf(consumer, 3)).toEqual(expected(3))
      expect(attempts).toBeGreaterThan(2)
      await broker.close()
    },
  )

  it('opens when a broker can say which topics exist, however long that takes', async () => {
    const plan: Fault[] = Array.from({ length: 100 }, (_, at) => (at % 2 === 0 ? 'broken before' : 'broken after'))
    await withBroker(plan, ['metadata'], async (broker, reliable) => {
      const producer = await reliable.producer()
      await producer.send([record(0)])
      const consumer = await broker.consumer({ groupId: 'g', topics: ['t'] })
      expect(await valuesOf(consumer, 1)).toEqual(expected(1))
    })
  })

  it('keeps its assignment while the committed offsets cannot be fetched', async () => {
    const backend = await openBackend()
    let attempts = 0
    const isRejected = (call: keyof BrokerBackend) => call === 'groupOffsets' && ++attempts <= 3
    const broker = brokerOf(createFaultyBackend(backend, (call) => (isRejected(call) ? 'not leader' : 'none')))
    const producer = await broker.producer()
    await producer.send([record(0), record(1), record(2)])
    const consumer = await broker.consumer({ groupId: 'g', topics: ['t'] })
    expect(await valuesOf(consumer, 3)).toEqual(expected(3))
    expect(attempts).toBe(4)
    await broker.close()
  })
})

/** Creates a topic `t` on a backend whose `calls` have the faults of `plan`, in order. Calls after its end succeed. */
async function withBroker(
  plan: readonly Fault[],
  calls: readonly (keyof BrokerBackend)[],
  use: (broker: Broker, reliable: Broker) => Promise<void>,
): Promise<void> {
  const remaining = [...plan]
  const backend = await openBackend()
  const broker = brokerOf(
    createFaultyBackend(backend, (call) => (calls.includes(call) ? (remaining.shift() ?? 'none') : 'none')),
  )
  try {
    await use(broker, brokerOf(backend))
  } finally {
    await broker.close()
  }
}

async function openBackend(): Promise<BrokerBackend> {
  const backend = await openEmbeddedBackend(':memory:', { logger: silentLogger() })
  await backend.createTopic({ name: 't', partitions: PARTITIONS })
  return backend
}

function brokerOf(backend: BrokerBackend): Broker {
  const address = () => Promise.reject(new Error('it has no address'))
  return createBrokerClient(backend, { logger: silentLogger(), clock: fastClock(), address })
}

function record(number: number): NewRecord {
  return { topic: 't', partition: number % PARTITIONS, key: null, value: Buffer.from(String(number)) }
}

/** The expected values of each partition after this number of records. */
function expected(count: number): string[][] {
  const numbers = Array.from({ length: count }, (_, number) => number)
  return Array.from({ length: PARTITIONS }, (_, partition) =>
    numbers.filter((number) => number % PARTITIONS === partition).map(String),
  )
}

/** Reads all values by partition. The end offsets are requested from `reliable`, which has no faults. */
async function readAll(broker: Broker, reliable = broker): Promise<string[][]> {
  const ends = await reliable.topics.offsets('t', 'latest')
  const reader = broker.reader()
  reader.seek(ends.map(({ partition }) => ({ topic: 't', partition, offset: 0 })))
  const count = ends.reduce((sum, { offset }) => sum + offset, 0)
  return collect((waitMs) => reader.poll(waitMs), count)
}

function valuesOf(consumer: Consumer, count: number): Promise<string[][]> {
  return collect((waitMs) => consumer.poll(waitMs), count)
}

async function collect(
  poll: (waitMs: number) => Promise<readonly PartitionRecords[]>,
  count: number,
): Promise<string[][]> {
  const values: string[][] = Array.from({ length: PARTITIONS }, () => [])
  for (let seen = 0; seen < count; ) {
    for (const { partition, records } of await poll(1_000)) {
      values[partition]?.push(...records.map(({ value }) => String(value)))
      seen += records.length
    }
  }
  return values
}
