import { printExactJson } from '../../common/exact-json.ts'
import { plainJson } from '../../java-compat/json/connect-json-writer.ts'
import type { SourceRecord } from '../../sdk/index.ts'
import { type DeadLetter, errorHeader } from './dead-letter-queue.ts'
import type { RecordFailure } from './error-policy.ts'
import type { FailedSourceRecord } from './process-source-records.ts'

/** The failure of a source record, as passed to the error policy. */
export function toRecordFailure({ record, stage, className, error }: FailedSourceRecord): RecordFailure {
  const { topic, sourcePartition, sourceOffset } = record
  return {
    stage,
    className,
    error,
    position: { topic, sourcePartition, sourceOffset },
    content: () => contentOf(record),
  }
}

/**
 * The dead letter of a source record: the converted bytes, or key and value as JSON if conversion failed. The header
 * `content` says which: `bytes`, `json`, or `none` when the value was dropped because the dead-letter topic rejected it
 * as too large.
 */
export function toDeadLetter({ record, converted, stage, className, error }: FailedSourceRecord): DeadLetter {
  const { topic, sourcePartition, sourceOffset, timestampMs } = record
  const content = converted === undefined ? 'json' : 'bytes'
  const [key, value] =
    converted === undefined ? [asJson(record.key), asJson(record.value)] : [converted.key, converted.value]
  return {
    record: {
      key,
      value,
      headers: [...(converted?.headers ?? []), errorHeader('content', content)],
      ...(typeof timestampMs === 'number' && { timestampMs }),
    },
    position: [
      ['topic', topic],
      ['source.partition', printExactJson(sourcePartition)],
      ['source.offset', printExactJson(sourceOffset)],
    ],
    stage,
    className,
    error,
  }
}

/** Null for a value that cannot be represented as JSON: the dead letter then has only headers. */
function asJson(value: unknown): Buffer | null {
  if (value === null || value === undefined) return null
  try {
    return Buffer.from(plainJson(value))
  } catch {
    return null
  }
}

function contentOf({ key, keySchema, value, valueSchema, headers, timestampMs, partition }: SourceRecord): object {
  return {
    key: asJson(key)?.toString(),
    keySchema,
    value: asJson(value)?.toString(),
    valueSchema,
    headers: headers?.map((header) => ({ key: header.key, value: asJson(header.value)?.toString() })),
    timestampMs,
    partition,
  }
}
