import type { Header, NewRecord } from '../../broker/broker.ts'
import { BrokerError } from '../../broker/broker-error.ts'
import { checkRecord } from '../../broker/producer/check-record.ts'
import type { ConnectRecord, RecordHeader, SourceRecord } from '../../sdk/index.ts'
import type { ErrorPolicy, Stage } from './error-policy.ts'
import type { PipelineItem } from './pipeline-step.ts'
import type { RecordPipeline } from './record-pipeline.ts'

/** A batch that is ready to be produced. */
export type ConvertedBatch = {
  readonly records: readonly NewRecord[]
  /** The source record of each of `records`. */
  readonly sources: readonly SourceRecord[]
  /** Size of keys and values. */
  readonly bytes: number
}

/** A source record that could not be converted or produced. */
export type FailedSourceRecord = {
  readonly record: SourceRecord
  /** The converted record, if conversion succeeded. */
  readonly converted: NewRecord | undefined
  readonly stage: Stage
  readonly className: string
  readonly error: unknown
}

export type SourceProcessingOptions = {
  readonly pipeline: RecordPipeline
  readonly policy: ErrorPolicy
  /** A larger record fails. */
  readonly recordBytesMax: number
  /** Receives a record that failed and was retried in vain. Throws when the record may not be skipped. */
  readonly onFailedRecord: (failed: FailedSourceRecord) => void
}

/** Transforms and converts a batch of source records. Failed and dropped records are missing in the result. */
export async function processSourceRecords(
  batch: readonly SourceRecord[],
  { pipeline, policy, recordBytesMax, onFailedRecord }: SourceProcessingOptions,
): Promise<ConvertedBatch> {
  const records: NewRecord[] = []
  const sources: SourceRecord[] = []
  let bytes = 0
  await pipeline.apply(batch, policy, {
    toItem,
    onFailed: ({ origin }, failure) => onFailedRecord({ record: origin, converted: undefined, ...failure }),
    onPassed: (item) => {
      const record = toNewRecord(item)
      try {
        // Checked here, where only one record fails: in the producer it would fail a whole batch.
        checkTimestamp(record)
        checkRecord(record, recordBytesMax)
      } catch (error) {
        onFailedRecord(producerFailure(item.origin, record, error))
        return
      }
      records.push(record)
      sources.push(item.origin)
      bytes += bytesOf(record)
    },
  })
  return { records, sources, bytes }
}

/**
 * The failure of a record that the brokers reject. The class name is the one that Kafka Connect reports for this stage.
 */
export function producerFailure(record: SourceRecord, converted: NewRecord, error: unknown): FailedSourceRecord {
  const className = 'org.apache.kafka.connect.runtime.WorkerSourceTask'
  return { record, converted, stage: 'KAFKA_PRODUCE', className, error }
}

export function bytesOf({ key, value }: NewRecord): number {
  return (key?.length ?? 0) + (value?.length ?? 0)
}

/**
 * What is kept of a source record until it is stored, besides the converted bytes: the values of its fields are several times
 * larger, and each collection of the young generation would copy them.
 */
export function withoutContent({ topic, timestampMs, sourcePartition, sourceOffset }: SourceRecord): SourceRecord {
  return { topic, timestampMs: timestampMs ?? null, value: undefined, sourcePartition, sourceOffset }
}

function checkTimestamp({ timestampMs }: NewRecord): void {
  if (timestampMs === undefined || !(timestampMs < 0)) return
  throw new BrokerError('invalid_record', `Invalid record timestamp ${timestampMs}`)
}

const NO_RECORD_HEADERS: readonly RecordHeader[] = []
const NO_HEADERS: readonly Header[] = []

type SourceItem = PipelineItem & { readonly origin: SourceRecord }

function toItem(origin: SourceRecord): SourceItem {
  const record: ConnectRecord = {
    topic: origin.topic,
    partition: origin.partition,
    key: origin.key ?? null,
    keySchema: origin.keySchema ?? null,
    value: origin.value,
    valueSchema: origin.valueSchema ?? null,
    headers: origin.headers ?? NO_RECORD_HEADERS,
    timestampMs: origin.timestampMs ?? null,
  }
  return { record, origin, key: null, value: null, headers: NO_HEADERS, isSelected: false, failure: undefined }
}

function toNewRecord({ record, key, value, headers }: PipelineItem): NewRecord {
  const { topic, partition, timestampMs } = record
  const converted: { -readonly [Member in keyof NewRecord]: NewRecord[Member] } = { topic, key, value }
  if (partition !== undefined) converted.partition = partition
  // As in Kafka Connect, -1 is no timestamp.
  if (timestampMs !== undefined && timestampMs !== null && timestampMs !== -1) converted.timestampMs = timestampMs
  if (headers.length > 0) converted.headers = headers
  return converted
}
