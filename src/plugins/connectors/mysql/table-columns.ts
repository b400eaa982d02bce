import { DatabaseError } from '../jdbc/database-error.ts'
import { quotedTable, type TableName } from '../jdbc/identifier.ts'
import type { MysqlSession } from './session.ts'
import { mysqlQuoted } from './sql-literal.ts'

/** A column of a table, from the catalog. */
export type MysqlTableColumn = {
  readonly name: string
  /** Name of the type without length, precision and attributes, in lower case. */
  readonly type: string
  readonly notNull: boolean
  readonly isAutoIncrement: boolean
}

/** `ER_NO_SUCH_TABLE`. */
const NO_SUCH_TABLE = 1146

/** Returns the columns of a table; none if it does not exist. `operation` completes "could not …" in error messages. */
export async function readTableColumns(
  session: MysqlSession,
  operation: string,
  table: TableName,
): Promise<readonly MysqlTableColumn[]> {
  try {
    const rows = await session.query(operation, `SHOW COLUMNS FROM ${quotedTable(table, mysqlQuoted)}`)
    return rows.map(([name, type, nullable, _key, _default, extra]) => ({
      name: name!,
      type: /^[a-z\d]+/.exec(type!.toLowerCase())?.[0] ?? '',
      notNull: nullable === 'NO',
      isAutoIncrement: /\bauto_increment\b/i.test(extra ?? ''),
    }))
  } catch (error) {
    if (error instanceof DatabaseError && error.errno === NO_SUCH_TABLE) return []
    throw error
  }
}
