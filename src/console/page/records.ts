// What `/ui/api/topics/{topic}/records` of a worker responds with, and what the view decides about it.

export type RecordText = {
  readonly form: 'null' | 'json' | 'text' | 'hex' | 'withheld'
  readonly text: string
  readonly bytes: number
  readonly isTruncated: boolean
  readonly schema: {
    readonly id: number | string
    readonly type: string
    readonly subject?: string
    readonly version?: number
  } | null
  readonly masked: readonly string[]
  readonly problem: string | null
}
export type RecordRow = {
  readonly partition: number
  readonly offset: number
  readonly timestampMs: number
  readonly key: RecordText
  readonly value: RecordText
  readonly headers: readonly { readonly name: string; readonly value: RecordText }[]
  readonly moreHeaders: number
}
export type RecordPage = {
  readonly records: readonly RecordRow[]
  /** `PARTITION:OFFSET,…`, where the next request continues. */
  readonly positions: string
  readonly hasMore: boolean
  readonly partitions: readonly { readonly partition: number; readonly earliest: number; readonly end: number }[]
  readonly partitionCount: number
  readonly scanned: { readonly records: number; readonly bytes: number }
  readonly stoppedBy: 'records' | 'bytes' | 'cpu' | 'time' | 'broker' | null
}

/** What is read: the state of the view in the URL. */
export type RecordQuery = {
  /** `end`, `beginning`, `offset:NUMBER` or `time:MILLISECONDS`. */
  readonly from: string
  readonly partition: string
  readonly search: string
}

/** How many records the page keeps. */
export const RECORDS_MAX = 5_000

export function recordsPath(
  path: string,
  { from, partition, search }: RecordQuery,
  more: Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams({ from })
  for (const [name, value] of Object.entries({ partition, search, ...more })) if (value !== '') query.set(name, value)
  return `${path}/records?${query}`
}

/** The query of a location. A time is that of the browser's time zone. */
export function recordQuery(filters: Readonly<Record<string, string>>): RecordQuery {
  const { from = 'end', at = '', partition = '', search = '' } = filters
  return { from: startOf(from, at), partition: /^\d+$/.test(partition) ? partition : '', search }
}

function startOf(from: string, at: string): string {
  if (from === 'beginning') return from
  if (from === 'offset' && /^\d{1,16}$/.test(at)) return `offset:${at}`
  const ms = from === 'time' ? new Date(at).getTime() : Number.NaN
  return ms >= 0 ? `time:${ms}` : 'end'
}

export function recordKey({ partition, offset }: Pick<RecordRow, 'partition' | 'offset'>): string {
  return `${partition}/${offset}`
}

/** The positions after everything that a page saw, from which new records are read. */
export function endPositions({ partitions }: Pick<RecordPage, 'partitions'>): string {
  return partitions.map(({ partition, end }) => `${partition}:${end}`).join(',')
}

const STOPS: Readonly<Record<NonNullable<RecordPage['stoppedBy']>, string>> = {
  records: 'the number of records that one request may read',
  bytes: 'the bytes that one request may read',
  cpu: 'the CPU time of one request',
  time: 'the time of one request',
  broker: 'no answer of the broker for some seconds',
}

/** Why a request has ended before it had found enough; empty if it had. */
export function stopText({ stoppedBy }: Pick<RecordPage, 'stoppedBy'>): string {
  return stoppedBy === null ? '' : `It ended at a limit: ${STOPS[stoppedBy]}.`
}

/** What a cell shows of a payload. */
export function cellText({ form, text, masked }: RecordText): string {
  if (form === 'null') return 'null'
  if (form === 'withheld') return masked.length > 0 ? 'masked' : 'withheld'
  return form === 'hex' ? `0x${text.slice(0, 200)}` : text.slice(0, 300)
}

/** A record as one line of JSON. JSON of payloads is inserted as it is, so that numbers keep their digits. */
export function recordJson({ partition, offset, timestampMs, key, value, headers }: RecordRow): string {
  const members = [
    `"partition":${partition}`,
    `"offset":${offset}`,
    `"timestamp":${JSON.stringify(timeText(timestampMs))}`,
    `"key":${payloadJson(key)}`,
    `"value":${payloadJson(value)}`,
    `"headers":[${headers.map((header) => `{"name":${JSON.stringify(header.name)},"value":${payloadJson(header.value)}}`).join(',')}]`,
  ]
  return `{${members.join(',')}}`
}

function payloadJson({ form, text, isTruncated, problem }: RecordText): string {
  if (form === 'null') return 'null'
  if (form === 'withheld') return JSON.stringify({ withheld: problem ?? '' })
  if (isTruncated) return JSON.stringify({ beginning: text })
  if (form === 'hex') return JSON.stringify({ hex: text })
  return form === 'json' ? text : JSON.stringify(text)
}

/** A record can have any number as its timestamp. */
export function timeText(timestampMs: number): string {
  const date = new Date(timestampMs)
  return Number.isNaN(date.getTime()) ? String(timestampMs) : date.toISOString()
}

/** Without records that are shown already, and not more than the page keeps: those that were read first go. */
export function withNewer(shown: readonly RecordRow[], newer: readonly RecordRow[]): readonly RecordRow[] {
  const known = new Set(shown.map(recordKey))
  return [...newer.filter((row) => !known.has(recordKey(row))).toReversed(), ...shown].slice(0, RECORDS_MAX)
}
