import { DataError, type SinkPartition, type SinkPosition, type SinkRecord } from '../../../../sdk/index.ts'
import { plainTable, type Quote, quotedTable, type TableName } from '../../jdbc/identifier.ts'
import type {
  DatabaseOffsets,
  OffsetBatch,
  SinkSession,
  SinkSessionOptions,
  TableWrite,
  TargetColumn,
} from '../../jdbc/sink/sink-database.ts'
import { createTableSql } from '../../jdbc/sink/table-definition.ts'
import type { Session } from '../session.ts'
import { encodeColumn } from './column-values.ts'
import { executeConcurrentDdl } from './concurrent-ddl.ts'
import type { PostgresColumn, PostgresForm } from './postgres-column.ts'
import { type EncodedWrite, SentStatements } from './sent-statements.ts'
import { StoredOffsets } from './stored-offsets.ts'
import { addColumnsSql, deleteSql, insertSql, updateSql, upsertSql, type WrittenTable } from './write-statements.ts'

/**
 * The type is selected without length or precision, so that the server rejects values that do not fit instead of
 * truncating them.
 */
const COLUMNS_SQL = `
  SELECT a.attname, format_type(a.atttypid, -1) FROM pg_attribute a
  WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`

/** Writes to PostgreSQL through a pipeline: statements are sent without waiting for the results of those before. */
export class PostgresSinkSession implements SinkSession<PostgresForm> {
  readonly offsets: DatabaseOffsets<PostgresForm> | undefined
  readonly #session: Session
  readonly #quote: Quote

  constructor(
    session: Session,
    { connector, offsetsTable, quote }: Pick<SinkSessionOptions, 'connector' | 'offsetsTable' | 'quote'>,
  ) {
    this.#session = session
    this.#quote = quote
    if (offsetsTable !== undefined) {
      this.offsets = new PostgresOffsets(session, new StoredOffsets(connector, offsetsTable, quote), quote)
    }
  }

  get isOpen(): boolean {
    return this.#session.isOpen
  }

  async readColumns(table: TableName): Promise<readonly TargetColumn[]> {
    const operation = `read the columns of the table ${plainTable(table)}`
    const rows = await this.#session.query(operation, COLUMNS_SQL, [quotedTable(table, this.#quote)])
    return rows.map(([name, type]) => ({ name: name!, type: type! }))
  }

  createTableSql(table: string, columns: readonly PostgresColumn[]): string {
    return createTableSql(table, columns, this.#quote)
  }

  addColumnsSql(table: string, columns: readonly PostgresColumn[]): string {
    return addColumnsSql(table, columns, this.#quote)
  }

  executeDdl(operation: string, sql: string): Promise<void> {
    return executeConcurrentDdl(this.#session, operation, sql)
  }

  /** Encodes each statement while the server executes those before it. */
  async write(writes: readonly TableWrite<PostgresForm>[]): Promise<void> {
    // A single statement is a transaction of its own.
    const isTransaction = writes.length > 1
    await sendStatements(this.#session, (sent) => {
      if (isTransaction) sent.begin()
      for (const write of writes) sent.add(encode(write, this.#quote))
      if (isTransaction) sent.commit()
    })
  }

  async rollBack(): Promise<void> {
    await this.#session.query('roll a transaction back', 'ROLLBACK')
  }

  close(): Promise<void> {
    return this.#session.close()
  }
}

class PostgresOffsets implements DatabaseOffsets<PostgresForm> {
  readonly #session: Session
  readonly #stored: StoredOffsets
  readonly #quote: Quote

  constructor(session: Session, stored: StoredOffsets, quote: Quote) {
    this.#session = session
    this.#stored = stored
    this.#quote = quote
  }

  open(partitions: readonly SinkPartition[]): Promise<readonly SinkPosition[]> {
    return this.#stored.open(this.#session, partitions)
  }

  /** Sends the offsets and the writes without waiting. The server rejects all of them if one of the records is written already. */
  async writeNew({ records, writes }: OffsetBatch<PostgresForm>): Promise<void> {
    await sendStatements(this.#session, (sent) => {
      sent.begin()
      void sent.track(this.#stored.advanceIfNew(this.#session, records))
      for (const write of writes) sent.add(encode(write, this.#quote))
      sent.commit()
    })
  }

  async writeRemaining({ records, writes, writesOf }: OffsetBatch<PostgresForm>): Promise<void> {
    await sendStatements(this.#session, async (sent) => {
      sent.begin()
      const reading = sent.track(this.#stored.remaining(this.#session, records))
      // Usually all records remain, so that they are encoded while the server reads the offsets.
      const encoded = encodeIfPossible(writes, this.#quote)
      const remaining = await reading
      const isAll = remaining.length === records.length
      const left = isAll ? writes : await writesOf(remaining)
      const statements = (isAll && encoded) || left.map((write) => encode(write, this.#quote))
      for (const statement of statements) sent.add(statement)
      if (remaining.length > 0) void sent.track(this.#stored.advance(this.#session, remaining))
      sent.commit()
    })
  }

  skip(records: readonly SinkRecord[]): Promise<void> {
    return this.#stored.advance(this.#session, records)
  }
}

/** Sends statements and waits for all of them, also if one of them could not be encoded. */
async function sendStatements(session: Session, send: (sent: SentStatements) => Promise<void> | void): Promise<void> {
  const sent = new SentStatements(session)
  try {
    await send(sent)
  } finally {
    await sent.settled()
  }
}

function encode(
  { kind, operation, records, columns, target, keys }: TableWrite<PostgresForm>,
  quote: Quote,
): EncodedWrite {
  const values = columns.map((column, index) => encodeColumn(records, column, target.columns[index]!))
  const sent = target.columns.map((column, index) => ({ ...column, isBinary: typeof values[index] !== 'string' }))
  return { operation, text: writeSql(kind, { ...target, columns: sent }, keys, quote), values }
}

/** Returns undefined if a record cannot be converted, which matters only if it is not written yet. */
function encodeIfPossible(
  writes: readonly TableWrite<PostgresForm>[],
  quote: Quote,
): readonly EncodedWrite[] | undefined {
  try {
    return writes.map((write) => encode(write, quote))
  } catch (error) {
    if (error instanceof DataError) return undefined
    throw error
  }
}

function writeSql(kind: TableWrite<PostgresForm>['kind'], target: WrittenTable, keys: number, quote: Quote): string {
  switch (kind) {
    case 'insert':
      return insertSql(target, quote)
    case 'upsert':
      return upsertSql(target, keys, quote)
    case 'update':
      return updateSql(target, keys, quote)
    case 'delete':
      return deleteSql(target, keys, quote)
  }
}
