import { fileFormat } from '../../src/plugins/connectors/object-storage/file-format.ts'
import { FileNames } from '../../src/plugins/connectors/object-storage/file-names.ts'
import { ObjectSink, type ObjectSinkSettings } from '../../src/plugins/connectors/object-storage/object-sink.ts'
import { createPartitioner } from '../../src/plugins/connectors/object-storage/partitioner.ts'
import { valuePart } from '../../src/plugins/connectors/object-storage/record-part.ts'
import { SchemaProjector } from '../../src/plugins/connectors/object-storage/schema-compatibility.ts'
import type { CommittedPosition, SinkRecord } from '../../src/sdk/index.ts'
import type { MemoryBucket } from './memory-object-store.ts'

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
    gzipLevel: undefined,
    rotation: { recordsMax: 3, intervalMs: undefined, onOtherPath: true, filesMax: undefined, schedule: undefined },
    usesClock: false,
    place: createPartitioner({ by: 'partition' }, '/'),
    bytesMax: 1_000_000,
    onNull: 'fail',
    tombstoneFolder: 'tombstone',
    reportsNull: false,
    ...changed,
  }
}

/** A topic partition and its committed offset, which outlive the tasks that read them. */
export class PartitionLog {
  readonly topic = 'orders'
  readonly partition = 0
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

  commit(sink: ObjectSink): void {
    this.committed = sink.flush()[0] ?? this.committed
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
