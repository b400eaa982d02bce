import type { PartitionRecords, StoredRecord } from '../../broker/broker.ts'
import type { RecordHeader, SinkRecord } from '../../sdk/index.ts'
import type { ErrorPolicy, Stage } from './error-policy.ts'
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
export type FailedSinkRecord = {
  readonly origin: SinkRecord['origin']
  readonly stage: Stage
  readonly className: string
  readonly error: unknown
}

/**
 * Converts and transforms the records of one partition and appends the results to `into`. Synchronous as long as the
 * plugins are. A record that fails is retried or passed to `undelivered`, which throws when the record may not be
 * skipped.
 */
export async function convertSinkRecords(
  { topic, partition, records: stored }: PartitionRecords,
  pipeline: RecordPipeline,
  policy: ErrorPolicy,
  undelivered: (record: FailedSinkRecord) => void,
  into: SinkRecord[],
): Promise<void> {
  const at: ConversionStage = { stage: 'VALUE_CONVERTER', className: '' }
  for (const record of stored) {
    const origin = new SinkRecordOrigin(topic, partition, record)
    let made: SinkRecord | null
    try {
      const converted = convert(record, origin, pipeline, at)
      made = converted instanceof Promise ? await converted : converted
    } catch (error) {
      made = await again(record, origin, error)
    }
    if (made !== null) into.push(made)
  }

  async function again(record: StoredRecord, origin: SinkRecordOrigin, failed: unknown): Promise<SinkRecord | null> {
    try {
      return await policy.retry(failed, () => convert(record, origin, pipeline, at))
    } catch (error) {
      undelivered({ origin, ...at, error })
      return null
    }
  }
}

type ConversionStage = { stage: Stage; className: string }

const NO_HEADERS: readonly RecordHeader[] = []

function convert(
  stored: StoredRecord,
  origin: SinkRecordOrigin,
  pipeline: RecordPipeline,
  at: ConversionStage,
): SinkRecord | null | Promise<SinkRecord | null> {
  const { key, value, headers, transforms } = pipeline
  enter(at, 'KEY_CONVERTER', key.className)
  const keyed = key.run.toConnect(origin.topic, stored.key)
  enter(at, 'VALUE_CONVERTER', value.className)
  const valued = value.run.toConnect(origin.topic, stored.value)
  if (keyed instanceof Promise || valued instanceof Promise) {
    return Promise.all([keyed, valued]).then(([k, v]) => finish(k, v))
  }
  return finish(keyed, valued)

  function finish(
    { schema: keySchema, value: keyValue }: Awaited<typeof keyed>,
    { schema: valueSchema, value: valueValue }: Awaited<typeof valued>,
  ): SinkRecord | null {
    const record: SinkRecord = {
      topic: origin.topic,
      partition: origin.partition,
      offset: origin.offset,
      key: keyValue,
      keySchema,
      value: valueValue,
      valueSchema,
      headers: stored.headers.length === 0 ? NO_HEADERS : toHeaders(stored, headers, at),
      timestampMs: stored.timestampMs,
      origin,
    }
    return transforms.length === 0 ? record : transform(record, transforms, at)
  }
}

function toHeaders(
  stored: StoredRecord,
  { className, run }: RecordPipeline['headers'],
  at: ConversionStage,
): readonly RecordHeader[] {
  enter(at, 'HEADER_CONVERTER', className)
  return stored.headers.map(([name, bytes]) => run.toConnect(name, bytes))
}

function transform(record: SinkRecord, steps: RecordPipeline['transforms'], at: ConversionStage): SinkRecord | null {
  let current: SinkRecord | null = record
  for (const { className, run } of steps) {
    enter(at, 'TRANSFORMATION', className)
    current = run(current)
    if (current === null) return null
  }
  return current
}

function enter(at: ConversionStage, stage: Stage, className: string): void {
  at.stage = stage
  at.className = className
}
