import type { Header, NewRecord } from '../../broker/broker.ts'
import { BrokerError } from '../../broker/broker-error.ts'
import { checkRecord } from '../../broker/producer/producer.ts'
import {
  type ConnectRecord,
  type EncodeRow,
  isRowBatch,
  type RowBatch,
  type SourceBatch,
  type SourceRecord,
  toSourceRecord,
  toSourceRecords,
} from '../../sdk/index.ts'
import { type ConvertedBatch, type ConvertedSources, rowSourcesOf, sourcesOf } from './converted-batch.ts'
import type { ErrorPolicy } from './error-policy.ts'
import { isFailure, MixedPipeline } from './mixed-pipeline.ts'
import type { PipelineItem } from './pipeline-step.ts'
import { enterStage, type ProcessingContext, type Stage } from './processing-context.ts'
import type { LocalPipeline, RecordPipeline } from './record-pipeline.ts'
import { applyTransformations } from './transformation-chain.ts'

/** A source record that could not be converted or produced. */
export type FailedSourceRecord = {
  readonly record: SourceRecord
  /** The converted record, if conversion succeeded. */
  readonly converted: NewRecord | undefined
  readonly stage: Stage
  readonly className: string
  readonly error: unknown
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
  batch: SourceBatch,
  { pipeline, policy, recordBytesMax, onFailedRecord }: SourceProcessingOptions,
): Promise<ConvertedBatch> {
  const records: NewRecord[] = []
  const context: ProcessingContext = { stage: 'TRANSFORMATION', className: '' }
  let bytes = 0
  let sources: ConvertedSources
  if (isRowBatch(batch) && isRowPipeline(pipeline)) sources = await convertRows(batch, pipeline)
  else sources = await convertRecords(toSourceRecords(batch))
  return { records, sources, bytes }

  async function convertRows(rows: RowBatch, plugins: LocalPipeline): Promise<ConvertedSources> {
    const { topic, valueSchema } = rows
    const converted: number[] = []
    let write: EncodeRow | undefined
    for (let row = 0; row < rows.length; row++) {
      write ??= plugins.value.converter.rowWriter?.(topic, valueSchema)
      const converting = convertRow(rows, row, write?.(rows, row), plugins)
      const record = converting instanceof Promise ? await converting : converting
      if (record !== null && add(record, () => toSourceRecord(rows, row))) converted.push(row)
    }
    return rowSourcesOf(rows, converted)
  }

  /** `value`: what the value converter has written; undefined if it needs the record. */
  function convertRow(
    rows: RowBatch,
    row: number,
    value: Uint8Array | undefined,
    plugins: LocalPipeline,
  ): NewRecord | null | Promise<NewRecord | null> {
    if (value === undefined) return convertRecord(toSourceRecord(rows, row), plugins)
    const { topic } = rows
    const { className, converter } = plugins.key
    const retry = (error: unknown) => retryConversion(toSourceRecord(rows, row), error, plugins)
    try {
      enterStage(context, 'KEY_CONVERTER', className)
      const key = converter.fromConnect(topic, null, null)
      return key instanceof Promise ? key.then((bytes) => ({ topic, key: bytes, value }), retry) : { topic, key, value }
    } catch (error) {
      return retry(error)
    }
  }

  async function convertRecords(list: readonly SourceRecord[]): Promise<ConvertedSources> {
    const converted: SourceRecord[] = []
    if (pipeline instanceof MixedPipeline) await convertInSegments(list, pipeline, converted)
    else {
      for (let index = 0; index < list.length; index++) {
        const record = list[index]!
        const converting = convertRecord(record, pipeline)
        const result = converting instanceof Promise ? await converting : converting
        if (result !== null && add(result, () => record)) converted.push(record)
      }
    }
    return sourcesOf(converted)
  }

  function convertRecord(record: SourceRecord, plugins: LocalPipeline): NewRecord | null | Promise<NewRecord | null> {
    try {
      const converting = convert(record, plugins, context)
      return converting instanceof Promise
        ? converting.catch((error: unknown) => retryConversion(record, error, plugins))
        : converting
    } catch (error) {
      return retryConversion(record, error, plugins)
    }
  }

  async function convertInSegments(
    list: readonly SourceRecord[],
    plugins: MixedPipeline,
    converted: SourceRecord[],
  ): Promise<void> {
    const items = list.map(toItem)
    await plugins.apply(items, policy)
    for (const [index, { outcome, ...item }] of items.entries()) {
      const record = list[index]!
      if (isFailure(outcome)) onFailedRecord({ record, converted: undefined, ...outcome })
      else if (outcome === 'passing' && add(toNewRecord(item), () => record)) converted.push(record)
    }
  }

  /**
   * Checks the record here, where only one record fails: in the producer it would fail a whole batch. Returns whether the record
   * was added.
   */
  function add(converted: NewRecord, toSource: () => SourceRecord): boolean {
    try {
      checkTimestamp(converted)
      checkRecord(converted, recordBytesMax)
    } catch (error) {
      onFailedRecord(producerFailure(toSource(), converted, error))
      return false
    }
    records.push(converted)
    bytes += bytesOf(converted)
    return true
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
}

/** Whether values pass from the source to the value converter only, and it can convert them without records. */
function isRowPipeline(pipeline: RecordPipeline): pipeline is LocalPipeline {
  if (pipeline instanceof MixedPipeline || pipeline.transformations.length > 0) return false
  return pipeline.value.converter.rowWriter !== undefined
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

type Timestamped = { readonly timestampMs: number }

/** As in Kafka Connect, -1 is no timestamp. */
function hasTimestamp<R extends { readonly timestampMs?: number | null }>(record: R): record is R & Timestamped {
  const { timestampMs } = record
  return timestampMs !== undefined && timestampMs !== null && timestampMs !== -1
}

function checkTimestamp({ timestampMs }: NewRecord): void {
  if (timestampMs === undefined || !(timestampMs < 0)) return
  throw new BrokerError('invalid_record', `Invalid record timestamp ${timestampMs}`)
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
  if (hasTimestamp(current)) converted.timestampMs = current.timestampMs
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
  const { topic, partition } = record
  return {
    topic,
    key,
    value,
    ...(partition !== undefined && { partition }),
    ...(hasTimestamp(record) && { timestampMs: record.timestampMs }),
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
