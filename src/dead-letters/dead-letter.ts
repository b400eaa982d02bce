import type { Header, NewRecord, StoredRecord } from '../broker/broker.ts'

/** The names of headers that describe an error begin with this. */
export const ERROR_HEADER_PREFIX = '__connect.errors.'

/** A record of a dead-letter topic, with the error that Connect's headers describe. */
export type DeadLetterRecord = {
  readonly partition: number
  readonly record: StoredRecord
  /** By header name without the prefix: `topic`, `stage`, `exception.message`. */
  readonly errors: ReadonlyMap<string, string>
}

export function parseDeadLetter(partition: number, record: StoredRecord): DeadLetterRecord {
  const headers = record.headers.filter(([name]) => name.startsWith(ERROR_HEADER_PREFIX))
  // A record that failed twice has each header twice: the later one describes the later failure.
  const errors = headers.map(
    ([name, value]) => [name.slice(ERROR_HEADER_PREFIX.length), Buffer.from(value ?? []).toString()] as const,
  )
  return { partition, record, errors: new Map(errors) }
}

/** The original record, to be produced again, or the reason why it cannot be. `targetTopic` overrides the original topic. */
export function toReplayRecord(
  { record, errors }: DeadLetterRecord,
  targetTopic: string | undefined,
): NewRecord | string {
  const topic = targetTopic ?? errors.get('topic')
  if (topic === undefined) return 'no header names its topic: give one with --to'
  if (errors.get('content') === 'json') return 'it was never serialized for its topic: the source must read it again'
  if (errors.get('content') === 'none') return 'its value was too large for this topic: the source must read it again'
  const { key, value, timestampMs } = record
  const headers = ownHeaders(record)
  return { topic, key, value, headers, timestampMs }
}

/** The headers of the original record, without those that describe its error. */
export function ownHeaders({ headers }: Pick<StoredRecord, 'headers'>): readonly Header[] {
  return headers.filter(([name]) => !name.startsWith(ERROR_HEADER_PREFIX))
}
