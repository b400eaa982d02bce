import type { Header, NewRecord } from '../../broker/broker.ts'
import { checkRecordSize } from '../../broker/producer.ts'
import type { ConnectRecord, RecordHeader, SourceRecord } from '../../sdk/index.ts'
import type { ErrorPolicy, Stage } from './error-policy.ts'
import type { RecordPipeline } from './record-pipeline.ts'

/** A batch that is ready to be produced. */
export type ConvertedBatch = {
  readonly records: readonly NewRecord[]
  /** The source record of each entry in `records`, at the same index. */
  readonly sources: readonly SourceRecord[]
  readonly bytes: number
}

/** A source record that could not be converted or produced. */
export type FailedSourceRecord = {
  readonly record: SourceRecord
  /** The converted record, if conversion succeeded. */
  readonly made: NewRecord | undefined
  readonly stage: Stage
  readonly className: string
  readonly error: unknown
}

type Writable = { -readonly [Member in keyof NewRecord]: NewRecord[Member] }

/**
 * Transforms and converts a batch of source records. Synchronous as long as the plugins are: one record costs a few
 * calls and one object. A record that fails is retried or passed to `lost`, which throws when the record may not be
 * skipped. A record larger than `recordBytesMax` is passed to `lost` as well.
 */
export async function convertSourceRecords(
  batch: readonly SourceRecord[],
  pipeline: RecordPipeline,
  policy: ErrorPolicy,
  { recordBytesMax, lost }: { readonly recordBytesMax: number; readonly lost: (record: FailedSourceRecord) => void },
): Promise<ConvertedBatch> {
  const records: NewRecord[] = []
  const sources: SourceRecord[] = []
  const at: ConversionStage = { stage: 'TRANSFORMATION', className: '' }
  let bytes = 0
  for (const record of batch) {
    let made: NewRecord | null
    try {
      const converted = convert(record, pipeline, at)
      made = converted instanceof Promise ? await converted : converted
    } catch (error) {
      made = await again(record, error)
    }
    if (made !== null && isFit(record, made)) {
      records.push(made)
      sources.push(record)
      bytes += bytesOf(made)
    }
  }
  return { records, sources, bytes }

  async function again(record: SourceRecord, failed: unknown): Promise<NewRecord | null> {
    try {
      return await policy.retry(failed, () => convert(record, pipeline, at))
    } catch (error) {
      lost({ record, made: undefined, ...at, error })
      return null
    }
  }

  /** Checks the size here, where only one record fails: in the producer it would fail a whole batch. */
  function isFit(record: SourceRecord, made: NewRecord): boolean {
    try {
      checkRecordSize(made, recordBytesMax)
      return true
    } catch (error) {
      lost(producerFailure(record, made, error))
      return false
    }
  }
}

/**
 * The failure of a record that the brokers reject. The class name is the one that Kafka Connect reports for this stage.
 */
export function producerFailure(record: SourceRecord, made: NewRecord, error: unknown): FailedSourceRecord {
  return { record, made, stage: 'KAFKA_PRODUCE', className: 'org.apache.kafka.connect.runtime.WorkerSourceTask', error }
}

export function bytesOf({ key, value }: NewRecord): number {
  return (key?.length ?? 0) + (value?.length ?? 0)
}

/** The current step, which is reported if it throws. */
type ConversionStage = { stage: Stage; className: string }

function convert(
  record: SourceRecord,
  { key, value, headers, transforms }: RecordPipeline,
  at: ConversionStage,
): NewRecord | null | Promise<NewRecord | null> {
  let current: SourceRecord | ConnectRecord | null = record
  if (transforms.length > 0) {
    current = transform(record, transforms, at)
    if (current === null) return null
  }
  const made: Writable = { topic: current.topic, key: null, value: null }
  if (current.partition !== undefined) made.partition = current.partition
  if (current.timestampMs !== undefined && current.timestampMs !== null) made.timestampMs = current.timestampMs
  if (current.headers !== undefined && current.headers.length > 0) {
    enter(at, 'HEADER_CONVERTER', headers.className)
    made.headers = current.headers.map((header) => toHeader(header, headers.run))
  }
  enter(at, 'KEY_CONVERTER', key.className)
  const keyBytes = key.run.fromConnect(current.topic, current.keySchema ?? null, current.key ?? null)
  enter(at, 'VALUE_CONVERTER', value.className)
  const valueBytes = value.run.fromConnect(current.topic, current.valueSchema ?? null, current.value)
  if (keyBytes instanceof Promise || valueBytes instanceof Promise) return settled(made, keyBytes, valueBytes)
  made.key = keyBytes
  made.value = valueBytes
  return made
}

async function settled(
  made: Writable,
  key: Uint8Array | null | Promise<Uint8Array | null>,
  value: Uint8Array | null | Promise<Uint8Array | null>,
): Promise<NewRecord> {
  const [keyBytes, valueBytes] = await Promise.all([key, value])
  made.key = keyBytes
  made.value = valueBytes
  return made
}

function transform(
  record: SourceRecord,
  steps: RecordPipeline['transforms'],
  at: ConversionStage,
): ConnectRecord | null {
  let current: ConnectRecord | null = {
    topic: record.topic,
    partition: record.partition,
    key: record.key ?? null,
    keySchema: record.keySchema ?? null,
    value: record.value,
    valueSchema: record.valueSchema ?? null,
    headers: record.headers ?? [],
    timestampMs: record.timestampMs ?? null,
  }
  for (const { className, run } of steps) {
    enter(at, 'TRANSFORMATION', className)
    current = run(current)
    if (current === null) return null
  }
  return current
}

function toHeader(header: RecordHeader, converter: RecordPipeline['headers']['run']): Header {
  return [header.key, converter.fromConnect(header)]
}

function enter(at: ConversionStage, stage: Stage, className: string): void {
  at.stage = stage
  at.className = className
}
