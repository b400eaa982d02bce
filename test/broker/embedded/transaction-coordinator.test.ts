import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ProducerIdentity } from '../../../src/broker/broker.ts'
import type { BrokerBackend } from '../../../src/broker/broker-backend.ts'
import { openEmbeddedBackend } from '../../../src/broker/embedded/embedded-backend.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { batchOf, nextOffsetOf, recordsOf } from './batch.ts'

let backend: BrokerBackend
let clock: FakeClock

beforeEach(async () => {
  clock = new FakeClock()
  backend = await openEmbeddedBackend(':memory:', { logger: silentLogger(), clock })
  await backend.createTopic({ name: 'a' })
  await backend.createTopic({ name: 'b' })
})
afterEach(() => backend.close())

const id = 'tx'

async function begin(): Promise<ProducerIdentity & { transactionalId: string }> {
  const identity = await backend.initProducer({ transactionalId: id, transactionTimeoutMs: 10_000 })
  const partitions = ['a', 'b'].map((topic) => ({ topic, partition: 0 }))
  await backend.addPartitionsToTransaction({ ...identity, transactionalId: id, partitions })
  return { ...identity, transactionalId: id }
}

async function write(topic: string, value: string, producer?: ProducerIdentity, sequence = 0) {
  const bytes = batchOf([value], producer ? { ...producer, sequence, transactional: true } : {})
  const batches = [{ topic, partition: 0, bytes }]
  const transactional = producer ? { transactionalId: id } : {}
  return (await backend.produce({ node: 0, batches, timeoutMs: 1000, ...transactional }))[0]!
}

async function read(topic: string, isolation: 'read_committed' | 'read_uncommitted' = 'read_committed', offset = 0) {
  const request = { node: 0, waitMsMax: 0, bytesMin: 1, bytesMax: 1e6, isolation }
  const [fetched] = await backend.fetch({ ...request, partitions: [{ topic, partition: 0, offset }] })
  return { ...fetched!, values: recordsOf(fetched!.bytes).map(({ value }) => value) }
}

it('gives a successor the same identity again when the response was lost, until its first transaction begins', async () => {
  const successorOf = await backend.initProducer({ transactionalId: id })
  const successor = await backend.initProducer({ transactionalId: id, successorOf })
  expect(successor.epoch).toBe(successorOf.epoch + 1)
  expect(await backend.initProducer({ transactionalId: id, successorOf })).toEqual(successor)
  await backend.addPartitionsToTransaction({
    ...successor,
    transactionalId: id,
    partitions: [{ topic: 'a', partition: 0 }],
  })
  await expect(backend.initProducer({ transactionalId: id, successorOf })).rejects.toMatchObject({ code: 'fenced' })
  await backend.endTransaction({ ...successor, transactionalId: id, commit: true })
  await expect(backend.initProducer({ transactionalId: id, successorOf })).rejects.toMatchObject({ code: 'fenced' })
})

it('hides the records of an open transaction and all later ones from readers of committed records', async () => {
  const producer = await begin()
  await write('a', 'before')
  await write('a', 'inside', producer)
  await write('a', 'after')
  expect(await read('a')).toMatchObject({ values: ['before'], endOffset: 1 })
  expect(await read('a', 'read_uncommitted')).toMatchObject({ values: ['before', 'inside', 'after'], endOffset: 3 })
  await backend.endTransaction({ ...producer, commit: true })
  expect(await read('a')).toMatchObject({ values: ['before', 'inside', 'after'], endOffset: 3, aborted: [] })
})

it('removes the records of an aborted transaction and leaves a gap in the offsets', async () => {
  const producer = await begin()
  await write('a', 'inside', producer)
  await write('b', 'inside', producer)
  await write('a', 'after')
  await backend.endTransaction({ ...producer, commit: false })
  expect(await read('a')).toMatchObject({ values: ['after'], endOffset: 2 })
  expect(await read('b', 'read_uncommitted')).toMatchObject({ values: [], endOffset: 1 })
  expect((await write('b', 'next')).baseOffset).toBe(1)
})

it('lets a reader advance past a gap at the end of a partition', async () => {
  const producer = await begin()
  await write('a', 'inside', producer)
  await backend.endTransaction({ ...producer, commit: false })
  const { bytes, endOffset } = await read('a')
  expect(nextOffsetOf(bytes)).toBe(endOffset)
})

it('wakes a waiting reader of committed records when the transaction commits', async () => {
  const producer = await begin()
  await write('a', 'inside', producer)
  const request = { node: 0, waitMsMax: 60_000, bytesMin: 1, bytesMax: 1e6, isolation: 'read_committed' as const }
  const waiting = backend.fetch({ ...request, partitions: [{ topic: 'a', partition: 0, offset: 0 }] })
  await backend.endTransaction({ ...producer, commit: true })
  expect(recordsOf((await waiting)[0]!.bytes)).toHaveLength(1)
})

it('commits offsets only when the transaction commits', async () => {
  const producer = await begin()
  const offsets = [{ topic: 'b', partition: 0, offset: 7, metadata: 'm' }]
  await backend.commitOffsetsInTransaction({ ...producer, groupId: 'g', offsets })
  expect(await backend.groupOffsets({ groupId: 'g' })).toEqual([])
  await backend.endTransaction({ ...producer, commit: true })
  expect(await backend.groupOffsets({ groupId: 'g' })).toEqual(offsets)
})

it('discards the offsets of an aborted transaction', async () => {
  const producer = await begin()
  const offsets = [{ topic: 'b', partition: 0, offset: 7 }]
  await backend.commitOffsetsInTransaction({ ...producer, groupId: 'g', offsets })
  await backend.endTransaction({ ...producer, commit: false })
  expect(await backend.groupOffsets({ groupId: 'g' })).toEqual([])
})

it('fences the older producer of a transactional id and aborts its open transaction', async () => {
  const old = await begin()
  await write('a', 'old', old)
  const next = await begin()
  expect(next).toMatchObject({ producerId: old.producerId, epoch: old.epoch + 1 })
  expect((await write('a', 'zombie', old, 1)).error?.code).toBe('fenced')
  await expect(backend.endTransaction({ ...old, commit: true })).rejects.toMatchObject({ code: 'fenced' })
  expect((await read('a', 'read_uncommitted')).values).toEqual([])
  expect((await write('a', 'new', next)).error).toBeUndefined()
})

it('a late request of a transaction does not end the next one, and the end may be requested again', async () => {
  const first = await begin()
  await write('a', 'first', first)
  const next = { ...(await backend.endTransaction({ ...first, commit: true })), transactionalId: id }
  expect(next).toMatchObject({ producerId: first.producerId, epoch: first.epoch + 1 })
  expect(await backend.endTransaction({ ...first, commit: true })).toMatchObject({ epoch: next.epoch })
  await expect(backend.endTransaction({ ...first, commit: false })).rejects.toMatchObject({ code: 'fenced' })
  await backend.addPartitionsToTransaction({ ...next, partitions: [{ topic: 'a', partition: 0 }] })
  await write('a', 'second', next)
  await expect(backend.endTransaction({ ...first, commit: true })).rejects.toMatchObject({ code: 'fenced' })
  expect((await write('a', 'late', first, 1)).error?.code).toBe('fenced')
  expect((await read('a')).values).toEqual(['first'])
  await backend.endTransaction({ ...next, commit: false })
  expect((await read('a')).values).toEqual(['first'])
})

it('a producer gets another id when its epochs are used up', { tags: ['slow'] }, async () => {
  const { producerId, epoch } = await backend.initProducer({ transactionalId: id })
  let producer = { producerId, epoch, transactionalId: id }
  const partitions = [{ topic: 'a', partition: 0 }]
  for (let ended = 0; ended < 32_767; ended++) {
    await backend.addPartitionsToTransaction({ ...producer, partitions })
    producer = { ...(await backend.endTransaction({ ...producer, commit: true })), transactionalId: id }
  }
  expect(producer.epoch).toBe(32_767)
  await backend.addPartitionsToTransaction({ ...producer, partitions })
  const next = await backend.endTransaction({ ...producer, commit: true })
  expect(next.epoch).toBe(0)
  expect(next.producerId).not.toBe(producerId)
  expect((await write('a', 'x', { ...next })).error?.code).toBe('invalid_transaction')
})

it('aborts a transaction after its timeout', async () => {
  const producer = await begin()
  await write('a', 'slow', producer)
  await clock.advance(9_000)
  expect((await read('a', 'read_uncommitted')).values).toEqual(['slow'])
  await clock.advance(2_000)
  expect((await read('a', 'read_uncommitted')).values).toEqual([])
  await expect(backend.endTransaction({ ...producer, commit: true })).rejects.toMatchObject({ code: 'fenced' })
})

it('rejects a batch for a partition that was not added to the transaction', async () => {
  const producer = await begin()
  await backend.createTopic({ name: 'c' })
  expect((await write('c', 'x', producer)).error?.code).toBe('invalid_transaction')
})

it('ends a transaction of which a topic was deleted', async () => {
  const producer = await begin()
  await write('a', 'gone', producer)
  await write('b', 'stays', producer)
  await backend.deleteTopic({ topic: 'a' })
  await backend.endTransaction({ ...producer, commit: true })
  expect((await read('b')).values).toEqual(['stays'])
})
