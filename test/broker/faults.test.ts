import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BrokerBackend } from '../../src/broker/backend.ts'
import type { Broker, Consumer, NewRecord, PartitionRecords } from '../../src/broker/broker.ts'
import { createBrokerClient } from '../../src/broker/broker-client.ts'
import { openEmbeddedBackend } from '../../src/broker/embedded/backend.ts'
import { silentLogger } from '../../src/config/logger.ts'
import { createFaultyBackend, createStrictBackend, type Fault, fastClock } from '../support/faulty-backend.ts'

const PARTITIONS = 3
const PROPERTY_TIMEOUT_MS = 60_000

const faults = (...kinds: Fault[]) =>
  fc.array(fc.oneof({ weight: 2, arbitrary: fc.constant<Fault>('none') }, fc.constantFrom(...kinds)), { maxLength: 40 })

describe('a producer', () => {
  it(
    'stores every record once and in order, whatever happens to its calls',
    async () => {
      const calls = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 12 })
      await fc.assert(
        fc.asyncProperty(calls, faults('broken before', 'broken after', 'not leader'), async (sizes, plan) => {
          await withBroker(plan, ['produce', 'metadata'], async (broker, calm) => {
            const producer = await broker.producer({ batchBytesMax: 300 })
            let number = 0
            const sends = sizes.map((size) => Array.from({ length: size }, () => record(number++)))
            await Promise.all(sends.map((records) => producer.send(records)))
            expect(await readAll(broker, calm)).toEqual(expected(number))
          })
        }),
        { numRuns: 60 },
      )
    },
    PROPERTY_TIMEOUT_MS,
  )

  it(
    'tells each record that is refused once, and stores all others once and in order, whatever happens to its calls',
    async () => {
      const calls = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 12 })
      const refusals = fc.uniqueArray(fc.integer({ min: 0, max: 100 }), { maxLength: 12 })
      await fc.assert(
        fc.asyncProperty(
          calls,
          refusals,
          faults('broken before', 'broken after', 'not leader'),
          async (sizes, refused, plan) => {
            const home = await openHome()
            const left = [...plan]
            const strict = createStrictBackend(home, (value) => refused.includes(Number(value)))
            const broker = brokerOf(
              createFaultyBackend(strict, (call) => (call === 'produce' ? (left.shift() ?? 'none') : 'none')),
            )
            const producer = await broker.producer({ batchBytesMax: 300 })
            let number = 0
            const told: string[] = []
            const sends = sizes.map((size) => Array.from({ length: size }, () => record(number++)))
            await Promise.all(
              sends.map((records) =>
                producer.send(records, (index, { code }) => told.push(`${records[index]?.value} ${code}`)),
              ),
            )
            const isRefused = (value: string) => refused.includes(Number(value))
            const all = expected(number)
            expect(await readAll(brokerOf(home))).toEqual(
              all.map((values) => values.filter((value) => !isRefused(value))),
            )
            expect(told.toSorted()).toEqual(
              all
                .flat()
                .filter(isRefused)
                .map((value) => `${value} invalid_record`)
                .toSorted(),
            )
            await broker.close()
          },
        ),
        { numRuns: 60 },
      )
    },
    PROPERTY_TIMEOUT_MS,
  )

  it('says that a record could not be stored when its time is over, and goes on after it', async () => {
    let isDown = true
    const home = await openHome()
    const faulty = createFaultyBackend(home, (call) => (isDown && call === 'produce' ? 'broken before' : 'none'))
    const broker = brokerOf(faulty)
    const producer = await broker.producer({ deliveryTimeoutMs: 5_000 })
    await expect(producer.send([record(0)])).rejects.toMatchObject({ code: 'timeout' })
    isDown = false
    await producer.send([record(0), record(1), record(2)])
    expect(await readAll(broker)).toEqual(expected(3))
    await broker.close()
  })
})

describe('a reader', () => {
  it(
    'brings every record once and in order, whatever happens to its calls',
    async () => {
      const counts = fc.integer({ min: 1, max: 200 })
      await fc.assert(
        fc.asyncProperty(
          counts,
          faults('broken before', 'broken after', 'not leader', 'cut short'),
          async (count, plan) => {
            await withBroker(plan, ['fetch', 'metadata'], async (broker, calm) => {
              const producer = await broker.producer({ batchBytesMax: 300 })
              for (let number = 0; number < count; number += 7)
                await producer.send(Array.from({ length: Math.min(7, count - number) }, (_, at) => record(number + at)))
              expect(await readAll(broker, calm)).toEqual(expected(count))
            })
          },
        ),
        { numRuns: 60 },
      )
    },
    PROPERTY_TIMEOUT_MS,
  )
})

describe('a consumer', () => {
  it(
    'reads on where its group committed, whatever happens to its calls',
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
            // Whose answer to a join was lost finds its place again by its instance id.
            const consumer = await broker.consumer({ groupId: 'g', instanceId: 'i', topics: ['t'] })
            expect(await valuesOf(consumer, 26)).toEqual(
              expected(30).map((values, at) => (at === 0 ? values.slice(4) : values)),
            )
          })
        }),
        { numRuns: 30 },
      )
    },
    PROPERTY_TIMEOUT_MS,
  )

  it('does not forget what it was given when nobody could say where to begin', async () => {
    const home = await openHome()
    let asked = 0
    const isRefused = (call: keyof BrokerBackend) => call === 'groupOffsets' && ++asked <= 3
    const broker = brokerOf(createFaultyBackend(home, (call) => (isRefused(call) ? 'not leader' : 'none')))
    const producer = await broker.producer()
    await producer.send([record(0), record(1), record(2)])
    const consumer = await broker.consumer({ groupId: 'g', topics: ['t'] })
    expect(await valuesOf(consumer, 3)).toEqual(expected(3))
    expect(asked).toBe(4)
    await broker.close()
  })
})

/** A topic `t` on a home whose `calls` go wrong by `plan`, one after the other; after its end all is well. */
async function withBroker(
  plan: readonly Fault[],
  calls: readonly (keyof BrokerBackend)[],
  use: (broker: Broker, calm: Broker) => Promise<void>,
): Promise<void> {
  const left = [...plan]
  const home = await openHome()
  const broker = brokerOf(
    createFaultyBackend(home, (call) => (calls.includes(call) ? (left.shift() ?? 'none') : 'none')),
  )
  try {
    await use(broker, brokerOf(home))
  } finally {
    await broker.close()
  }
}

async function openHome(): Promise<BrokerBackend> {
  const home = await openEmbeddedBackend(':memory:', { logger: silentLogger() })
  await home.createTopic({ name: 't', partitions: PARTITIONS })
  return home
}

function brokerOf(home: BrokerBackend): Broker {
  const address = () => Promise.reject(new Error('it has no address'))
  return createBrokerClient(home, { logger: silentLogger(), clock: fastClock(), address })
}

function record(number: number): NewRecord {
  return { topic: 't', partition: number % PARTITIONS, key: null, value: Buffer.from(String(number)) }
}

/** Values by partition, when so many records were written. */
function expected(count: number): string[][] {
  const numbers = Array.from({ length: count }, (_, number) => number)
  return Array.from({ length: PARTITIONS }, (_, partition) =>
    numbers.filter((number) => number % PARTITIONS === partition).map(String),
  )
}

/** Where it ends is asked of `calm`. */
async function readAll(broker: Broker, calm = broker): Promise<string[][]> {
  const ends = await calm.topics.offsets('t', 'latest')
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
