import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UTC } from '../../../../src/plugins/connectors/jdbc/time-zone.ts'
import type { ObjectSinkSettings } from '../../../../src/plugins/connectors/object-storage/object-sink.ts'
import { createPartitioner } from '../../../../src/plugins/connectors/object-storage/partitioner.ts'
import { parsePathFormat } from '../../../../src/plugins/connectors/object-storage/path-format.ts'
import { RetriableError } from '../../../../src/sdk/index.ts'
import { Killed, MemoryBucket } from '../../../support/memory-object-store.ts'
import { PartitionLog, sinkSettings } from '../../../support/object-sink-run.ts'

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
    place: ({ offset }) => ({ path: `n=${offset % 4}`, timestampMs: undefined }),
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
    expect(sink.flush()).toEqual([{ ...AT[0], offset: 11 }])
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
      const life = fc.record({
        stepsUntilKill: fc.integer({ min: 1, max: 25 }),
        batch: fc.integer({ min: 1, max: 9 }),
        clockMs: fc.integer({ min: 0, max: 90 }),
        commits: fc.boolean(),
      })
      await fc.assert(
        fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 12 }), async (lives) => {
          const log = new PartitionLog()
          const bucket = new MemoryBucket()
          for (const { stepsUntilKill, batch, clockMs, commits } of lives)
            await runUntilKilled(log, bucket, settings, { stepsUntilKill, batch, clockMs, commits })
          bucket.beforeEach = () => {}
          bucket.afterEach = () => {}
          log.beforeCommit = () => {}
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
    expect(sink.flush()).toEqual([])
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
    expect(sink.flush()).toEqual([{ ...AT[0], offset: 3 }])
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
    expect(ignoring.flush()).toEqual([{ ...AT[0], offset: 1 }])
    expect(log.rejected).toHaveLength(1)
  })
})

type Life = { stepsUntilKill: number; batch: number; clockMs: number; commits: boolean }

/** Every operation on the bucket and every commit is a step; the task is killed before or after one of them. */
async function runUntilKilled(log: PartitionLog, bucket: MemoryBucket, settings: ObjectSinkSettings, life: Life) {
  let steps = life.stepsUntilKill
  const step = () => {
    steps -= 1
    if (steps < 0) throw new Killed()
  }
  bucket.beforeEach = step
  bucket.afterEach = step
  log.beforeCommit = step
  const sink = log.start(settings, bucket)
  try {
    await sink.open(AT)
    for (let from = log.committed?.offset ?? 0; from < 60; from += life.batch) {
      log.nowMs += life.clockMs
      await sink.put(log.records(from, Math.min(60, from + life.batch)))
      if (life.commits) log.commit(sink)
    }
  } catch (error) {
    if (!(error instanceof Killed)) throw error
  }
}

/** Until all of the first 60 records are stored: records after them, which complete their files, exist in every mode. */
async function runToEnd(log: PartitionLog, bucket: MemoryBucket, settings: ObjectSinkSettings): Promise<void> {
  const sink = log.start(settings, bucket)
  await sink.open(AT)
  for (let from = log.committed?.offset ?? 0; (log.committed?.offset ?? 0) < 60; from += 5) {
    log.nowMs += 40
    await sink.put(log.records(from, from + 5))
    log.commit(sink)
  }
  await sink.close(AT)
}
