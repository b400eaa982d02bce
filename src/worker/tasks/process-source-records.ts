import type { Header, NewRecord } from '../../broker/broker.ts'
import { checkRecordSize } from '../../broker/producer/producer.ts'
import type { ConnectRecord, SourceRecord } from '../../sdk/index.ts'
import type { ErrorPolicy } from './error-policy.ts'
import { isFailure, MixedPipeline } from './mixed-pipeline.ts'
import type { PipelineItem } from './pipeline-step.ts'
import { enterStage, type ProcessingContext, type Stage } from './processing-context.ts'
import type { LocalPipeline, RecordPipeline } from './record-pipeline.ts'
import { applyTransformations } from './transformation-chain.ts'

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
  readonly converted: NewRecord | undefined
  readonly stage: Stage
  readonly className: string
  readonly error: unknown
}

/**
 * What is kept of a source record until it is stored, besides the converted bytes: the values of its columns are several times
 * larger, and each collection of the young generation would copy them.
 */
export function withoutContent({ topic, timestampMs, sourcePartition, sourceOffset }: SourceRecord): SourceRecord {
  return { topic, timestampMs: timestampMs ?? null, value: undefined, sourcePartition, sourceOffset }
}

type MutableRecord = { -readonly [Member in keyof NewRecord]: NewRecord[Member] }

export type SourceProcessingOptions = {
  readonly pipeline: RecordPipeline
  readonly policy: ErrorPolicy
  /** A larger record fails. */
  readonly recordBytesMax: number
  /** Receives a record that failed and was retried in vain. Throws when the record may not be skipped. */
  readonly onFailedRecord: (failed: FailedSourceRecord) => void
}

/**
 * Transforms and converts a batch of source records. Synchronous as long as the plugins are: one record costs a few
 * calls and one object. Failed records are missing in the result.
 */
export async function processSourceRecords(
  batch: readonly SourceRecord[],
  { pipeline, policy, recordBytesMax, onFailedRecord }: SourceProcessingOptions,
): Promise<ConvertedBatch> {
  const records: NewRecord[] = []
  const sources: SourceRecord[] = []
  const context: ProcessingContext = { stage: 'TRANSFORMATION', className: '' }
  let bytes = 0
  if (pipeline instanceof MixedPipeline) await convertInSegments(pipeline)
  else await convertEach(pipeline)
  return { records, sources, bytes }

  async function convertEach(plugins: LocalPipeline): Promise<void> {
    for (let index = 0; index < batch.length; index++) {
      const record = batch[index]!
      let converted: NewRecord | null
      try {
        const converting = convert(record, plugins, context)
        converted = converting instanceof Promise ? await converting : converting
      } catch (error) {
        converted = await retryConversion(record, error, plugins)
      }
      if (converted !== null) add(record, converted)
    }
  }

  async function convertInSegments(plugins: MixedPipeline): Promise<void> {
    const items = batch.map(toItem)
    await plugins.apply(items, policy)
    for (const [index, { outcome, ...item }] of items.entries()) {
      const record = batch[index]!
      if (isFailure(outcome)) onFailedRecord({ record, converted: undefined, ...outcome })
      else if (outcome === 'passing') add(record, toNewRecord(item))
    }
  }

  function add(record: SourceRecord, converted: NewRecord): void {
    if (!hasValidSize(record, converted)) return
    records.push(converted)
    sources.push(record)
    bytes += bytesOf(converted)
  }

  async function retryConversion(
    record: SourceRecord,
    failed: unknown,
    plugins: LocalPipeline,
  ): Promise<NewRecord | null> {
    try {
      return await policy.retry(failed, () => convert(record, plugins, context))
    } catch (error) {
      onFailedRecord({ record, converted: undefined, stage: context.stage, className: context.className, error })
      return null
    }
  }

  /** Checks the size here, where only one record fails: in the producer it would fail a whole batch. */
  function hasValidSize(record: SourceRecord, converted: NewRecord): boolean {
    try {
      checkRecordSize(converted, recordBytesMax)
      return true
    } catch (error) {
      onFailedRecord(producerFailure(record, converted, error))
      return false
    }
  }
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

function convert(
  record: SourceRecord,
  { key, value, headers, transformations }: LocalPipeline,
  context: ProcessingContext,
): NewRecord | null | Promise<NewRecord | null> {
  let current: SourceRecord | ConnectRecord | null = record
  if (transformations.length > 0) {
    current = applyTransformations(transformations, toConnectRecord(record), context)
    if (current === null) return null
  }
  const converted: MutableRecord = { topic: current.topic, key: null, value: null }
  if (current.partition !== undefined) converted.partition = current.partition
  if (current.timestampMs !== undefined && current.timestampMs !== null) converted.timestampMs = current.timestampMs
  if (current.headers !== undefined && current.headers.length > 0) {
    enterStage(context, 'HEADER_CONVERTER', headers.className)
    converted.headers = current.headers.map((header): Header => [header.key, headers.converter.fromConnect(header)])
  }
  enterStage(context, 'KEY_CONVERTER', key.className)
  const keyBytes = key.converter.fromConnect(current.topic, current.keySchema ?? null, current.key ?? null)
  enterStage(context, 'VALUE_CONVERTER', value.className)
  const valueBytes = value.converter.fromConnect(current.topic, current.valueSchema ?? null, current.value)
  if (keyBytes instanceof Promise || valueBytes instanceof Promise) {
    return resolveContent(converted, keyBytes, valueBytes)
  }
  converted.key = keyBytes
  converted.value = valueBytes
  return converted
}

async function resolveContent(
  converted: MutableRecord,
  key: Uint8Array | null | Promise<Uint8Array | null>,
  value: Uint8Array | null | Promise<Uint8Array | null>,
): Promise<NewRecord> {
  const [keyBytes, valueBytes] = await Promise.all([key, value])
  converted.key = keyBytes
  converted.value = valueBytes
  return converted
}

function toItem(record: SourceRecord): PipelineItem {
  return {
    record: toConnectRecord(record),
    source: record,
    key: null,
    value: null,
    headers: [],
    isSelected: false,
    outcome: 'passing',
  }
}

function toNewRecord({ record, key, value, headers }: Omit<PipelineItem, 'outcome'>): NewRecord {
  const { topic, partition, timestampMs } = record
  return {
    topic,
    key,
    value,
    ...(partition !== undefined && { partition }),
    ...(timestampMs !== null && { timestampMs }),
    ...(headers.length > 0 && { headers }),
  }
}

function toConnectRecord(record: SourceRecord): ConnectRecord {
  return {
    topic: record.topic,
    partition: record.partition,
    key: record.key ?? null,
    keySchema: record.keySchema ?? null,
    value: record.value,
    valueSchema: record.valueSchema ?? null,
    headers: record.headers ?? [],
    timestampMs: record.timestampMs ?? null,
  }
}
