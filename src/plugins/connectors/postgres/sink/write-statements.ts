import type { Quote } from '../../jdbc/identifier.ts'
import type { SinkColumn } from '../../jdbc/sink/sink-column.ts'
import type { TargetColumn } from '../../jdbc/sink/sink-database.ts'
import { columnDefinition } from '../../jdbc/sink/table-definition.ts'

/** A column of the target table, with the format of its values. */
type WrittenColumn = TargetColumn & {
  /** Whether the values of a statement are an array of this type in binary format, not of text. */
  readonly isBinary?: boolean
}
export type WrittenTable = { readonly table: string; readonly columns: readonly WrittenColumn[] }

// Values are passed as one array per column: the statement text does not depend on the number of rows. The server
// converts text to the column's type.

export function insertSql({ table, columns }: WrittenTable, quote: Quote): string {
  const names = columns.map(({ name }) => quote(name)).join(', ')
  return `INSERT INTO ${table} (${names}) SELECT ${columns.map(cast).join(', ')} FROM ${rows(columns)}`
}

/** The first `keys` columns are the key columns. */
export function upsertSql({ table, columns }: WrittenTable, keys: number, quote: Quote): string {
  const key = columns.slice(0, keys).map(({ name }) => quote(name))
  const changed = columns.slice(keys).map(({ name }) => `${quote(name)} = EXCLUDED.${quote(name)}`)
  const action = changed.length === 0 ? 'NOTHING' : `UPDATE SET ${changed.join(', ')}`
  return `${insertSql({ table, columns }, quote)} ON CONFLICT (${key.join(', ')}) DO ${action}`
}

/** There must be other columns than the key columns. */
export function updateSql({ table, columns }: WrittenTable, keys: number, quote: Quote): string {
  const changed = columns.slice(keys).map((column, index) => `${quote(column.name)} = ${cast(column, keys + index)}`)
  return `UPDATE ${table} AS t SET ${changed.join(', ')} FROM ${rows(columns)} WHERE ${isRow(columns.slice(0, keys), quote)}`
}

export function deleteSql({ table, columns }: WrittenTable, keys: number, quote: Quote): string {
  const key = columns.slice(0, keys)
  return `DELETE FROM ${table} AS t USING ${rows(key)} WHERE ${isRow(key, quote)}`
}

export function addColumnsSql(table: string, columns: readonly SinkColumn<unknown>[], quote: Quote): string {
  const added = columns.map((column) => `ADD COLUMN IF NOT EXISTS ${columnDefinition(column, quote)}`)
  return `ALTER TABLE ${table} ${added.join(', ')}`
}

function rows(columns: readonly WrittenColumn[]): string {
  const arrays = columns.map(({ type, isBinary }, index) => `$${index + 1}::${isBinary ? type : 'text'}[]`)
  return `unnest(${arrays.join(', ')}) AS r (${columns.map((_, index) => `c${index}`).join(', ')})`
}

function cast({ type, isBinary }: WrittenColumn, index: number): string {
  return isBinary || type === 'text' ? `r.c${index}` : `r.c${index}::${type}`
}

function isRow(key: readonly WrittenColumn[], quote: Quote): string {
  return key.map((column, index) => `t.${quote(column.name)} = ${cast(column, index)}`).join(' AND ')
}
