import type { PartitionRecords, StoredRecord } from '../../broker/broker.ts'
import type { RecordHeader, SinkRecord } from '../../sdk/index.ts'
import type { ErrorPolicy } from './error-policy.ts'
import type { PipelineItem, StepFailure } from './pipeline-step.ts'
import type { RecordPipeline } from './record-pipeline.ts'

/** The topic, partition and offset of a sink record and the record as stored. Transforms keep it with the record. */
export class SinkRecordOrigin {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly #stored: StoredRecord

  constructor(topic: string, partition: number, stored: StoredRecord) {
    this.topic = topic
    this.partition = partition
    this.offset = stored.offset
    this.#stored = stored
  }

  static storedOf(origin: object): StoredRecord | undefined {
    return origin instanceof SinkRecordOrigin ? origin.#stored : undefined
  }
}

/** A record of the log that could not be converted for the sink. */
export type FailedSinkRecord = StepFailure & { readonly origin: SinkRecord['origin'] }

export type SinkProcessingOptions = {
  readonly pipeline: RecordPipeline
  readonly policy: ErrorPolicy
  /** Receives a record that failed and was retried in vain. Throws when the record may not be skipped. */
  readonly onFailedRecord: (failed: FailedSinkRecord) => void
}

/** Converts and transforms the records of one partition and appends the results to `into`. Failed records are not appended. */
export async function processSinkRecords(
  { topic, partition, records }: Pick<PartitionRecords, 'topic' | 'partition' | 'records'>,
  { pipeline, policy, onFailedRecord }: SinkProcessingOptions,
  into: SinkRecord[],
): Promise<void> {
  await pipeline.apply(records, policy, {
    toItem: (stored) => toItem(stored, new SinkRecordOrigin(topic, partition, stored)),
    onPassed: ({ record }) => into.push(record as SinkRecord),
    onFailed: ({ origin }, failure) => onFailedRecord({ origin, ...failure }),
  })
}

const NO_HEADERS: readonly RecordHeader[] = []

type SinkItem = PipelineItem & { readonly origin: SinkRecordOrigin }

function toItem({ key, value, headers, timestampMs }: StoredRecord, origin: SinkRecordOrigin): SinkItem {
  const record: SinkRecord = {
    topic: origin.topic,
    partition: origin.partition,
    offset: origin.offset,
    key: null,
    keySchema: null,
    value: null,
    valueSchema: null,
    headers: NO_HEADERS,
    // In the log, -1 is no timestamp.
    timestampMs: timestampMs === -1 ? null : timestampMs,
    origin,
  }
  return { record, origin, key, value, headers, isSelected: false, failure: undefined }
}
