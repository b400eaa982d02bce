import { DataError, type TaskLog } from '../../../../sdk/index.ts'
import { DatabaseError } from '../database-error.ts'
import { parseTableName, plainTable, type Quote, type QuoteMark, quotedTable, type TableName } from '../identifier.ts'
import type { SinkColumn } from './sink-column.ts'
import type { SinkSession, TargetColumn, TargetTable } from './sink-database.ts'

export type TargetTablesOptions = {
  readonly autoCreate: boolean
  readonly autoEvolve: boolean
  readonly quote: Quote
  readonly quoteMark: QuoteMark
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
  async target<Form>(
    session: SinkSession<Form>,
    name: string,
    columns: readonly SinkColumn<Form>[],
    beforeDdl: () => void,
  ): Promise<TargetTable> {
    const { autoCreate, quote, quoteMark } = this.#options
    const parsed = parseTableName(name, quoteMark)
    const table = quotedTable(parsed, quote)
    let known = this.#known.get(name) ?? (await session.readColumns(parsed))
    if (known.length === 0) {
      if (!autoCreate) throw missingTable(parsed)
      beforeDdl()
      await this.#change(session, parsed, session.createTableSql(table, columns))
      known = await session.readColumns(parsed)
    }
    // Repeated while other tasks add some of the columns at the same time.
    for (let missing = missingColumns(columns, known); missing.length > 0; ) {
      this.#refuseMissing(parsed, missing)
      beforeDdl()
      await this.#change(session, parsed, session.addColumnsSql(table, missing))
      known = await session.readColumns(parsed)
      const left = missingColumns(columns, known)
      if (left.length >= missing.length) break
      missing = left
    }
    this.#known.set(name, known)
    return { table, columns: columns.map((column) => requireColumn(known, column.name, parsed)) }
  }

  async #change(session: SinkSession<unknown>, table: TableName, sql: string): Promise<void> {
    this.#options.log.info({ table: plainTable(table), sql }, 'the table is created or altered for the records')
    await session.executeDdl(`create or alter the table ${plainTable(table)}`, sql)
  }

  #refuseMissing(table: TableName, missing: readonly SinkColumn<unknown>[]): void {
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

function missingColumns<Form>(
  columns: readonly SinkColumn<Form>[],
  known: readonly TargetColumn[],
): readonly SinkColumn<Form>[] {
  return columns.filter(({ name }) => findColumn(known, name) === undefined)
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
