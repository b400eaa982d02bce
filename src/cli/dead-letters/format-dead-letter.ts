import { type DeadLetterRecord, ownHeaders } from '../../dead-letters/dead-letter.ts'
import { textOfBytes } from '../../records/payload-text.ts'

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
  const text = textOfBytes(bytes)
  const shown = text?.replaceAll('\n', '\\n') ?? `0x${bytes.subarray(0, PREVIEW_LENGTH_MAX / 2).toString('hex')}`
  return shown.length > PREVIEW_LENGTH_MAX || bytes.length > PREVIEW_LENGTH_MAX
    ? `${shown.slice(0, PREVIEW_LENGTH_MAX)}… (${bytes.length} bytes)`
    : shown
}

/** One line of JSON with all fields; keys, values and headers are in base64. */
export function deadLetterJson({ partition, record, errors }: DeadLetterRecord): string {
  const { offset, timestampMs, key, value, headers } = record
  return JSON.stringify({
    partition,
    offset,
    timestampMs,
    key: key?.toString('base64') ?? null,
    value: value?.toString('base64') ?? null,
    headers: ownHeaders({ headers }).map(([name, bytes]) => ({
      key: name,
      value: bytes && Buffer.from(bytes).toString('base64'),
    })),
    errors: Object.fromEntries(errors),
  })
}
