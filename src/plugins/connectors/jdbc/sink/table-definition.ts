import type { Quote } from '../identifier.ts'
import type { SinkColumn } from './sink-column.ts'

/** Adds a primary key only if there are key columns. */
export function createTableSql(table: string, columns: readonly SinkColumn<unknown>[], quote: Quote): string {
  const keys = columns.filter(({ isKey }) => isKey).map(({ name }) => quote(name))
  const key = keys.length === 0 ? [] : [`PRIMARY KEY (${keys.join(', ')})`]
  return `CREATE TABLE IF NOT EXISTS ${table} (${[...columns.map((column) => columnDefinition(column, quote)), ...key].join(', ')})`
}

export function columnDefinition({ name, type, fallback, notNull }: SinkColumn<unknown>, quote: Quote): string {
  const end = fallback === undefined ? '' : ` DEFAULT ${fallback}`
  return `${quote(name)} ${type}${notNull ? ' NOT NULL' : ''}${end}`
}
