import { counted } from '../../common/counted.ts'

/** What `GET /connectors/{name}/offsets` returns. */
export type OffsetListing = { readonly offsets: readonly OffsetEntry[] }
export type OffsetEntry = { readonly partition: OffsetMap | null; readonly offset: OffsetMap | null }
type OffsetMap = Readonly<Record<string, unknown>>

/** One partition of a connector with its offset as text: a number for a topic, JSON for a source. */
export type OffsetRow = {
  readonly key: string
  readonly title: string
  readonly partition: OffsetMap | null
  readonly offset: OffsetMap | null
  readonly text: string
  readonly isTopic: boolean
}

/** What altering does to one partition. A null offset deletes what is stored. */
export type OffsetChange = {
  readonly title: string
  readonly partition: OffsetMap | null
  readonly offset: OffsetMap | null
  readonly from: string
  readonly to: string
  /** In records, or by the members of the offset that are numbers. */
  readonly effect: string
}
export type OffsetPreview = {
  readonly changes: readonly OffsetChange[]
  /** Why an edit cannot be applied, by the key of its row. */
  readonly errors: Readonly<Record<string, string>>
}

/** Committed offsets, then the partitions that somebody has named and that have none yet. */
export function offsetRows({ offsets }: OffsetListing, named: readonly OffsetRow[] = []): readonly OffsetRow[] {
  const collator = new Intl.Collator('en', { numeric: true })
  const rows = offsets.map(rowOf).toSorted((a, b) => collator.compare(a.title, b.title))
  const keys = new Set(rows.map(({ key }) => key))
  return [...rows, ...named.filter(({ key }) => !keys.has(key))]
}

function rowOf({ partition, offset }: OffsetEntry): OffsetRow {
  const { kafka_topic: topic, kafka_partition: number } = partition ?? {}
  const isTopic = typeof topic === 'string' && number !== undefined
  const title = isTopic ? `${topic}, partition ${number}` : JSON.stringify(partition)
  return {
    key: title,
    title,
    partition,
    offset,
    isTopic,
    text: isTopic ? String(offset?.['kafka_offset'] ?? '') : offset === null ? '' : JSON.stringify(offset),
  }
}

/** What somebody has typed to name a partition without an offset: of a topic, or of a source, as JSON. */
export type NamedPartition = { readonly topic: string; readonly partition: string } | { readonly source: string }

/** The row of a partition without an offset. A text says why there is none. */
export function partitionRow(named: NamedPartition): OffsetRow | string {
  if ('source' in named) {
    const partition = parseObject(named.source, 'partition')
    return typeof partition === 'string' ? partition : rowOf({ partition, offset: null })
  }
  if (!/^\d{1,9}$/.test(named.partition.trim())) return 'A partition is a whole number that is not negative.'
  const partition = { kafka_topic: named.topic.trim(), kafka_partition: Number(named.partition) }
  return rowOf({ partition, offset: null })
}

/** Edits are texts by the keys of rows; an empty one deletes the offset. Those that change nothing are left out. */
export function previewOffsets(rows: readonly OffsetRow[], edits: Readonly<Record<string, string>>): OffsetPreview {
  const changes: OffsetChange[] = []
  const errors: Record<string, string> = {}
  for (const row of rows) {
    const edit = edits[row.key]?.trim() ?? row.text
    const change = edit === row.text ? undefined : changeOf(row, edit)
    if (typeof change === 'string') errors[row.key] = change
    else if (change !== undefined && change.to !== row.text) changes.push(change)
  }
  return { changes, errors }
}

/** A text says why the edit cannot be applied. */
function changeOf(row: OffsetRow, edit: string): OffsetChange | string {
  const { title, partition, text, isTopic } = row
  const offset = edit === '' ? null : isTopic ? parsePosition(edit) : parseObject(edit, 'offset')
  if (typeof offset === 'string') return offset
  const to = offset === null ? 'deleted' : isTopic ? String(offset['kafka_offset']) : JSON.stringify(offset)
  return { title, partition, offset, from: text || 'none', to, effect: effectOf(row, offset) }
}

/** What a reset does: every offset is deleted. */
export function previewReset(rows: readonly OffsetRow[]): OffsetPreview {
  return previewOffsets(rows, Object.fromEntries(rows.map(({ key }) => [key, ''])))
}

function parsePosition(text: string): OffsetMap | string {
  if (!/^\d+$/.test(text)) return 'An offset of a topic is a whole number that is not negative.'
  return Number.isSafeInteger(Number(text)) ? { kafka_offset: Number(text) } : 'The number is too large.'
}

function parseObject(text: string, what: 'partition' | 'offset'): OffsetMap | string {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return `The ${what} is not JSON.`
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    return `The ${what} must be a JSON object.`
  // Browsers round them: writing back would change what the connector stored.
  if (hasUnsafeNumber(parsed)) return `The ${what} has a number that a browser cannot write exactly: use the REST API.`
  return parsed as OffsetMap
}

function hasUnsafeNumber(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value)
  return typeof value === 'object' && value !== null && Object.values(value).some(hasUnsafeNumber)
}

function effectOf({ isTopic, offset: before }: OffsetRow, after: OffsetMap | null): string {
  if (after === null) {
    return isTopic
      ? 'starts where auto.offset.reset says, which is the beginning unless it is overridden'
      : 'starts as the connector does without an offset'
  }
  if (isTopic) {
    const [from, to] = [before?.['kafka_offset'], after['kafka_offset']]
    if (typeof from !== 'number' || typeof to !== 'number') return 'starts here'
    const count = Math.abs(to - from)
    return `${counted(count, 'record')} ${count === 1 ? 'is' : 'are'} ${to > from ? 'skipped' : 'read again'}`
  }
  const differences = Object.entries(after).flatMap(([key, to]) => {
    const from = before?.[key]
    if (typeof from !== 'number' || typeof to !== 'number' || from === to) return []
    return [`${key} ${to > from ? `forward by ${to - from}: skipped` : `back by ${from - to}: read again`}`]
  })
  return differences.length > 0 ? differences.join('; ') : 'the connector continues from here'
}
