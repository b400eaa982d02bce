import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UTC } from '../../../../src/plugins/connectors/jdbc/time-zone.ts'
import { FileTemplate } from '../../../../src/plugins/connectors/object-storage/file-template.ts'
import type { ObjectSinkSettings } from '../../../../src/plugins/connectors/object-storage/object-sink.ts'
import { createPartitioner } from '../../../../src/plugins/connectors/object-storage/partitioner.ts'
import { parsePathFormat } from '../../../../src/plugins/connectors/object-storage/path-format.ts'
import { RetriableError } from '../../../../src/sdk/index.ts'
import { MemoryBucket } from '../../../support/memory-object-store.ts'
import { lives, PartitionLog, runToEnd, runUntilKilled, sinkSettings } from '../../../support/object-sink-run.ts'

const AT = [{ topic: 'orders', partition: 0 }]
const ROTATION = sinkSettings().rotation
const byTime = (from: 'clock' | 'record') =>
  createPartitioner(
    { by: 'time', periodMs: 100, path: parsePathFormat("'t'=ssSSS", 'en'), zone: UTC, timestamp: { from } },
    '/',
  )

/** Each way of completing files. */
const MODES: Readonly<Record<string, ObjectSinkSettings>> = {
  'flush.size': sinkSettings(),
  'flush.size with a folder for each value': sinkSettings({
    rotation: { ...ROTATION, recordsMax: 7 },
    place: ({ offset }) => ({ path: `n=${offset % 4}`, period: '', timestampMs: undefined }),
  }),
  'rotate.interval.ms by the time of records': sinkSettings({
    rotation: { ...ROTATION, recordsMax: 1_000, intervalMs: 30 },
    place: byTime('record'),
  }),
  'rotate.interval.ms by the clock': sinkSettings({
    rotation: { ...ROTATION, recordsMax: 1_000, intervalMs: 30 },
    usesClock: true,
    place: byTime('clock'),
  }),
  'rotate.schedule.interval.ms': sinkSettings({
    rotation: { ...ROTATION, recordsMax: 1_000, schedule: { intervalMs: 50, zone: UTC } },
  }),
  'rotate.schedule.interval.ms with folders by the clock': sinkSettings({
    rotation: { ...ROTATION, recordsMax: 1_000, schedule: { intervalMs: 170, zone: UTC } },
    usesClock: true,
    place: byTime('clock'),
  }),
  'each commit of offsets': sinkSettings({
    rotation: { ...ROTATION, recordsMax: 1_000, fileRecordsMax: 4 },
    endsAtCommit: true,
    place: ({ offset }) => ({ path: `n=${offset % 2}`, period: '', timestampMs: undefined }),
  }),
  'each commit of offsets, with folders by the clock': sinkSettings({
    rotation: { ...ROTATION, recordsMax: 1_000 },
    endsAtCommit: true,
    usesClock: true,
    place: byTime('clock'),
  }),
  'too little memory': sinkSettings({ bytesMax: 60, rotation: { ...ROTATION, recordsMax: 1_000 } }),
}

describe('the sink of objects', () => {
  it('names files by topic, partition and first offset, and commits the offset after them', async () => {
    const log = new PartitionLog()
    const bucket = new MemoryBucket()
    const sink = log.start(sinkSettings(), bucket)
    await sink.open(AT)
    await sink.put(log.records(5, 12))
    expect([...bucket.objects.keys()]).toEqual([
      'topics/orders/partition=0/orders+0+0000000005.json',
      'topics/orders/partition=0/orders+0+0000000008.json',
    ])
    expect(bucket.lines()).toEqual([5, 6, 7, 8, 9, 10].map((n) => `{"n":${n}}`))
    expect(await sink.flush()).toEqual([{ ...AT[0], offset: 11 }])
  })

  it('commits where files end before any of them is visible', async () => {
    const log = new PartitionLog()
    const bucket = new MemoryBucket()
    log.beforeCommit = () => expect(bucket.objects.size).toBe(0)
    const sink = log.start(sinkSettings(), bucket)
    await sink.open(AT)
    await sink.put(log.records(0, 6))
    expect(log.committed).toEqual({ ...AT[0], offset: 0, metadata: 'weir-files-1:3,3' })
    expect(bucket.objects.size).toBe(2)
  })

  it.each(Object.keys(MODES))(
    'writes each record once with %s, whenever tasks are killed',
    { tags: ['slow'] },
    async (mode) => {
      const settings = MODES[mode]!
      await fc.assert(
        fc.asyncProperty(lives, async (all) => {
          const log = new PartitionLog()
          const bucket = new MemoryBucket()
          for (const life of all) await runUntilKilled(log, bucket, settings, life)
          await runToEnd(log, bucket, settings)
          const numbers = bucket.lines().map((line) => (JSON.parse(line) as { n: number }).n)
          expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: numbers.length }, (_, n) => n))
          expect(numbers.length).toBeGreaterThanOrEqual(60)
          // A file that was written again is the same, byte for byte.
          for (const versions of bucket.history.values())
            for (const version of versions) expect(version.equals(versions[0]!)).toBe(true)
          expect(bucket.uploads.size).toBe(0)
        }),
        { numRuns: 60 },
      )
    },
  )

  it('keeps the last record of each file if others are not wanted, whenever tasks are killed', {
    tags: ['slow'],
  }, async () => {
    const names = new FileTemplate('n={{key}}').names()
    const place: ObjectSinkSettings['place'] = ({ offset }) => ({
      path: JSON.stringify([`${offset % 4}`]),
      period: '',
      timestampMs: undefined,
    })
    const settings = sinkSettings({ endsAtCommit: true, keepsLatest: true, place, names })
    await fc.assert(
      fc.asyncProperty(lives, async (all) => {
        const log = new PartitionLog()
        const bucket = new MemoryBucket()
        for (const life of all) await runUntilKilled(log, bucket, settings, life)
        await runToEnd(log, bucket, settings)
        const last = [4, 3, 2, 1].map((back) => log.committed!.offset - back)
        const expected = last.map((n) => [`n=${n % 4}`, `{"n":${n}}\n`])
        expect(Object.fromEntries([...bucket.objects].map(([key, bytes]) => [key, bytes.toString()]))).toEqual(
          Object.fromEntries(expected),
        )
      }),
      { numRuns: 60 },
    )
  })

  it('stores files when offsets are committed, and reports an error of the store with the next batch', async () => {
    const log = new PartitionLog()
    const bucket = new MemoryBucket()
    const sink = log.start(sinkSettings({ endsAtCommit: true }), bucket)
    await sink.open(AT)
    await sink.put(log.records(0, 2))
    bucket.beforeEach = () => {
      throw new RetriableError('503')
    }
    expect(await sink.flush()).toEqual([])
    await expect(sink.put([])).rejects.toThrow('503')
    bucket.beforeEach = () => {}
    await sink.put([])
    expect(bucket.lines()).toEqual(['{"n":0}', '{"n":1}'])
    expect(await sink.flush()).toEqual([{ ...AT[0], offset: 2 }])
  })

  it('continues after an error of the store with the same batch, and stores each record once', async () => {
    const log = new PartitionLog()
    const bucket = new MemoryBucket()
    let fails = true
    bucket.beforeEach = (operation) => {
      if (operation === 'put' && fails) throw new RetriableError('503')
    }
    const sink = log.start(sinkSettings(), bucket)
    await sink.open(AT)
    await expect(sink.put(log.records(0, 8))).rejects.toThrow('503')
    expect(await sink.flush()).toEqual([])
    fails = false
    await sink.put(log.records(0, 8))
    await sink.put(log.records(8, 9))
    expect(bucket.lines()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8].map((n) => `{"n":${n}}`))
  })

  it('uploads large files in parts of equal size, and discards uploads of tasks that were killed', async () => {
    const log = new PartitionLog()
    const bucket = new MemoryBucket()
    const settings = sinkSettings({ rotation: { ...ROTATION, recordsMax: 1_000_000 }, bytesMax: 100_000_000 })
    const large = (offset: number) => log.record(offset, { value: 'x'.repeat(300_000) })
    const killed = log.start(settings, bucket, 500_000)
    await killed.open(AT)
    await killed.put(Array.from({ length: 10 }, (_, offset) => large(offset)))
    expect(bucket.uploads.size).toBe(1)
    const [parts] = bucket.uploads.values()
    expect(new Set([...parts!.values()].map(({ length }) => length))).toEqual(new Set([500_000]))
    const next = log.start(settings, bucket, 500_000)
    await next.open(AT)
    expect(bucket.uploads.size).toBe(0)
  })

  it('begins anew when the topic was created again', async () => {
    const log = new PartitionLog()
    const bucket = new MemoryBucket()
    const sink = log.start(sinkSettings(), bucket)
    await sink.open(AT)
    await sink.put(log.records(100, 102))
    await sink.put(log.records(0, 3))
    expect(bucket.lines()).toEqual(['{"n":0}', '{"n":1}', '{"n":2}'])
    expect(await sink.flush()).toEqual([{ ...AT[0], offset: 3 }])
  })

  it('rejects records without a value, and moves the offset past those that it ignores', async () => {
    const log = new PartitionLog()
    const bucket = new MemoryBucket()
    const tombstone = log.record(0, { value: null })
    const failing = log.start(sinkSettings(), bucket)
    await failing.open(AT)
    await failing.put([tombstone])
    expect(log.rejected).toEqual([tombstone])
    const ignoring = log.start(sinkSettings({ onNull: 'ignore' }), bucket)
    await ignoring.open(AT)
    await ignoring.put([tombstone])
    expect(await ignoring.flush()).toEqual([{ ...AT[0], offset: 1 }])
    expect(log.rejected).toHaveLength(1)
  })
})
