import { quotedTable } from '../../../jdbc/identifier.ts'
import { mysqlQuoted } from '../../sql-literal.ts'
import type { HistoryColumn, HistoryTable } from '../table-model.ts'
import { baseTypeOf } from '../values/mysql-representations.ts'

/**
 * The server prints a `float` with six digits, but a `double` with all of them. The log has numbers without the zeros of ZEROFILL: a row
 * must have the same key in both.
 */
export function selectedColumn(column: HistoryColumn): string {
  const name = mysqlQuoted(column.name)
  if (/\bZEROFILL\b/.test(column.typeName)) return `(${name} + 0)`
  return /^FLOAT4?$/.test(baseTypeOf(column)) ? `(${name} + 0e0)` : name
}

/** Selects from the table or from an overriding statement. */
export function selectStatement(table: HistoryTable, overriding: string | undefined): string {
  const from = overriding === undefined ? quotedTable(table, mysqlQuoted) : `(${overriding}\n) AS overriding`
  return `SELECT ${table.columns.map(selectedColumn).join(', ')} FROM ${from}`
}
