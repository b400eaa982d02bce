import { DataError, type TaskLog } from '../../../../sdk/index.ts'
import { DatabaseError } from '../../jdbc/database-error.ts'
import { parseTableName, plainTable, type Quote, quotedTable, type TableName } from '../../jdbc/identifier.ts'
import type { Session } from '../session.ts'
import { executeConcurrentDdl } from './concurrent-ddl.ts'
import type { SinkColumn } from './sink-columns.ts'
import { addColumnsSql, createTableSql, type TargetColumn, type TargetTable } from './write-statements.ts'

/**
 * The type is selected without length or precision, so that the server rejects values that do not fit instead of
 * truncating them.
 */
const COLUMNS_SQL = `
  SELECT a.attname, format_type(a.atttypid, -1) FROM pg_attribute a
  WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`

export type TargetTablesOptions = {
  readonly autoCreate: boolean
  readonly autoEvolve: boolean
  readonly quote: Quote
  readonly log: TaskLog
}

/** Caches the columns of target tables. Creates and alters tables where the configuration permits it. */
export class TargetTables {
  readonly #options: TargetTablesOptions
  readonly #known = new Map<string, readonly TargetColumn[]>()

  constructor(options: TargetTablesOptions) {
    this.#options = options
  }

  /** Clears the cache. Called after a failure, because tables may have changed. */
  forget(): void {
    this.#known.clear()
  }

  /**
   * Returns the table with the columns that match `columns`, in their order. Throws a `DatabaseError` if the table does
   * not exist and may not be created, and a `DataError` if columns are missing and may not be added. `beforeDdl` is
   * called before the table is created or altered, and may throw.
   */
  async target(
    session: Session,
    name: string,
    columns: readonly SinkColumn[],
    beforeDdl: () => void,
  ): Promise<TargetTable> {
    const { autoCreate, quote } = this.#options
    const parsed = parseTableName(name)
    const table = quotedTable(parsed, quote)
    let known = this.#known.get(name) ?? (await readColumns(session, parsed, quote))
    if (known.length === 0) {
      if (!autoCreate) throw missingTable(parsed)
      beforeDdl()
      await this.#change(session, parsed, createTableSql(table, columns, quote))
      known = await readColumns(session, parsed, quote)
    }
    const missing = columns.filter((column) => findColumn(known, column.name) === undefined)
    if (missing.length > 0) {
      this.#refuseMissing(parsed, missing)
      beforeDdl()
      await this.#change(session, parsed, addColumnsSql(table, missing, quote))
      known = await readColumns(session, parsed, quote)
    }
    this.#known.set(name, known)
    return { table, columns: columns.map((column) => requireColumn(known, column.name, parsed)) }
  }

  async #change(session: Session, table: TableName, sql: string): Promise<void> {
    this.#options.log.info({ table: plainTable(table), sql }, 'the table is created or altered for the records')
    await executeConcurrentDdl(session, `create or alter the table ${plainTable(table)}`, sql)
  }

  #refuseMissing(table: TableName, missing: readonly SinkColumn[]): void {
    const names = missing.map(({ name }) => name).join(', ')
    if (!this.#options.autoEvolve) {
      throw new DataError(`the table ${plainTable(table)} has no column ${names}: add it, or set auto.evolve=true`)
    }
    const required = missing.filter(({ notNull, fallback }) => notNull && fallback === undefined)
    if (required.length === 0) return
    throw new DataError(
      `the table ${plainTable(table)} has no column ${required.map(({ name }) => name).join(', ')}, and it cannot be added: the ` +
        'field is required and has no default, so the existing rows would have no value for it',
    )
  }
}

async function readColumns(session: Session, table: TableName, quote: Quote): Promise<readonly TargetColumn[]> {
  const rows = await session.query(`read the columns of the table ${plainTable(table)}`, COLUMNS_SQL, [
    quotedTable(table, quote),
  ])
  return rows.map(([name, type]) => ({ name: name!, type: type! }))
}

/** Matches names exactly or, if only one column matches, regardless of case. */
function findColumn(columns: readonly TargetColumn[], name: string): TargetColumn | undefined {
  const exact = columns.find((column) => column.name === name)
  if (exact !== undefined) return exact
  const similar = columns.filter((column) => column.name.toLowerCase() === name.toLowerCase())
  return similar.length === 1 ? similar[0] : undefined
}

function requireColumn(columns: readonly TargetColumn[], name: string, table: TableName): TargetColumn {
  const found = findColumn(columns, name)
  if (found !== undefined) return found
  throw new DatabaseError(`could not write to the table ${plainTable(table)}: its column ${name} no longer exists`, {
    isTransient: true,
  })
}

function missingTable(table: TableName): DatabaseError {
  const message = `could not write to the table ${plainTable(table)}: it does not exist; create it, or set auto.create=true`
  return new DatabaseError(message, { isTransient: false })
}
