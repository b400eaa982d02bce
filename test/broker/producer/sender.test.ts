import { describe, expect, it } from 'vitest'
import type { Broker, NewRecord } from '../../../src/broker/broker.ts'
import type { BackendRequest, BrokerBackend, ProduceResult } from '../../../src/broker/broker-backend.ts'
import { createBrokerClient } from '../../../src/broker/broker-client.ts'
import { openEmbeddedBackend } from '../../../src/broker/embedded/embedded-backend.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { fastClock } from '../../support/faulty-backend.ts'

/** Each call of `send` is a batch. The first one has been stored before. */
describe('a producer of which the broker rejects the second batch after it has rejected the third for its sequence number', () => {
  it.each([
    ['in a transaction', { transactionalId: 't' }],
    ['without transactions', {}],
  ])('stores each record once and in order %s', async (_, options) => {
    const { broker, sequences } = await openReordering()
    const producer = await broker.producer(options)
    if ('transactionalId' in options) producer.begin()
    await producer.send([record('first')])
    const second = producer.send([record('second')])
    await expect.poll(() => sequences).toEqual([0, 1])
    const third = producer.send([record('third')])
    await Promise.all([second, third])
    if ('transactionalId' in options) await producer.commit()
    expect(await read(broker, 3)).toEqual(['first', 'second', 'third'])
    // The sequence continues: the producer id was not reinitialized.
    expect(sequences).toEqual([0, 1, 2, 1, 2])
    await broker.close()
  })
})

/** The former leader of the partition rejects the second request, and its response arrives after that of the third request. */
async function openReordering() {
  const backend = await openEmbeddedBackend(':memory:', { logger: silentLogger() })
  await backend.createTopic({ name: 'a', partitions: 1 })
  const sequences: number[] = []
  const thirdAnswered = Promise.withResolvers<void>()
  const produce = async (request: BackendRequest<'produce'>): Promise<readonly ProduceResult[]> => {
    const [batch] = request.batches
    sequences.push(Buffer.from(batch!.bytes).readInt32BE(BASE_SEQUENCE_AT))
    if (sequences.length === 2) {
      await thirdAnswered.promise
      const error = { code: 'not_leader', message: 'NOT_LEADER_OR_FOLLOWER' } as const
      return [{ topic: 'a', partition: 0, baseOffset: -1, error }]
    }
    const stored = await backend.produce(request)
    if (sequences.length === 3) setImmediate(thirdAnswered.resolve)
    return stored
  }
  const reordering = new Proxy(backend, {
    get: (_, name: keyof BrokerBackend) =>
      name === 'produce' ? produce : (backend[name] as () => unknown).bind(backend),
  })
  const address = () => Promise.reject(new Error('it has no address'))
  const broker = createBrokerClient(reordering, { logger: silentLogger(), clock: fastClock(), address })
  return { broker, sequences }
}

/** Where the header of a record batch has the sequence number of its first record. */
const BASE_SEQUENCE_AT = 53

function record(value: string): NewRecord {
  return { topic: 'a', key: null, value: Buffer.from(value) }
}

async function read(broker: Broker, count: number): Promise<string[]> {
  const reader = broker.reader({ isolation: 'read_committed' })
  reader.seek([{ topic: 'a', partition: 0, offset: 0 }])
  const values: string[] = []
  while (values.length < count)
    for (const { records } of await reader.poll(1_000)) values.push(...records.map(({ value }) => String(value)))
  await reader.close()
  return values
}
