import { describe, expect, it } from 'vitest'
import type { Broker, CommittedOffset } from '../../src/broker/broker.ts'
import { poll } from '../support/concurrent-tests.ts'
import type { OpenBroker } from './broker.ts'
import { newTopic, opened, readAll, records, textOf, uniqueName, valuesOf } from './broker-support.ts'

/** Not for brokers before Kafka 2.5. */
export function describeSuccessors(open: OpenBroker): void {
  it('a producer succeeds an identity only if its transactional id has no newer one', async () => {
    const broker = await opened(open)
    const topic = await newTopic(broker)
    const transactionalId = uniqueName('txn')
    const outdated = await broker.newProducerIdentity(transactionalId)
    const current = await broker.newProducerIdentity(transactionalId)
    await expect(broker.producer({ transactionalId, successorOf: outdated })).rejects.toMatchObject({ code: 'fenced' })
    const owner = await broker.producer({ transactionalId, successorOf: current })
    owner.begin()
    await owner.send(records(topic, ['first']))
    await owner.commit()
    await expect(broker.producer({ transactionalId, successorOf: outdated })).rejects.toMatchObject({ code: 'fenced' })
    owner.begin()
    await owner.send(records(topic, ['second']))
    await owner.commit()
    await shown(broker, topic, ['first', 'second'])
  })
}

export function describeTransactions(open: OpenBroker): void {
  describe('transaction', () => {
    it('makes its records and offsets visible in all topics only when it commits', async () => {
      const broker = await opened(open)
      const [left, right] = [await newTopic(broker), await newTopic(broker)]
      const groupId = uniqueName('group')
      const producer = await broker.producer({ transactionalId: uniqueName('txn') })
      producer.begin()
      await producer.send([...records(left, ['l']), ...records(right, ['r'])])
      await producer.sendOffsets(groupId, [{ topic: left, partition: 0, offset: 42 }])
      expect(await readAll(broker, left)).toEqual([])
      expect((await readAll(broker, left, { isolation: 'read_uncommitted' })).map(textOf)).toEqual(['l'])
      await producer.commit()
      await shown(broker, left, ['l'])
      await shown(broker, right, ['r'])
      await committed(broker, groupId, [{ topic: left, partition: 0, offset: 42 }])
    })

    it('has no visible effect when it is aborted, and its producer can start another one', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      const groupId = uniqueName('group')
      const producer = await broker.producer({ transactionalId: uniqueName('txn') })
      const other = await broker.producer()
      await other.send(records(topic, ['before']))
      producer.begin()
      await producer.send(records(topic, ['never', 'never']))
      await producer.sendOffsets(groupId, [{ topic, partition: 0, offset: 7 }])
      await producer.abort()
      await other.send(records(topic, ['after']))
      producer.begin()
      await producer.send(records(topic, ['second']))
      await producer.commit()
      await shown(broker, topic, ['before', 'after', 'second'])
      expect(await broker.groups.offsets(groupId)).toEqual([])
    })

    it('includes partitions that its topic got while it was open', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      const producer = await broker.producer({ transactionalId: uniqueName('txn') })
      producer.begin()
      await producer.send(records(topic, ['first'], { partition: 0 }))
      await broker.topics.addPartitions(topic, 3)
      await producer.send(records(topic, ['second'], { partition: 2 }))
      await producer.commit()
      await poll(async () => (await readAll(broker, topic)).map(textOf).sort()).toEqual(['first', 'second'])
    })

    it('is fenced when a newer producer has the same transactional id', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      const transactionalId = uniqueName('txn')
      const older = await broker.producer({ transactionalId })
      older.begin()
      await older.send(records(topic, ['lost']))
      const newer = await broker.producer({ transactionalId })
      await expect(older.send(records(topic, ['lost'])).then(() => older.commit())).rejects.toMatchObject({
        code: 'fenced',
        retriable: false,
      })
      newer.begin()
      await newer.send(records(topic, ['kept']))
      await newer.commit()
      await shown(broker, topic, ['kept'])
    })

    it('commits when it is empty, and is rejected when it was not begun', async () => {
      const broker = await opened(open)
      const producer = await broker.producer({ transactionalId: uniqueName('txn') })
      producer.begin()
      expect(() => producer.begin()).toThrow(expect.objectContaining({ code: 'invalid_transaction' }))
      await producer.commit()
      await expect(producer.commit()).rejects.toMatchObject({ code: 'invalid_transaction' })
      await expect(producer.send(records(await newTopic(broker), ['x']))).rejects.toMatchObject({
        code: 'invalid_transaction',
      })
      const plain = await broker.producer()
      expect(() => plain.begin()).toThrow(expect.objectContaining({ code: 'invalid_transaction' }))
    })

    it('may include partitions without records', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      const producer = await broker.producer({ transactionalId: uniqueName('txn') })
      const add = () => producer.addPartitions([{ topic, partition: 0 }])
      await expect(add()).rejects.toMatchObject({ code: 'invalid_transaction' })
      producer.begin()
      await add()
      await producer.abort()
      producer.begin()
      await add()
      await producer.send(records(topic, ['next']))
      await producer.commit()
      await shown(broker, topic, ['next'])
    })

    it('is aborted when its producer is closed', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      const producer = await broker.producer({ transactionalId: uniqueName('txn') })
      producer.begin()
      await producer.send(records(topic, ['open']))
      await producer.close()
      await (await broker.producer()).send(records(topic, ['next']))
      await shown(broker, topic, ['next'])
    })

    it('delays consumers that start at the offsets that it commits', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      await (await broker.producer()).send(records(topic, ['done', 'next']))
      const groupId = uniqueName('group')
      const producer = await broker.producer({ transactionalId: uniqueName('txn') })
      producer.begin()
      await producer.sendOffsets(groupId, [{ topic, partition: 0, offset: 1 }])
      const consumer = await broker.consumer({ groupId, topics: [topic] })
      const reading = valuesOf(consumer, 1)
      await producer.commit()
      expect(await reading).toEqual(['next'])
    })

    it('commits offsets for a member of the current generation only', async () => {
      const broker = await opened(open)
      const topic = await newTopic(broker)
      const groupId = uniqueName('group')
      const consumer = await broker.consumer({ groupId, topics: [topic] })
      while (consumer.assignment().length === 0) await consumer.poll(100)
      const producer = await broker.producer({ transactionalId: uniqueName('txn') })
      producer.begin()
      await producer.sendOffsets(groupId, [{ topic, partition: 0, offset: 3 }], consumer.member())
      await producer.commit()
      await committed(broker, groupId, [{ topic, partition: 0, offset: 3 }])
      producer.begin()
      const stale = { ...consumer.member(), generation: consumer.member().generation - 1 }
      await expect(producer.sendOffsets(groupId, [{ topic, partition: 0, offset: 9 }], stale)).rejects.toMatchObject({
        retriable: false,
      })
      await producer.abort()
      await committed(broker, groupId, [{ topic, partition: 0, offset: 3 }])
    })
  })
}

/** Waits, because Kafka acknowledges a commit before it has written the markers that make it visible. */
async function shown(broker: Broker, topic: string, values: readonly string[]): Promise<void> {
  await poll(async () => (await readAll(broker, topic)).map(textOf)).toEqual(values)
}

async function committed(broker: Broker, groupId: string, offsets: readonly CommittedOffset[]): Promise<void> {
  await poll(() => broker.groups.offsets(groupId)).toEqual(offsets)
}
