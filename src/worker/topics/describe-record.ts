import type { StoredRecord } from '../../broker/broker.ts'
import { truncateText } from '../../common/truncate-text.ts'
import { type DecodedPayload, type DecodedRecord, payloadText } from '../../records/record-decoder.ts'

/** A key, a value or a header as the console shows it. */
export type RecordPayload = {
  readonly form: DecodedPayload['form']
  readonly text: string
  /** Size of the stored bytes. */
  readonly bytes: number
  /** Whether `text` is cut off. */
  readonly isTruncated: boolean
  /** The schema with which it was written; subject and version are added if they are known. */
  readonly schema: (NonNullable<DecodedPayload['schema']> & { subject?: string; version?: number }) | null
  /** Full names of the fields whose values are not contained. */
  readonly masked: readonly string[]
  readonly problem: string | null
}

export type RecordView = {
  readonly partition: number
  readonly offset: number
  readonly timestampMs: number
  readonly key: RecordPayload
  readonly value: RecordPayload
  readonly headers: readonly { readonly name: string; readonly value: RecordPayload }[]
  /** Number of headers that are not contained. */
  readonly moreHeaders: number
}

const HEADERS_MAX = 50
const HEADER_NAME_LENGTH_MAX = 300
const HEADER_LENGTH_MAX = 2_000
const MASKED_NAMES_MAX = 50
const PROBLEM_LENGTH_MAX = 500

/** `textMax` is the maximum length of a key or a value in characters. */
export function describeRecord(
  partition: number,
  record: StoredRecord,
  { key, value, headers }: DecodedRecord,
  textMax: number,
): RecordView {
  return {
    partition,
    offset: record.offset,
    timestampMs: record.timestampMs,
    key: payloadOf(key, record.key, textMax),
    value: payloadOf(value, record.value, textMax),
    headers: headers.slice(0, HEADERS_MAX).map(([name, decoded], at) => ({
      name: truncateText(name, HEADER_NAME_LENGTH_MAX),
      value: payloadOf(decoded, record.headers[at]?.[1] ?? null, Math.min(textMax, HEADER_LENGTH_MAX)),
    })),
    moreHeaders: Math.max(0, headers.length - HEADERS_MAX),
  }
}

/** Whether a text is contained in what is shown of a record, independent of the case. `search` is in lower case. */
export function containsText({ key, value, headers }: DecodedRecord, search: string): boolean {
  const contains = (text: string) => text.toLowerCase().includes(search)
  return (
    [key, value].some((payload) => contains(textOf(payload))) ||
    headers.some(([name, payload]) => contains(name) || contains(textOf(payload)))
  )
}

/** Memory that a view needs, in characters. */
export function sizeOfView({ key, value, headers }: RecordView): number {
  const ofHeaders = headers.reduce((sum, header) => sum + header.name.length + header.value.text.length + 200, 0)
  return key.text.length + value.text.length + ofHeaders + 600
}

function payloadOf(decoded: DecodedPayload, bytes: Uint8Array | null, textMax: number): RecordPayload {
  const text = textOf(decoded)
  const { form, schema = null, masked = [], problem } = decoded
  return {
    form,
    text: truncateText(text, textMax, ''),
    bytes: bytes?.length ?? 0,
    isTruncated: text.length > textMax || isBeginning(decoded, bytes),
    schema: schema && { ...schema },
    masked: masked.slice(0, MASKED_NAMES_MAX),
    problem: problem === undefined ? null : truncateText(problem, PROBLEM_LENGTH_MAX),
  }
}

/** Hexadecimal digits without the `0x` that a line of a terminal needs; nothing for what is null or withheld. */
function textOf(decoded: DecodedPayload): string {
  if (decoded.form === 'hex') return String(decoded.value)
  if (decoded.form === 'null' || decoded.form === 'withheld') return ''
  try {
    return payloadText(decoded)
  } catch {
    // Nested too deeply to be printed.
    return ''
  }
}

function isBeginning({ form, value }: DecodedPayload, bytes: Uint8Array | null): boolean {
  if (bytes === null || typeof value !== 'string') return false
  return form === 'hex' ? value.length < bytes.length * 2 : form === 'text' && Buffer.byteLength(value) < bytes.length
}
