import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BrokerBackend, FetchRequest } from '../../../src/broker/broker-backend.ts'
import { openEmbeddedBackend } from '../../../src/broker/embedded/embedded-backend.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { batchOf, recordsOf } from './batch.ts'

let backend: BrokerBackend

beforeEach(async () => {
  backend = await openEmbeddedBackend(':memory:', { logger: silentLogger() })
  await backend.createTopic({ name: 't' })
})
afterEach(() => backend.close())

const at = { topic: 't', partition: 0 }

async function produce(...batches: Uint8Array[]) {
  return Promise.all(
    batches.map(
      async (bytes) => (await backend.produce({ node: 0, batches: [{ ...at, bytes }], timeoutMs: 1000 }))[0]!,
    ),
  )
}

async function fetch(offset: number, options: Partial<FetchRequest> = {}) {
  const request = { waitMsMax: 0, bytesMin: 1, bytesMax: 1e6, isolation: 'read_committed' as const, ...options }
  return (await backend.fetch({ node: 0, partitions: [{ ...at, offset }], ...request }))[0]!
}

describe('produce', () => {
  it('assigns consecutive offsets to batches', async () => {
    const results = await produce(batchOf(['a', 'b']), batchOf(['c']))
    expect(results.map((result) => result.baseOffset)).toEqual([0, 2])
    const { bytes, endOffset } = await fetch(0)
    expect(recordsOf(bytes).map(({ offset, value }) => [offset, value])).toEqual([
      [0, 'a'],
      [1, 'b'],
      [2, 'c'],
    ])
    expect(endOffset).toBe(3)
  })

  it('stores a repeated batch once and returns its original offset', async () => {
    const { producerId, epoch } = await backend.initProducer({})
    const first = batchOf(['a', 'b'], { producerId, epoch, sequence: 0 })
    const second = batchOf(['c'], { producerId, epoch, sequence: 2 })
    const results = await produce(first, second, first, second)
    expect(results.map((result) => result.baseOffset)).toEqual([0, 2, 0, 2])
    expect(recordsOf((await fetch(0)).bytes)).toHaveLength(3)
  })

  it('rejects a gap in the sequence numbers', async () => {
    const { producerId, epoch } = await backend.initProducer({})
    const [, afterGap] = await produce(
      batchOf(['a'], { producerId, epoch, sequence: 0 }),
      batchOf(['c'], { producerId, epoch, sequence: 2 }),
    )
    expect(afterGap?.error?.code).toBe('sequence_lost')
  })

  it('reports an unknown partition and stores the batches of the others', async () => {
    const results = await backend.produce({
      node: 0,
      timeoutMs: 1000,
      batches: [
        { topic: 'nope', partition: 0, bytes: batchOf(['a']) },
        { ...at, bytes: batchOf(['b']) },
      ],
    })
    expect(results.map((result) => result.error?.code)).toEqual(['topic_not_found', undefined])
    expect(recordsOf((await fetch(0)).bytes)).toHaveLength(1)
  })

  it('rejects a batch that is larger than max.message.bytes', async () => {
    await backend.setTopicConfigs({ topic: 't', configs: { 'max.message.bytes': '100' } })
    const [result] = await produce(batchOf(['x'.repeat(100)]))
    expect(result?.error?.code).toBe('record_too_large')
  })

  it('rejects bytes that are not a record batch', async () => {
    const [result] = await produce(Buffer.from('hello'))
    expect(result?.error?.code).toBe('corrupt_batch')
  })
})

describe('fetch', () => {
  it('starts with the batch that contains the offset', async () => {
    await produce(batchOf(['a', 'b', 'c']), batchOf(['d']))
    expect(recordsOf((await fetch(1)).bytes)[0]?.offset).toBe(0)
    expect(recordsOf((await fetch(3)).bytes)[0]?.offset).toBe(3)
  })

  it('returns as soon as records are appended while it waits', async () => {
    const waiting = fetch(0, { waitMsMax: 60_000 })
    await produce(batchOf(['a']))
    expect(recordsOf((await waiting).bytes)).toHaveLength(1)
  })

  it('waits until bytesMin are available', async () => {
    const batch = batchOf(['a'])
    const waiting = fetch(0, { waitMsMax: 60_000, bytesMin: batch.length * 2 })
    await produce(batch)
    await produce(batch)
    expect(recordsOf((await waiting).bytes)).toHaveLength(2)
  })

  it('returns at most bytesMax, but at least one batch', async () => {
    const batch = batchOf(['a'])
    await produce(batch, batch, batch)
    expect((await fetch(0, { bytesMax: batch.length * 2 + 1 })).bytes).toHaveLength(batch.length * 2)
    expect((await fetch(0, { bytesMax: 1 })).bytes).toHaveLength(batch.length)
  })

  it('divides bytesMax among partitions, so that a partition with much unread data does not starve others', async () => {
    await backend.addPartitions({ topic: 't', total: 2 })
    const small = batchOf(['a'])
    const large = batchOf(['x'.repeat(3 * small.length)])
    await produce(small, small, small, small, small, small)
    await backend.produce({ node: 0, timeoutMs: 1, batches: [{ topic: 't', partition: 1, bytes: large }] })
    const partitions = [0, 1].map((partition) => ({ topic: 't', partition, offset: 0 }))
    const request = { node: 0, waitMsMax: 0, bytesMin: 1, isolation: 'read_committed' as const }
    const fetched = await backend.fetch({ ...request, partitions, bytesMax: 2 * large.length })
    expect(fetched.map(({ bytes }) => recordsOf(bytes).length)).toEqual([4, 1])
  })

  it('reports an offset that is out of range', async () => {
    await produce(batchOf(['a']))
    expect((await fetch(1)).error).toBeUndefined()
    expect((await fetch(2)).error?.code).toBe('offset_out_of_range')
  })

  it('fails with `closed` when the backend is closed', async () => {
    const waiting = expect(fetch(0, { waitMsMax: 60_000 })).rejects.toMatchObject({ code: 'closed' })
    await backend.close()
    await waiting
  })
})
