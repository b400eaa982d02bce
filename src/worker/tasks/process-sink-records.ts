import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PartitionRecords, StoredRecord } from '../../broker/broker.ts'
import type { RecordHeader, SchemaAndValue, SinkRecord } from '../../sdk/index.ts'
import type { ErrorPolicy } from './error-policy.ts'
import { isFailure, MixedPipeline } from './mixed-pipeline.ts'
import type { PipelineItem } from './pipeline-step.ts'
import { enterStage, type ProcessingContext, type Stage } from './processing-context.ts'
import type { LocalPipeline, RecordPipeline } from './record-pipeline.ts'
import { applyTransformations } from './transformation-chain.ts'

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
export type FailedSinkRecord = {
  readonly origin: SinkRecord['origin']
  readonly stage: Stage
  readonly className: string
  readonly error: unknown
}

export type SinkProcessingOptions = {
  readonly pipeline: RecordPipeline
  readonly policy: ErrorPolicy
  /** Receives a record that failed and was retried in vain. Throws when the record may not be skipped. */
  readonly onFailedRecord: (failed: FailedSinkRecord) => void
}

/**
 * Converts and transforms the records of one partition and appends the results to `into`. Synchronous as long as the
 * plugins are. Failed records are not appended.
 */
export async function processSinkRecords(
  { topic, partition, records }: PartitionRecords,
  { pipeline, policy, onFailedRecord }: SinkProcessingOptions,
  into: SinkRecord[],
): Promise<void> {
  const context: ProcessingContext = { stage: 'VALUE_CONVERTER', className: '' }
  if (pipeline instanceof MixedPipeline) await convertInSegments(pipeline)
  else await convertEach(pipeline)

  async function convertEach(plugins: LocalPipeline): Promise<void> {
    for (let index = 0; index < records.length; index++) {
      const stored = records[index]!
      if (index % RECORDS_PER_TURN === RECORDS_PER_TURN - 1) await nextTurn()
      const origin = new SinkRecordOrigin(topic, partition, stored)
      let converted: SinkRecord | null
      try {
        const converting = convert(stored, origin, plugins, context)
        converted = converting instanceof Promise ? await converting : converting
      } catch (error) {
        converted = await retryConversion(stored, origin, error, plugins)
      }
      if (converted !== null) into.push(converted)
    }
  }

  async function convertInSegments(plugins: MixedPipeline): Promise<void> {
    const items = records.map((stored) => toItem(stored, new SinkRecordOrigin(topic, partition, stored)))
    await plugins.apply(items, policy)
    for (const { record, outcome } of items) {
      const converted = record as SinkRecord
      if (isFailure(outcome)) onFailedRecord({ origin: converted.origin, ...outcome })
      else if (outcome === 'passing') into.push(converted)
    }
  }

  async function retryConversion(
    stored: StoredRecord,
    origin: SinkRecordOrigin,
    failed: unknown,
    plugins: LocalPipeline,
  ): Promise<SinkRecord | null> {
    try {
      return await policy.retry(failed, () => convert(stored, origin, plugins, context))
    } catch (error) {
      onFailedRecord({ origin, stage: context.stage, className: context.className, error })
      return null
    }
  }
}

/** After this many records, the event loop runs other work, such as a `put` of the previous records. */
const RECORDS_PER_TURN = 500
const NO_HEADERS: readonly RecordHeader[] = []

function toItem({ key, value, headers, timestampMs }: StoredRecord, origin: SinkRecordOrigin): PipelineItem {
  const { topic, partition, offset } = origin
  const empty = { key: null, keySchema: null, value: null, valueSchema: null, headers: NO_HEADERS }
  const record: SinkRecord = { topic, partition, offset, ...empty, timestampMs: toTimestamp(timestampMs), origin }
  return { record, source: undefined, key, value, headers, isSelected: false, outcome: 'passing' }
}

/** In the log, -1 is no timestamp. */
function toTimestamp(storedMs: number): number | null {
  return storedMs === -1 ? null : storedMs
}

function convert(
  stored: StoredRecord,
  origin: SinkRecordOrigin,
  pipeline: LocalPipeline,
  context: ProcessingContext,
): SinkRecord | null | Promise<SinkRecord | null> {
  const { key, value } = pipeline
  enterStage(context, 'KEY_CONVERTER', key.className)
  const keyResult = key.converter.toConnect(origin.topic, stored.key)
  enterStage(context, 'VALUE_CONVERTER', value.className)
  const valueResult = value.converter.toConnect(origin.topic, stored.value)
  if (keyResult instanceof Promise || valueResult instanceof Promise) {
    return Promise.all([keyResult, valueResult]).then((results) =>
      finish(stored, origin, ...results, pipeline, context),
    )
  }
  return finish(stored, origin, keyResult, valueResult, pipeline, context)
}

function finish(
  stored: StoredRecord,
  origin: SinkRecordOrigin,
  key: SchemaAndValue,
  value: SchemaAndValue,
  { headers, transformations }: LocalPipeline,
  context: ProcessingContext,
): SinkRecord | null {
  const record: SinkRecord = {
    topic: origin.topic,
    partition: origin.partition,
    offset: origin.offset,
    key: key.value,
    keySchema: key.schema,
    value: value.value,
    valueSchema: value.schema,
    headers: stored.headers.length === 0 ? NO_HEADERS : toHeaders(stored, headers, context),
    timestampMs: toTimestamp(stored.timestampMs),
    origin,
  }
  return transformations.length === 0 ? record : applyTransformations(transformations, record, context)
}

function toHeaders(
  stored: StoredRecord,
  { className, converter }: LocalPipeline['headers'],
  context: ProcessingContext,
): readonly RecordHeader[] {
  enterStage(context, 'HEADER_CONVERTER', className)
  return stored.headers.map(([name, bytes]) => converter.toConnect(name, bytes))
}
