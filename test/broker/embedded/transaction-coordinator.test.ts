import { afterEach, beforeEach, expect, it } from 'vitest'
import type { BrokerBackend, ProducerIdentity } from '../../../src/broker/backend.ts'
import { openEmbeddedBackend } from '../../../src/broker/embedded/backend.ts'
import { silentLogger } from '../../../src/config/logger.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { batchOf, nextOffsetOf, recordsOf } from './batch.ts'

let home: BrokerBackend
let clock: FakeClock

beforeEach(async () => {
  clock = new FakeClock()
  home = await openEmbeddedBackend(':memory:', { logger: silentLogger(), clock })
  await home.createTopic({ name: 'a' })
  await home.createTopic({ name: 'b' })
})
afterEach(() => home.close())

const id = 'tx'

async function begin(): Promise<ProducerIdentity & { transactionalId: string }> {
  const identity = await home.initProducer({ transactionalId: id, transactionTimeoutMs: 10_000 })
  const partitions = ['a', 'b'].map((topic) => ({ topic, partition: 0 }))
  await home.addPartitionsToTransaction({ ...identity, transactionalId: id, partitions })
  return { ...identity, transactionalId: id }
}

async function write(topic: string, value: string, producer?: ProducerIdentity, sequence = 0) {
  const bytes = batchOf([value], producer ? { ...producer, sequence, transactional: true } : {})
  const batches = [{ topic, partition: 0, bytes }]
  const transactional = producer ? { transactionalId: id } : {}
  return (await home.produce({ node: 0, batches, timeoutMs: 1000, ...transactional }))[0]!
}

async function read(topic: string, isolation: 'read_committed' | 'read_uncommitted' = 'read_committed', offset = 0) {
  const request = { node: 0, waitMsMax: 0, bytesMin: 1, bytesMax: 1e6, isolation }
  const [fetched] = await home.fetch({ ...request, partitions: [{ topic, partition: 0, offset }] })
  return { ...fetched!, values: recordsOf(fetched!.bytes).map(({ value }) => value) }
}

it('hides the records of an open transaction, and everything after them, until it commits', async () => {
  const producer = await begin()
  await write('a', 'before')
  await write('a', 'inside', producer)
  await write('a', 'after')
  expect(await read('a')).toMatchObject({ values: ['before'], endOffset: 1 })
  expect(await read('a', 'read_uncommitted')).toMatchObject({ values: ['before', 'inside', 'after'], endOffset: 3 })
  await home.endTransaction({ ...producer, commit: true })
  expect(await read('a')).toMatchObject({ values: ['before', 'inside', 'after'], endOffset: 3, aborted: [] })
})

it('takes the records of an aborted transaction out and leaves a gap', async () => {
  const producer = await begin()
  await write('a', 'inside', producer)
  await write('b', 'inside', producer)
  await write('a', 'after')
  await home.endTransaction({ ...producer, commit: false })
  expect(await read('a')).toMatchObject({ values: ['after'], endOffset: 2 })
  expect(await read('b', 'read_uncommitted')).toMatchObject({ values: [], endOffset: 1 })
  expect((await write('b', 'next')).baseOffset).toBe(1)
})

it('lets a reader move over a gap at the end', async () => {
  const producer = await begin()
  await write('a', 'inside', producer)
  await home.endTransaction({ ...producer, commit: false })
  const { bytes, endOffset } = await read('a')
  expect(nextOffsetOf(bytes)).toBe(endOffset)
})

it('wakes a reader of committed records at the commit', async () => {
  const producer = await begin()
  await write('a', 'inside', producer)
  const request = { node: 0, waitMsMax: 60_000, bytesMin: 1, bytesMax: 1e6, isolation: 'read_committed' as const }
  const waiting = home.fetch({ ...request, partitions: [{ topic: 'a', partition: 0, offset: 0 }] })
  await home.endTransaction({ ...producer, commit: true })
  expect(recordsOf((await waiting)[0]!.bytes)).toHaveLength(1)
})

it('commits offsets with the transaction, not before', async () => {
  const producer = await begin()
  const offsets = [{ topic: 'b', partition: 0, offset: 7, metadata: 'm' }]
  await home.commitOffsetsInTransaction({ ...producer, groupId: 'g', offsets })
  expect(await home.groupOffsets({ groupId: 'g' })).toEqual([])
  await home.endTransaction({ ...producer, commit: true })
  expect(await home.groupOffsets({ groupId: 'g' })).toEqual(offsets)
})

it('drops the offsets of an aborted transaction', async () => {
  const producer = await begin()
  const offsets = [{ topic: 'b', partition: 0, offset: 7 }]
  await home.commitOffsetsInTransaction({ ...producer, groupId: 'g', offsets })
  await home.endTransaction({ ...producer, commit: false })
  expect(await home.groupOffsets({ groupId: 'g' })).toEqual([])
})

it('fences the older producer of a transactional id and aborts what it left open', async () => {
  const old = await begin()
  await write('a', 'old', old)
  const next = await begin()
  expect(next).toMatchObject({ producerId: old.producerId, epoch: old.epoch + 1 })
  expect((await write('a', 'zombie', old, 1)).error?.code).toBe('fenced')
  await expect(home.endTransaction({ ...old, commit: true })).rejects.toMatchObject({ code: 'fenced' })
  expect((await read('a', 'read_uncommitted')).values).toEqual([])
  expect((await write('a', 'new', next)).error).toBeUndefined()
})

it('aborts a transaction that takes longer than its time-out', async () => {
  const producer = await begin()
  await write('a', 'slow', producer)
  await clock.advance(9_000)
  expect((await read('a', 'read_uncommitted')).values).toEqual(['slow'])
  await clock.advance(2_000)
  expect((await read('a', 'read_uncommitted')).values).toEqual([])
  await expect(home.endTransaction({ ...producer, commit: true })).rejects.toMatchObject({ code: 'fenced' })
})

it('refuses a batch for a partition that was not added', async () => {
  const producer = await begin()
  await home.createTopic({ name: 'c' })
  expect((await write('c', 'x', producer)).error?.code).toBe('invalid_transaction')
})

it('goes on when a topic of an open transaction is deleted', async () => {
  const producer = await begin()
  await write('a', 'gone', producer)
  await write('b', 'stays', producer)
  await home.deleteTopic({ topic: 'a' })
  await home.endTransaction({ ...producer, commit: true })
  expect((await read('b')).values).toEqual(['stays'])
})
