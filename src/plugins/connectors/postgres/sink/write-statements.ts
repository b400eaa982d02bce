import type { Quote } from '../../jdbc/identifier.ts'
import type { SinkColumn } from './sink-columns.ts'

/** A column of the target table. */
export type TargetColumn = {
  readonly name: string
  /** The SQL type without length or precision, which the server checks itself. */
  readonly type: string
  /** Whether the values of a statement are an array of this type in binary format, not of text. */
  readonly isBinary?: boolean
}

/** A target table: its quoted name and its columns. */
export type TargetTable = { readonly table: string; readonly columns: readonly TargetColumn[] }

// Values are passed as one array per column: the statement text does not depend on the number of rows. The server
// converts text to the column's type.

export function insertSql({ table, columns }: TargetTable, quote: Quote): string {
  const names = columns.map(({ name }) => quote(name)).join(', ')
  return `INSERT INTO ${table} (${names}) SELECT ${columns.map(cast).join(', ')} FROM ${rows(columns)}`
}

/** The first `keys` columns are the key columns. */
export function upsertSql({ table, columns }: TargetTable, keys: number, quote: Quote): string {
  const key = columns.slice(0, keys).map(({ name }) => quote(name))
  const changed = columns.slice(keys).map(({ name }) => `${quote(name)} = EXCLUDED.${quote(name)}`)
  const action = changed.length === 0 ? 'NOTHING' : `UPDATE SET ${changed.join(', ')}`
  return `${insertSql({ table, columns }, quote)} ON CONFLICT (${key.join(', ')}) DO ${action}`
}

/** There must be other columns than the key columns. */
export function updateSql({ table, columns }: TargetTable, keys: number, quote: Quote): string {
  const changed = columns.slice(keys).map((column, index) => `${quote(column.name)} = ${cast(column, keys + index)}`)
  return `UPDATE ${table} AS t SET ${changed.join(', ')} FROM ${rows(columns)} WHERE ${isRow(columns.slice(0, keys), quote)}`
}

export function deleteSql({ table, columns }: TargetTable, keys: number, quote: Quote): string {
  const key = columns.slice(0, keys)
  return `DELETE FROM ${table} AS t USING ${rows(key)} WHERE ${isRow(key, quote)}`
}

/** Adds a primary key only if there are key columns. */
export function createTableSql(table: string, columns: readonly SinkColumn[], quote: Quote): string {
  const keys = columns.filter(({ isKey }) => isKey).map(({ name }) => quote(name))
  const key = keys.length === 0 ? [] : [`PRIMARY KEY (${keys.join(', ')})`]
  return `CREATE TABLE IF NOT EXISTS ${table} (${[...columns.map((column) => definition(column, quote)), ...key].join(', ')})`
}

export function addColumnsSql(table: string, columns: readonly SinkColumn[], quote: Quote): string {
  const added = columns.map((column) => `ADD COLUMN IF NOT EXISTS ${definition(column, quote)}`)
  return `ALTER TABLE ${table} ${added.join(', ')}`
}

function definition({ name, type, fallback, notNull }: SinkColumn, quote: Quote): string {
  const end = fallback === undefined ? '' : ` DEFAULT ${fallback}`
  return `${quote(name)} ${type}${notNull ? ' NOT NULL' : ''}${end}`
}

function rows(columns: readonly TargetColumn[]): string {
  const arrays = columns.map(({ type, isBinary }, index) => `$${index + 1}::${isBinary ? type : 'text'}[]`)
  return `unnest(${arrays.join(', ')}) AS r (${columns.map((_, index) => `c${index}`).join(', ')})`
}

function cast({ type, isBinary }: TargetColumn, index: number): string {
  return isBinary || type === 'text' ? `r.c${index}` : `r.c${index}::${type}`
}

function isRow(key: readonly TargetColumn[], quote: Quote): string {
  return key.map((column, index) => `t.${quote(column.name)} = ${cast(column, index)}`).join(' AND ')
}
