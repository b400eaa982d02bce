import type { Header, NewRecord, StoredRecord } from '../../broker/broker.ts'

const PREFIX = '__connect.errors.'

/** A record of a dead-letter topic, with the error that Connect's headers describe. */
export type DeadLetterRecord = {
  readonly partition: number
  readonly record: StoredRecord
  /** By header name without the prefix: `topic`, `stage`, `exception.message`. */
  readonly errors: ReadonlyMap<string, string>
}

export function parseDeadLetter(partition: number, record: StoredRecord): DeadLetterRecord {
  const headers = record.headers.filter(([name]) => name.startsWith(PREFIX))
  // A record that failed twice has each header twice: the later one describes the later failure.
  const errors = headers.map(([name, value]) => [name.slice(PREFIX.length), String(value ?? '')] as const)
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
  const headers: readonly Header[] = record.headers.filter(([name]) => !name.startsWith(PREFIX))
  return { topic, key, value, headers, timestampMs }
}

const PREVIEW_LENGTH_MAX = 200

/** Several lines for people to read. */
export function formatDeadLetter({ partition, record, errors }: DeadLetterRecord): string {
  const origin = [errors.get('topic'), errors.get('partition'), errors.get('offset')].filter(
    (part) => part !== undefined,
  )
  const lines = [
    `${partition}/${record.offset}  ${new Date(record.timestampMs).toISOString()}  ${errors.get('connector.name') ?? ''}`,
    ...line('from', origin.join('/') || undefined),
    ...line('from', errors.get('source.offset') && `${errors.get('source.partition')} ${errors.get('source.offset')}`),
    ...line('stage', errors.get('stage') && `${errors.get('stage')} ${errors.get('class.name') ?? ''}`),
    ...line('error', errors.get('exception.message') ?? errors.get('exception.class.name')),
    ...line('key', record.key === null ? undefined : preview(record.key)),
    ...line('value', record.value === null ? 'none' : preview(record.value)),
  ]
  return lines.join('\n').trimEnd()
}

function line(name: string, text: string | undefined): readonly string[] {
  return text ? [`  ${name.padEnd(6)}${text}`] : []
}

/** The beginning of the bytes: as text if they are UTF-8 without control characters, else in hexadecimal. */
function preview(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what the check is for
  const isText = !text.includes('\uFFFD') && !/[\0-\x08\x0e-\x1f]/.test(text)
  const shown = isText ? text.replaceAll('\n', '\\n') : `0x${bytes.subarray(0, PREVIEW_LENGTH_MAX / 2).toString('hex')}`
  return shown.length > PREVIEW_LENGTH_MAX || bytes.length > PREVIEW_LENGTH_MAX
    ? `${shown.slice(0, PREVIEW_LENGTH_MAX)}… (${bytes.length} bytes)`
    : shown
}

/** One line of JSON with all fields; keys, values and headers are in base64. */
export function deadLetterJson({ partition, record, errors }: DeadLetterRecord): string {
  const { offset, timestampMs, key, value, headers } = record
  const original = headers.filter(([name]) => !name.startsWith(PREFIX))
  return JSON.stringify({
    partition,
    offset,
    timestampMs,
    key: key?.toString('base64') ?? null,
    value: value?.toString('base64') ?? null,
    headers: original.map(([name, bytes]) => ({ key: name, value: bytes && Buffer.from(bytes).toString('base64') })),
    errors: Object.fromEntries(errors),
  })
}
