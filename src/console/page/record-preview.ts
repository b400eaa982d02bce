import { counted } from '../../common/counted.ts'
import { indentJson } from './dead-letters.ts'
import { cellText, type RecordRow, type RecordText, timeText } from './records.ts'
import type { ConnectorConfig } from './wire.ts'

// What `POST /ui/api/connectors/{name}/preview` of a worker responds with, and what the view decides about it.

export type DataText = {
  readonly text: string
  readonly isTruncated: boolean
  readonly schema: string | null
  readonly problem: string | null
}
export type PluginRecord = {
  readonly topic: string
  readonly timestampMs: number | null
  readonly key: DataText
  readonly value: DataText
  readonly headers: readonly { readonly name: string; readonly value: DataText }[]
}
export type PreviewedRecord = {
  readonly topic: string
  readonly stored: RecordRow
  readonly read: PluginRecord | null
  readonly result: PluginRecord | null
  readonly failure: {
    readonly stage: string
    readonly className: string
    readonly exceptionClass: string | null
    readonly message: string
  } | null
  readonly problem: string | null
}
export type PreviewReport = {
  readonly kind: 'source' | 'sink'
  readonly topics: readonly string[]
  readonly notes: readonly string[]
  readonly records: readonly PreviewedRecord[]
}

export type PreviewOutcome = 'passes' | 'is dropped' | 'fails' | 'is not processed'

export function outcomeOf({ result, failure, problem }: PreviewedRecord): PreviewOutcome {
  if (problem !== null) return 'is not processed'
  if (failure !== null) return 'fails'
  return result === null ? 'is dropped' : 'passes'
}

const PLURALS: Readonly<Record<PreviewOutcome, string>> = {
  passes: 'pass',
  'is dropped': 'are dropped',
  fails: 'fail',
  'is not processed': 'are not processed',
}

/** Such as `10 records of orders: 8 pass, 1 is dropped, 1 fails.` */
export function summaryText({ topics, records }: PreviewReport): string {
  if (records.length === 0) return 'There is no record to show.'
  const counts = (Object.keys(PLURALS) as readonly PreviewOutcome[]).flatMap((outcome) => {
    const count = records.filter((record) => outcomeOf(record) === outcome).length
    return count === 0 ? [] : [`${count} ${count === 1 ? outcome : PLURALS[outcome]}`]
  })
  const of = topics.length === 1 ? topics[0] : counted(topics.length, 'topic')
  return `The last ${records.length === 1 ? 'record' : counted(records.length, 'record')} of ${of}: ${counts.join(', ')}.`
}

/** What happens to a record that fails, as the configuration says. */
export function failureConsequence(config: ConnectorConfig): string {
  if (config['errors.tolerance']?.trim().toLowerCase() !== 'all')
    return 'It would fail the task, because errors.tolerance is none.'
  const topic = config['errors.deadletterqueue.topic.name']
  return topic ? `It would be sent to the dead-letter topic ${topic}.` : 'It would be skipped, and kept nowhere.'
}

/** One part a line, so that two records can be compared. */
export function pluginRecordText({ topic, timestampMs, key, value, headers }: PluginRecord): string {
  return [
    `topic: ${topic}`,
    `timestamp: ${timestampMs === null ? 'none' : timeText(timestampMs)}`,
    `key${dataText(key)}`,
    `value${dataText(value)}`,
    ...headers.map((header) => `header ${header.name}${dataText(header.value)}`),
  ].join('\n')
}

function dataText({ text, isTruncated, schema, problem }: DataText): string {
  const type = schema === null ? '' : ` (${schema})`
  if (problem !== null) return `${type}: cannot be shown: ${problem}`
  return `${type}: ${isTruncated ? `${text}…` : indentJson(text)}`
}

/** As it is stored, for a record that the converters cannot read. */
export function storedText({ key, value, headers }: RecordRow): string {
  const text = (payload: RecordText) =>
    payload.form === 'json' && !payload.isTruncated ? indentJson(payload.text) : cellText(payload)
  return [
    `key: ${text(key)}`,
    `value: ${text(value)}`,
    ...headers.map((header) => `header ${header.name}: ${text(header.value)}`),
  ].join('\n')
}
