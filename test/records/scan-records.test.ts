import { describe, expect, it, onTestFinished } from 'vitest'
import type { Broker, NewRecord } from '../../src/broker/broker.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { readRecords } from '../../src/records/read-records.ts'
import { type RecordScan, SCAN_LIMITS, type ScanLimits, scanRecords } from '../../src/records/scan-records.ts'

const LIMITS: ScanLimits = { ...SCAN_LIMITS, cpuMs: () => 0 }

async function open(partitions: number, records: readonly Omit<NewRecord, 'topic'>[]): Promise<Broker> {
  const broker = await openBroker({ kind: 'embedded', directory: ':memory:' }, { logger: silentLogger() })
  onTestFinished(() => broker.close())
  await broker.topics.create({ name: 't', partitions, configs: { 'retention.ms': '-1' } })
  const producer = await broker.producer()
  await producer.send(records.map((record) => ({ ...record, topic: 't' })))
  await producer.close()
  return broker
}

/** Records of several partitions whose order is that of their timestamps. */
const numbered = (count: number, partitions = 1, bytes = 1) =>
  Array.from({ length: count }, (_, at) => ({
    partition: at % partitions,
    key: null,
    value: Buffer.from(`${at} ${'x'.repeat(bytes)}`),
    timestampMs: 1_000 + at,
  }))

function scan(broker: Broker, request: Partial<RecordScan>, limits = LIMITS, wanted = /./) {
  const all: RecordScan = { topic: 't', from: 'end', limit: 3, ...request }
  return scanRecords(
    broker,
    all,
    async ({ value }) => {
      const view = Number.parseInt(value?.toString() ?? '', 10)
      return wanted.test(String(view)) ? { view, size: 1 } : undefined
    },
    limits,
  )
}

/** The numbers that consecutive scans return, a list for each. */
async function pages(broker: Broker, request: Partial<RecordScan>, limits = LIMITS, wanted = /./) {
  const found: number[][] = []
  for (let positions = request.positions; ; ) {
    const page = await scan(broker, { ...request, ...(positions && { positions }) }, limits, wanted)
    found.push(page?.records.map(({ view }) => view) ?? [])
    if (page?.hasMore !== true) return found
    positions = page.positions
  }
}

describe('a scan of records', () => {
  it('returns the newest of all partitions first, and continues where it ended', async () => {
    const broker = await open(3, numbered(8, 3))
    expect(await pages(broker, {})).toEqual([
      [7, 6, 5],
      [4, 3, 2],
      [1, 0],
    ])
  })

  it('returns the oldest first from the beginning, an offset or a time', async () => {
    const broker = await open(2, numbered(7, 2))
    expect(await pages(broker, { from: 'beginning' })).toEqual([[0, 1, 2], [3, 4, 5], [6]])
    expect(await pages(broker, { from: { offset: 2 }, partition: 1 })).toEqual([[5]])
    expect(await pages(broker, { from: { timeMs: 1_004 } })).toEqual([[4, 5, 6]])
    expect(await pages(broker, { from: { timeMs: 9_999 } })).toEqual([[]])
    expect(await pages(broker, { from: { offset: 99 } })).toEqual([[]])
  })

  it('follows what is written later from its positions', async () => {
    const broker = await open(2, numbered(4, 2))
    const first = await scan(broker, { from: 'beginning', limit: 10 })
    expect(first).toMatchObject({ hasMore: false, records: [{}, {}, {}, {}] })
    const positions = first!.positions
    expect((await scan(broker, { from: 'beginning', positions }))?.records).toEqual([])
    const producer = await broker.producer()
    await producer.send([{ topic: 't', partition: 1, key: null, value: Buffer.from('9') }])
    expect((await scan(broker, { from: 'beginning', positions }))?.records).toMatchObject([{ view: 9, partition: 1 }])
  })

  it('finds what is searched for, in windows that grow, or says where to continue', async () => {
    const broker = await open(2, numbered(400, 2))
    expect(await pages(broker, { limit: 2 }, LIMITS, /^7$/)).toEqual([[7]])
    const few: ScanLimits = { ...LIMITS, recordsMax: 150 }
    const first = await scan(broker, { limit: 2, from: 'beginning' }, few, /^399$/)
    expect(first).toMatchObject({ records: [], hasMore: true, stoppedBy: 'records', scanned: { records: 150 } })
    expect(await pages(broker, { limit: 2, from: 'beginning' }, few, /^399$/)).toEqual([[], [], [399]])
    const backwards = await pages(broker, { limit: 2 }, few, /^3$/)
    expect(backwards.flat()).toEqual([3])
  })

  it('stops when the CPU time or the bytes are used', async () => {
    const broker = await open(1, numbered(50, 1, 1_000))
    let ms = 0
    const slow: ScanLimits = { ...LIMITS, cpuMsMax: 100, cpuMs: () => (ms += 10) }
    expect(await scan(broker, { from: 'beginning', limit: 50 }, slow)).toMatchObject({
      stoppedBy: 'cpu',
      hasMore: true,
    })
    const small: ScanLimits = { ...LIMITS, bytesMax: 5_000 }
    const stopped = await scan(broker, { from: 'beginning', limit: 50 }, small)
    expect(stopped).toMatchObject({ stoppedBy: 'bytes', hasMore: true })
    expect(stopped?.records.length).toBeLessThan(10)
  })

  it('reads large records from the end in smaller windows, each once more at most', async () => {
    const broker = await open(1, numbered(20, 1, 10_000))
    const limits: ScanLimits = { ...LIMITS, windowBytesMax: 35_000 }
    expect(await pages(broker, { limit: 10 }, limits)).toEqual([
      [19, 18, 17, 16, 15, 14, 13, 12, 11, 10],
      [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
    ])
  })

  it('leaves out what compaction and transactions left out', async () => {
    const broker = await open(1, numbered(2))
    const producer = await broker.producer({ transactionalId: 'x' })
    producer.begin()
    await producer.send([{ topic: 't', key: null, value: Buffer.from('5') }])
    await producer.abort()
    expect(await pages(broker, {})).toEqual([[1, 0]])
    expect(await pages(broker, { from: 'beginning' })).toEqual([[0, 1]])
  })

  it('of what does not exist returns nothing', async () => {
    const broker = await open(1, [])
    expect(await scan(broker, { topic: 'none' })).toBeUndefined()
    expect(await scan(broker, { partition: 4 })).toBeUndefined()
    expect(await scan(broker, {})).toMatchObject({ records: [], hasMore: false })
    const position = { partition: 0, offset: 0 }
    expect(await Array.fromAsync(readRecords(broker, 't', [position]))).toEqual([undefined])
    expect(await Array.fromAsync(readRecords(broker, 'none', [position]))).toEqual([undefined])
  })

  it('returns the newest of all partitions, also when most of them are in one', async () => {
    const skewed = numbered(40).map((record, at) => ({ ...record, partition: at < 20 ? at % 4 : 0 }))
    const broker = await open(4, skewed)
    expect((await pages(broker, { limit: 10 })).flat()).toEqual(Array.from({ length: 40 }, (_, at) => 39 - at))
  })
})

describe('single records', () => {
  it('are read in the order of their positions', async () => {
    const broker = await open(1, numbered(3))
    const positions = [2, 3, 1].map((offset) => ({ partition: 0, offset }))
    const found = await Array.fromAsync(readRecords(broker, 't', positions))
    expect(found.map((record) => record?.value?.toString())).toEqual(['2 x', undefined, '1 x'])
  })

  it('that the brokers do not return are not taken for records that do not exist', async () => {
    const broker = await open(1, numbered(1))
    const silent = { ...broker, topics: broker.topics, reader: () => silentReader() } as unknown as Broker
    await expect(Array.fromAsync(readRecords(silent, 't', [{ partition: 0, offset: 0 }]))).rejects.toMatchObject({
      code: 'timeout',
    })
  })
})

function silentReader() {
  return { seek: () => undefined, poll: async () => [], close: async () => undefined }
}
