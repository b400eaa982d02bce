import { type Quote, quotedTable, type TableName } from '../identifier.ts'
import type { TableOffset } from './table-offset.ts'

export const MODES = ['bulk', 'timestamp', 'incrementing', 'timestamp+incrementing'] as const

/** A table or a user's query, with the columns that identify new rows. */
export type TableQuery = {
  readonly from: { readonly table: TableName } | { readonly query: string }
  /** The timestamp of a row is the first of these that is not null. Empty in the modes `incrementing` and `bulk`. */
  readonly timestampColumns: readonly string[]
  readonly incrementingColumn: string | undefined
  /** SQL to append to the statement. */
  readonly suffix: string
}

/** Upper bound of the rows to read: a timestamp (exclusive), an id (inclusive), or both. */
export type UpperBound = { readonly beforeMicros?: number | undefined; readonly upToId?: string | undefined }

export type SelectStatement = { readonly text: string; readonly values: readonly string[] }

/** Returns the SQL of values, as literals or parameters, in the order in which they occur in the statement. */
export type SqlValues = {
  readonly time: (micros: number) => string
  readonly id: (id: string) => string
  /** Returns the condition that a row follows a timestamp and an id. */
  readonly isAfterPair: (timestamp: string, id: string, micros: number, lastId: string) => string
}

/** Selects all rows, without an order. */
export function selectAllSql({ from }: TableQuery, quote: Quote): string {
  return 'table' in from ? `SELECT * FROM ${quotedTable(from.table, quote)}` : from.query
}

/** Selects the rows after an offset, up to an upper bound, in the order of their offsets. */
export function selectAfterSql(
  tableQuery: TableQuery,
  offset: TableOffset,
  upperBound: UpperBound,
  quote: Quote,
  values: SqlValues,
): string {
  const timestamp = toTimestamp(tableQuery, quote)
  const id = tableQuery.incrementingColumn === undefined ? undefined : quote(tableQuery.incrementingColumn)

  const conditions: string[] = []
  if (timestamp !== undefined) {
    if (upperBound.beforeMicros !== undefined) conditions.push(`${timestamp} < ${values.time(upperBound.beforeMicros)}`)
    if (offset.micros !== undefined) conditions.push(isAfter(timestamp, id, offset, values))
  } else if (id !== undefined) {
    if (offset.id !== undefined) conditions.push(`${id} > ${values.id(String(offset.id))}`)
    if (upperBound.upToId !== undefined) conditions.push(`${id} <= ${values.id(upperBound.upToId)}`)
  }
  const order = [timestamp, id].filter((column) => column !== undefined)
  const parts = [
    selectAllSql(tableQuery, quote),
    ...(conditions.length > 0 ? [`WHERE ${conditions.join(' AND ')}`] : []),
    ...(order.length > 0 ? [`ORDER BY ${order.join(', ')}`] : []),
    ...(tableQuery.suffix === '' ? [] : [tableQuery.suffix]),
  ]
  return parts.join(' ')
}

/** The number of rows behind which a suffix such as `LIMIT 100` cuts off others, also with the same timestamp; infinite without one. */
export function rowLimit(suffix: string): number {
  const [, digits] = /\b(?:LIMIT\s+(?:\d+\s*,\s*)?|FETCH\s+(?:FIRST|NEXT)\s+)(\d+)/i.exec(suffix) ?? []
  return digits === undefined || /\bWITH\s+TIES\b/i.test(suffix) ? Number.POSITIVE_INFINITY : Number(digits)
}

function isAfter(
  timestamp: string,
  id: string | undefined,
  { micros, id: lastId }: TableOffset,
  values: SqlValues,
): string {
  if (id === undefined) return `${timestamp} > ${values.time(micros!)}`
  if (lastId === undefined) return `${timestamp} >= ${values.time(micros!)}`
  return values.isAfterPair(timestamp, id, micros!, String(lastId))
}

function toTimestamp({ timestampColumns }: TableQuery, quote: Quote): string | undefined {
  if (timestampColumns.length < 2) return timestampColumns.map(quote)[0]
  return `COALESCE(${timestampColumns.map(quote).join(', ')})`
}
