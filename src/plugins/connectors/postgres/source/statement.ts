import { type Quote, quotedTable, type TableName } from '../identifier.ts'
import { textFromMicros } from '../time-text.ts'
import type { TimeZone } from '../time-zone.ts'
import type { TableOffset } from './table-offset.ts'

export const MODES = ['bulk', 'timestamp', 'incrementing', 'timestamp+incrementing'] as const

/** A table, or what a query of the user's gives, and the columns by which new rows are found. */
export type TableQuery = {
  readonly from: { readonly table: TableName } | { readonly query: string }
  /** The first that is not null counts; none: by the incrementing column alone, or everything every time. */
  readonly timestampColumns: readonly string[]
  readonly incrementingColumn: string | undefined
  /** Stands behind everything else. */
  readonly suffix: string
}

/** Up to where rows are read: before a time, and up to an id. */
export type UpperBound = { readonly beforeMicros?: number | undefined; readonly upToId?: string | undefined }

export type Statement = { readonly text: string; readonly values: readonly string[] }

/** Everything, without an order. */
export function toSelect({ from }: TableQuery, quote: Quote): string {
  return 'table' in from ? `SELECT * FROM ${quotedTable(from.table, quote)}` : from.query
}

/** The rows behind a place, up to a horizon, in the order in which they can be gone on from. */
export function toStatement(
  origin: TableQuery,
  after: TableOffset,
  horizon: UpperBound,
  quote: Quote,
  zone: TimeZone,
): Statement {
  const values: string[] = []
  const value = (text: string) => `$${values.push(text)}`
  const time = (micros: number) => value(textFromMicros(micros, zone))
  const timestamp = toTimestamp(origin, quote)
  const id = origin.incrementingColumn === undefined ? undefined : quote(origin.incrementingColumn)

  const conditions: string[] = []
  if (timestamp !== undefined) {
    if (horizon.beforeMicros !== undefined) conditions.push(`${timestamp} < ${time(horizon.beforeMicros)}`)
    if (after.micros !== undefined) conditions.push(behind(timestamp, id, after, time, value))
  } else if (id !== undefined) {
    if (after.id !== undefined) conditions.push(`${id} > ${value(String(after.id))}`)
    if (horizon.upToId !== undefined) conditions.push(`${id} <= ${value(horizon.upToId)}`)
  }
  const order = [timestamp, id].filter((column) => column !== undefined)
  const parts = [
    toSelect(origin, quote),
    ...(conditions.length > 0 ? [`WHERE ${conditions.join(' AND ')}`] : []),
    ...(order.length > 0 ? [`ORDER BY ${order.join(', ')}`] : []),
    ...(origin.suffix === '' ? [] : [origin.suffix]),
  ]
  return { text: parts.join(' '), values }
}

/** A comparison of rows, which an index on both columns answers at once. */
function behind(
  timestamp: string,
  id: string | undefined,
  { micros, id: lastId }: TableOffset,
  time: (micros: number) => string,
  value: (text: string) => string,
): string {
  if (id === undefined) return `${timestamp} > ${time(micros!)}`
  if (lastId === undefined) return `${timestamp} >= ${time(micros!)}`
  return `(${timestamp}, ${id}) > (${time(micros!)}, ${value(String(lastId))})`
}

function toTimestamp({ timestampColumns }: TableQuery, quote: Quote): string | undefined {
  if (timestampColumns.length < 2) return timestampColumns.map(quote)[0]
  return `COALESCE(${timestampColumns.map(quote).join(', ')})`
}
