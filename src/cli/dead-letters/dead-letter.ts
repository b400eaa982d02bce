import type { Header, NewRecord, StoredRecord } from '../../broker/broker.ts'

const PREFIX = '__connect.errors.'

/** A dead letter as its headers tell it; what no header says is undefined. */
export type DeadLetter = {
  readonly partition: number
  readonly record: StoredRecord
  /** By name, without the prefix: `topic`, `stage`, `exception.message`. */
  readonly errors: ReadonlyMap<string, string>
}

export function parseDeadLetter(partition: number, stored: StoredRecord): DeadLetter {
  const own = stored.headers.filter(([name]) => name.startsWith(PREFIX))
  // A letter that was dead before has two of each: the last one counts.
  const told = own.map(([name, value]) => [name.slice(PREFIX.length), String(value ?? '')] as const)
  return { partition, record: stored, errors: new Map(told) }
}

/** The record to be tried again, or why it can't be. `to`: a topic of one's own choice. */
export function toReplayRecord(
  { record: stored, errors: told }: DeadLetter,
  to: string | undefined,
): NewRecord | string {
  const topic = to ?? told.get('topic')
  if (topic === undefined) return 'no header says which topic it is of: name one with --to'
  if (told.get('content') === 'json') return 'it never had the bytes of its topic: its source has to read it again'
  if (told.get('content') === 'none') return 'its value was too large for this topic: its source has to read it again'
  const { key, value, timestampMs } = stored
  const headers: readonly Header[] = stored.headers.filter(([name]) => !name.startsWith(PREFIX))
  return { topic, key, value, headers, timestampMs }
}

const PREVIEW_LENGTH_MAX = 200

/** A few lines for people. */
export function formatDeadLetter({ partition, record: stored, errors: told }: DeadLetter): string {
  const at = [told.get('topic'), told.get('partition'), told.get('offset')].filter((part) => part !== undefined)
  const lines = [
    `${partition}/${stored.offset}  ${new Date(stored.timestampMs).toISOString()}  ${told.get('connector.name') ?? ''}`,
    ...line('of', at.join('/') || undefined),
    ...line('of', told.get('source.offset') && `${told.get('source.partition')} ${told.get('source.offset')}`),
    ...line('stage', told.get('stage') && `${told.get('stage')} ${told.get('class.name') ?? ''}`),
    ...line('error', told.get('exception.message') ?? told.get('exception.class.name')),
    ...line('key', stored.key === null ? undefined : preview(stored.key)),
    ...line('value', stored.value === null ? 'none' : preview(stored.value)),
  ]
  return lines.join('\n').trimEnd()
}

function line(name: string, text: string | undefined): readonly string[] {
  return text ? [`  ${name.padEnd(6)}${text}`] : []
}

/** Text where it is text, else its beginning in hexadecimal. */
function preview(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what tells that it is no text
  const isText = !text.includes('\uFFFD') && !/[\0-\x08\x0e-\x1f]/.test(text)
  const shown = isText ? text.replaceAll('\n', '\\n') : `0x${bytes.subarray(0, PREVIEW_LENGTH_MAX / 2).toString('hex')}`
  return shown.length > PREVIEW_LENGTH_MAX || bytes.length > PREVIEW_LENGTH_MAX
    ? `${shown.slice(0, PREVIEW_LENGTH_MAX)}… (${bytes.length} bytes)`
    : shown
}

/** For programs: everything, bytes as base64. */
export function deadLetterJson({ partition, record: stored, errors: told }: DeadLetter): string {
  const { offset, timestampMs, key, value, headers } = stored
  const own = headers.filter(([name]) => !name.startsWith(PREFIX))
  return JSON.stringify({
    partition,
    offset,
    timestampMs,
    key: key?.toString('base64') ?? null,
    value: value?.toString('base64') ?? null,
    headers: own.map(([name, bytes]) => ({ key: name, value: bytes && Buffer.from(bytes).toString('base64') })),
    errors: Object.fromEntries(told),
  })
}
