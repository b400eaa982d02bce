import type { SinkPartition, SinkPosition, SinkRecord } from '../../../../sdk/index.ts'
import { DatabaseError } from '../../jdbc/database-error.ts'
import { plainTable, type Quote, type TableName } from '../../jdbc/identifier.ts'
import type {
  DatabaseOffsets,
  OffsetBatch,
  SinkSession,
  SinkSessionOptions,
  TableWrite,
  TargetColumn,
} from '../../jdbc/sink/sink-database.ts'
import { columnDefinition, createTableSql } from '../../jdbc/sink/table-definition.ts'
import type { MysqlSession } from '../session.ts'
import { readTableColumns } from '../table-columns.ts'
import type { MysqlColumn, MysqlForm } from './mysql-column.ts'
import { MysqlStoredOffsets } from './mysql-stored-offsets.ts'
import { writeStatements } from './write-statements.ts'

/** Numbers of errors that are reported if another session has just created the same table or column. */
const ALREADY_EXISTS: ReadonlySet<number> = new Set([1050, 1060])

/** Writes to MySQL and MariaDB. A failed statement does not end its transaction there, so each waits for the one before. */
export class MysqlSinkSession implements SinkSession<MysqlForm> {
  readonly offsets: DatabaseOffsets<MysqlForm> | undefined
  readonly #session: MysqlSession
  readonly #quote: Quote

  constructor(
    session: MysqlSession,
    { connector, offsetsTable, quote }: Pick<SinkSessionOptions, 'connector' | 'offsetsTable' | 'quote'>,
  ) {
    this.#session = session
    this.#quote = quote
    if (offsetsTable !== undefined) {
      this.offsets = new MysqlOffsets(session, new MysqlStoredOffsets(connector, offsetsTable, quote), quote)
    }
  }

  get isOpen(): boolean {
    return this.#session.isOpen
  }

  readColumns(table: TableName): Promise<readonly TargetColumn[]> {
    return readTableColumns(this.#session, `read the columns of the table ${plainTable(table)}`, table)
  }

  createTableSql(table: string, columns: readonly MysqlColumn[]): string {
    return createTableSql(table, columns, this.#quote)
  }

  addColumnsSql(table: string, columns: readonly MysqlColumn[]): string {
    const added = columns.map((column) => `ADD COLUMN ${columnDefinition(column, this.#quote)}`)
    return `ALTER TABLE ${table} ${added.join(', ')}`
  }

  async executeDdl(operation: string, sql: string): Promise<void> {
    try {
      await this.#session.execute(operation, sql)
    } catch (error) {
      const alreadyExists = error instanceof DatabaseError && ALREADY_EXISTS.has(error.errno ?? 0)
      if (!alreadyExists) throw error
    }
  }

  /** Converts each statement when those before it were executed, so that one is in memory. */
  async write(writes: readonly TableWrite<MysqlForm>[]): Promise<void> {
    const statements = statementsOf(this.#session, writes, this.#quote)
    const [first, second] = [statements.next().value, statements.next().value]
    // A single statement is a transaction of its own.
    if (first !== undefined && second === undefined)
      return void (await this.#session.execute(first.operation, first.sql))
    if (first === undefined || second === undefined) return
    await begin(this.#session)
    for (const statement of [first, second]) await this.#session.execute(statement.operation, statement.sql)
    for (const { operation, sql } of statements) await this.#session.execute(operation, sql)
    await commit(this.#session)
  }

  async rollBack(): Promise<void> {
    await this.#session.execute('roll a transaction back', 'ROLLBACK')
  }

  close(): Promise<void> {
    return this.#session.close()
  }
}

class MysqlOffsets implements DatabaseOffsets<MysqlForm> {
  readonly #session: MysqlSession
  readonly #stored: MysqlStoredOffsets
  readonly #quote: Quote

  constructor(session: MysqlSession, stored: MysqlStoredOffsets, quote: Quote) {
    this.#session = session
    this.#stored = stored
    this.#quote = quote
  }

  open(partitions: readonly SinkPartition[]): Promise<readonly SinkPosition[]> {
    return this.#stored.open(this.#session, partitions)
  }

  writeNew(batch: OffsetBatch<MysqlForm>): Promise<void> {
    return this.writeRemaining(batch)
  }

  async writeRemaining({ records, writes, writesOf }: OffsetBatch<MysqlForm>): Promise<void> {
    const session = this.#session
    await begin(session)
    const remaining = await this.#stored.remaining(session, records)
    const left = remaining.length === records.length ? writes : await writesOf(remaining)
    for (const { operation, sql } of statementsOf(session, left, this.#quote)) await session.execute(operation, sql)
    if (remaining.length > 0) await this.#stored.advance(session, remaining)
    await commit(session)
  }

  skip(records: readonly SinkRecord[]): Promise<void> {
    return this.#stored.advance(this.#session, records)
  }
}

type Statement = { readonly operation: string; readonly sql: string }

function* statementsOf(
  session: MysqlSession,
  writes: readonly TableWrite<MysqlForm>[],
  quote: Quote,
): Generator<Statement, undefined> {
  for (const write of writes) {
    const { operation } = write
    for (const sql of writeStatements(write, quote, session.server.maxAllowedPacket)) yield { operation, sql }
  }
}

async function begin(session: MysqlSession): Promise<void> {
  await session.execute('begin a transaction', 'START TRANSACTION')
}

async function commit(session: MysqlSession): Promise<void> {
  await session.execute('commit a transaction', 'COMMIT')
}
