import fc from 'fast-check'
import { fileFormat } from '../../src/plugins/connectors/object-storage/file-format.ts'
import { FileNames } from '../../src/plugins/connectors/object-storage/file-names.ts'
import { ObjectSink, type ObjectSinkSettings } from '../../src/plugins/connectors/object-storage/object-sink.ts'
import { createPartitioner } from '../../src/plugins/connectors/object-storage/partitioner.ts'
import { valuePart } from '../../src/plugins/connectors/object-storage/record-part.ts'
import { SchemaProjector } from '../../src/plugins/connectors/object-storage/schema-compatibility.ts'
import type { CommittedPosition, SinkRecord } from '../../src/sdk/index.ts'
import { Killed, type MemoryBucket } from './memory-object-store.ts'

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

export function sinkSettings(changed: Partial<ObjectSinkSettings> = {}): ObjectSinkSettings {
  return {
    parts: [valuePart(fileFormat({ format: 'json', decimals: 'BASE64' }))],
    names: new FileNames({
      folder: 'topics',
      folderDelimiter: '/',
      fileDelimiter: '+',
      offsetDigits: 10,
      schemaFolder: 'none',
      tags: undefined,
    }),
    projector: new SchemaProjector('NONE'),
    schemaOf: ({ valueSchema }) => valueSchema,
    compression: undefined,
    keepsLatest: false,
    rotation: {
      recordsMax: 3,
      fileRecordsMax: Number.POSITIVE_INFINITY,
      intervalMs: undefined,
      onOtherPath: true,
      filesMax: undefined,
      schedule: undefined,
    },
    usesClock: false,
    place: createPartitioner({ by: 'partition' }, '/'),
    bytesMax: 1_000_000,
    onNull: 'fail',
    tombstoneFolder: 'tombstone',
    reportsNull: false,
    endsAtCommit: false,
    ...changed,
  }
}

/** A topic partition and its committed offset, which outlive the tasks that read them. */
export class PartitionLog {
  readonly topic = 'orders'
  readonly partition = 0
  readonly at = { topic: this.topic, partition: this.partition }
  committed: CommittedPosition | undefined
  readonly rejected: SinkRecord[] = []
  nowMs = 0
  /** Runs before each commit, and can fail it. */
  beforeCommit: () => void = () => {}

  start(settings: ObjectSinkSettings, bucket: MemoryBucket, partBytes = 1_000_000): ObjectSink {
    return new ObjectSink(settings, bucket.store(partBytes), {
      log: SILENT,
      reject: async (record) => void this.rejected.push(record),
      committedOffsets: async () => (this.committed === undefined ? [] : [this.committed]),
      commitOffsets: async ([position]) => {
        this.beforeCommit()
        this.committed = position
      },
      requestCommit: () => {},
      nowMs: () => this.nowMs,
    })
  }

  async commit(sink: ObjectSink): Promise<void> {
    this.committed = (await sink.flush())[0] ?? this.committed
  }

  record(offset: number, changed: Partial<SinkRecord> = {}): SinkRecord {
    const { topic, partition } = this
    const value = { n: offset }
    const key = { key: null, keySchema: null, headers: [], timestampMs: offset }
    return {
      topic,
      partition,
      offset,
      origin: { topic, partition, offset },
      value,
      valueSchema: null,
      ...key,
      ...changed,
    }
  }

  records(from: number, to: number): readonly SinkRecord[] {
    return Array.from({ length: to - from }, (_, at) => this.record(from + at))
  }
}

/** What happens until a task is killed. */
type Life = { stepsUntilKill: number; batch: number; clockMs: number; commits: boolean }

export const lives = fc.array(
  fc.record({
    stepsUntilKill: fc.integer({ min: 1, max: 25 }),
    batch: fc.integer({ min: 1, max: 9 }),
    clockMs: fc.integer({ min: 0, max: 90 }),
    commits: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
)

/** Every operation on the bucket and every commit is a step; the task is killed before or after one of them. */
export async function runUntilKilled(
  log: PartitionLog,
  bucket: MemoryBucket,
  settings: ObjectSinkSettings,
  life: Life,
): Promise<void> {
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
    await sink.open([log.at])
    for (let from = log.committed?.offset ?? 0; from < 60; from += life.batch) {
      log.nowMs += life.clockMs
      await sink.put(log.records(from, Math.min(60, from + life.batch)))
      if (life.commits) await log.commit(sink)
    }
  } catch (error) {
    if (!(error instanceof Killed)) throw error
  }
}

/** Until all of the first 60 records are stored: records after them, which complete their files, exist in every mode. */
export async function runToEnd(log: PartitionLog, bucket: MemoryBucket, settings: ObjectSinkSettings): Promise<void> {
  bucket.beforeEach = () => {}
  bucket.afterEach = () => {}
  log.beforeCommit = () => {}
  const sink = log.start(settings, bucket)
  await sink.open([log.at])
  for (let from = log.committed?.offset ?? 0; (log.committed?.offset ?? 0) < 60; from += 5) {
    log.nowMs += 40
    await sink.put(log.records(from, from + 5))
    await log.commit(sink)
  }
  await sink.close([log.at])
}
