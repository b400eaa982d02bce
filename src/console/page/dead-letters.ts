import { findJsonLines } from './json-lines.ts'

// What `/ui/api/connectors/{name}/dead-letters` of a worker responds with, and what the view decides about it.

export type DeadLetterPayload = {
  readonly form: 'json' | 'text' | 'hex' | 'null'
  readonly text: string
  readonly bytes: number
  readonly isTruncated: boolean
  readonly problem: string | null
}
export type DeadLetterRow = {
  readonly partition: number
  readonly offset: number
  readonly timestampMs: number
  readonly origin: { readonly topic: string | null; readonly partition: string | null; readonly offset: string | null }
  readonly stage: string | null
  readonly className: string | null
  readonly exceptionClass: string | null
  readonly message: string | null
  readonly stackTrace: string | null
  readonly headers: readonly { readonly name: string; readonly value: string | null }[]
  readonly moreHeaders: number
  readonly key: DeadLetterPayload
  readonly value: DeadLetterPayload
  readonly target: string | null
  readonly problem: string | null
  readonly replayed: 'console' | 'command' | null
}
export type DeadLetterListing = {
  readonly topic: string
  readonly exists: boolean
  readonly records: readonly DeadLetterRow[]
  readonly partitions: readonly { readonly partition: number; readonly end: number; readonly olderBefore?: number }[]
  readonly partitionCount: number
  readonly ofOthers: number
  readonly marksProblem: string | null
}
export type PayloadDraft = Readonly<Partial<Record<'key' | 'value', string>>>

export function listingPath(path: string, filters: Readonly<Record<string, string>>): string {
  const names = ['error', 'partition', 'before'] as const
  const query = new URLSearchParams()
  for (const name of names) if (filters[name]) query.set(name, filters[name])
  return `${path}${query.size > 0 ? `?${query}` : ''}`
}

export function rowKey({ partition, offset }: Pick<DeadLetterRow, 'partition' | 'offset'>): string {
  return `${partition}/${offset}`
}

/** `orders, partition 0, offset 7`, as far as it is known. */
export function originText({ origin: { topic, partition, offset } }: DeadLetterRow): string {
  if (topic === null) return 'unknown: its headers do not name its topic'
  const parts = [topic, partition && `partition ${partition}`, offset && `offset ${offset}`]
  return parts.filter(Boolean).join(', ')
}

/** Where a replay sends a record: `topic` is for those that do not name theirs. */
export function replayTarget({ target, origin }: DeadLetterRow, topic: string): string | null {
  return target ?? (origin.topic === null && topic !== '' ? topic : null)
}

/** Where the list continues: older records of the partition that is shown, or of the only one. */
export function olderFilters({ partitions, partitionCount }: DeadLetterListing): Record<string, string> | undefined {
  const [only] = partitions
  if (only?.olderBefore === undefined || (partitions.length > 1 && partitionCount > 1)) return undefined
  return { partition: String(only.partition), before: String(only.olderBefore) }
}

/** The sentences of a confirmation. */
export function replayConsequences(
  rows: readonly DeadLetterRow[],
  topic: string,
  draft: PayloadDraft = {},
): readonly string[] {
  const targets = [...Map.groupBy(rows, (row) => replayTarget(row, topic) ?? '')]
  const corrected = (['key', 'value'] as const).filter((role) => draft[role] !== undefined)
  const before = rows.filter(({ replayed }) => replayed !== null).length
  return [
    ...targets.map(
      ([target, sent]) =>
        `${countOf(sent.length, 'record')} ${sent.length === 1 ? 'is' : 'are'} written to the end of the topic ${target}.`,
    ),
    corrected.length > 0 ? `The ${corrected.join(' and the ')} ${corrected.length > 1 ? 'are' : 'is'} corrected.` : '',
    'The connector reads them again, and so does every other consumer of the topic. The dead-letter topic keeps its records.',
    before > 0
      ? `${countOf(before, 'record')} of these ${before === 1 ? 'was' : 'were'} replayed before: consumers get ${before === 1 ? 'it' : 'them'} twice.`
      : '',
  ].filter((sentence) => sentence !== '')
}

export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** What a person edits. Data is indented; texts and hexadecimal digits are as they are. */
export function editableText({ form, text }: DeadLetterPayload): string {
  return form === 'json' ? indentJson(text) : text
}

/** What has changed, in the form of a request. */
export function correctionOf(row: DeadLetterRow, draft: PayloadDraft) {
  const changed = (['key', 'value'] as const).flatMap((role) => {
    const text = draft[role]
    return text === undefined || text === editableText(row[role])
      ? []
      : [[role, { form: row[role].form, text }] as const]
  })
  return { partition: row.partition, offset: row.offset, ...Object.fromEntries(changed) }
}

/** Why a payload cannot be edited; undefined if it can. */
export function editProblem({ form, text, bytes, isTruncated }: DeadLetterPayload): string | undefined {
  if (form === 'null') return 'there is none.'
  if (form === 'text' && text.includes('\r')) return 'browsers change its line ends, so it can only be sent as it is.'
  return isTruncated ? `it has ${bytes} bytes, so it can only be sent as it is.` : undefined
}

/** The line at which a text that should be JSON is not JSON. */
export function wrongLine({ form }: DeadLetterPayload, text: string): number | undefined {
  return form === 'json' || /^\s*[[{]/.test(text) ? findJsonLines(text).errorLine : undefined
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/** Changes the space between tokens only, so that numbers keep their digits. */
export function indentJson(text: string): string {
  const tokens = text.match(TOKEN) ?? []
  let depth = 0
  const parts = tokens.map((token, at) => {
    if (isEnd(token)) depth -= 1
    const before = isEnd(token) && !isStart(tokens[at - 1]) ? lineAt(depth) : ''
    if (isStart(token)) depth += 1
    return `${before}${token}${spaceAfter(token, tokens[at + 1], depth)}`
  })
  return parts.join('')
}

function spaceAfter(token: string, next: string | undefined, depth: number): string {
  if (token === ':') return ' '
  return token === ',' || (isStart(token) && !isEnd(next)) ? lineAt(depth) : ''
}

const isStart = (token: string | undefined) => token === '{' || token === '['
const isEnd = (token: string | undefined) => token === '}' || token === ']'

function lineAt(depth: number): string {
  return `\n${'  '.repeat(Math.min(depth, 50))}`
}
