import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { BrokerBackend } from '../../../src/broker/broker-backend.ts'
import { openEmbeddedBackend } from '../../../src/broker/embedded/embedded-backend.ts'
import { batchesOf, checkBatch } from '../../../src/broker/record-batch/batch-header.ts'
import { encodeBatch, recordsOf as storedRecordsOf } from '../../../src/broker/record-batch/record-batch.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { batchOf, nextOffsetOf, type PlainRecord, recordsOf } from './batch.ts'

let backend: BrokerBackend
let clock: FakeClock

beforeEach(async () => {
  clock = new FakeClock()
  backend = await openEmbeddedBackend(':memory:', { logger: silentLogger(), clock })
})
afterEach(() => backend.close())

async function append(...records: readonly (string | PlainRecord)[]) {
  const bytes = batchOf(records, { timestampMs: clock.nowMs() })
  const [result] = await backend.produce({ node: 0, timeoutMs: 1000, batches: [{ topic: 't', partition: 0, bytes }] })
  return result!
}

/** The log cleaner runs every 15 s. */
const clean = () => clock.advance(16_000)

async function fetch(offset = 0) {
  const request = { node: 0, waitMsMax: 0, bytesMin: 1, bytesMax: 1e6, isolation: 'read_committed' as const }
  return (await backend.fetch({ ...request, partitions: [{ topic: 't', partition: 0, offset }] }))[0]!
}

/** `offset:key=value` of all readable records. */
async function left(offset = 0): Promise<string[]> {
  const records = recordsOf((await fetch(offset)).bytes)
  return records.map((record) => `${record.offset}:${record.key}=${record.value}`)
}

const put = (key: string, value: string | null) => append({ key, value })

describe('compaction', () => {
  beforeEach(() => backend.createTopic({ name: 't', configs: { 'cleanup.policy': 'compact' } }))

  it('keeps the last record of each key, at its offset', async () => {
    await append({ key: 'a', value: '1' }, { key: 'b', value: '1' }, { key: 'a', value: '2' })
    await append({ key: 'c', value: '1' })
    await append({ key: 'b', value: '2' }, { key: 'c', value: '2' })
    await clean()
    expect(await left()).toEqual(['2:a=2', '4:b=2', '5:c=2'])
    expect((await put('d', '1')).baseOffset).toBe(6)
  })

  it('lets readers advance past removed records from any offset', async () => {
    for (const value of ['1', '2', '3', '4']) await put('a', value)
    await clean()
    for (const offset of [0, 1, 2, 3]) expect(await left(offset)).toEqual(['3:a=4'])
    expect((await fetch()).startOffset).toBe(0)
  })

  it('starts when the dirty ratio of the log is reached', async () => {
    await backend.setTopicConfigs({ topic: 't', configs: { 'min.cleanable.dirty.ratio': '0.5' } })
    for (const key of ['a', 'b', 'c', 'd']) await put(key, '1')
    await clean()
    await put('a', '2')
    await clean()
    expect(await left()).toHaveLength(5)
    for (const key of ['b', 'c', 'd']) await put(key, '2')
    await clean()
    expect(await left()).toEqual(['4:a=2', '5:b=2', '6:c=2', '7:d=2'])
  })

  it('keeps records that are younger than min.compaction.lag.ms', async () => {
    await backend.setTopicConfigs({ topic: 't', configs: { 'min.compaction.lag.ms': '60000' } })
    await put('a', '1')
    await put('a', '2')
    await clean()
    expect(await left()).toHaveLength(2)
    await clock.advance(60_000)
    expect(await left()).toEqual(['1:a=2'])
  })

  it('keeps a tombstone for delete.retention.ms after it was appended, regardless of its timestamp', async () => {
    await backend.setTopicConfigs({ topic: 't', configs: { 'delete.retention.ms': '60000' } })
    await put('a', '1')
    await append({ key: 'a', value: null, timestampMs: 5 })
    await put('b', '1')
    await clean()
    expect(await left()).toEqual(['1:a=null', '2:b=1'])
    await clock.advance(60_000)
    expect(await left()).toEqual(['2:b=1'])
  })

  it('keeps the end offset when all records are removed', async () => {
    await backend.setTopicConfigs({ topic: 't', configs: { 'delete.retention.ms': '0' } })
    await put('a', '1')
    await put('a', null)
    await clean()
    await clean()
    const fetched = await fetch()
    expect(recordsOf(fetched.bytes)).toEqual([])
    expect([nextOffsetOf(fetched.bytes), fetched.endOffset]).toEqual([2, 2])
    expect((await put('b', '1')).baseOffset).toBe(2)
  })

  it.each(['gzip', 'snappy', 'lz4', 'zstd'] as const)(
    'looks into batches compressed with %s',
    { tags: ['slow'] },
    async (compression) => {
      const records = ['1', '2', '3'].map((value) => ({ key: Buffer.from('a'), value: Buffer.from(value) }))
      const other = { key: Buffer.from('b'), value: Buffer.from('4'), timestampMs: clock.nowMs() + 5 }
      const bytes = await encodeBatch([...records, other], { nowMs: clock.nowMs(), compression })
      await backend.produce({ node: 0, timeoutMs: 1000, batches: [{ topic: 't', partition: 0, bytes }] })
      await clean()
      await vi.waitFor(
        async () => {
          const [batch] = batchesOf((await fetch()).bytes)
          const found = (await storedRecordsOf(batch!)).map(({ offset, value }) => `${offset}:${value}`)
          expect(found).toEqual(['2:3', '3:4'])
          expect(batch?.nextOffset).toBe(4)
          checkBatch(batch!)
        },
        { timeout: 25_000 },
      )
    },
  )

  it('keeps records without a key', async () => {
    await append('plain', { key: 'a', value: '1' }, { key: 'a', value: '2' })
    await clean()
    expect(await left()).toEqual(['0:null=plain', '2:a=2'])
  })

  it('does not compact beyond the start of an open transaction', async () => {
    await put('a', '1')
    const transactionalId = 'x'
    const producer = { ...(await backend.initProducer({ transactionalId })), transactionalId }
    const place = { topic: 't', partition: 0 }
    await backend.addPartitionsToTransaction({ ...producer, partitions: [place] })
    const bytes = batchOf([{ key: 'a', value: '2' }], { ...producer, sequence: 0, transactional: true })
    await backend.produce({ node: 0, timeoutMs: 1, transactionalId, batches: [{ ...place, bytes }] })
    await clean()
    await backend.endTransaction({ ...producer, commit: false })
    expect(await left()).toEqual(['0:a=1'])
  })
})

describe('retention', () => {
  beforeEach(() => backend.createTopic({ name: 't' }))

  it('deletes whole batches that are older than retention.ms and advances the start offset', async () => {
    await backend.setTopicConfigs({ topic: 't', configs: { 'retention.ms': '60000' } })
    await append('a', 'b')
    await clock.advance(50_000)
    await append('c')
    await clock.advance(30_000)
    expect(await left(2)).toEqual(['2:null=c'])
    expect(await fetch()).toMatchObject({ startOffset: 2, error: { code: 'offset_out_of_range' } })
    await clock.advance(60_000)
    expect(await fetch(3)).toMatchObject({ startOffset: 3, endOffset: 3 })
    expect((await append('d')).baseOffset).toBe(3)
  })

  it.each([
    ['of exactly two batches', (batch: number) => 2 * batch],
    ['between one and two batches', (batch: number) => batch + 1],
  ])('keeps at least retention.bytes of the newest batches: %s', async (_, bytesOf) => {
    await backend.setTopicConfigs({
      topic: 't',
      configs: { 'retention.bytes': String(bytesOf(batchOf(['x']).length)), 'retention.ms': '-1' },
    })
    for (const value of ['1', '2', '3', '4', '5']) await append(value)
    await clean()
    expect((await fetch(3)).startOffset).toBe(3)
    expect(await left(3)).toEqual(['3:null=4', '4:null=5'])
  })

  it('keeps the newest batch if it is larger than retention.bytes', async () => {
    await backend.setTopicConfigs({ topic: 't', configs: { 'retention.bytes': '1', 'retention.ms': '-1' } })
    for (const value of ['1', '2']) await append(value)
    await clean()
    expect(await left(1)).toEqual(['1:null=2'])
  })

  it('deletes more batches than one step deletes', async () => {
    await backend.setTopicConfigs({ topic: 't', configs: { 'retention.ms': '1' } })
    await Promise.all(Array.from({ length: 300 }, () => append('x')))
    await clean()
    await clean()
    expect((await fetch(300)).startOffset).toBe(300)
  })
})
