import {
  DataError,
  type SinkPartition,
  type SinkPosition,
  type SinkRecord,
  type TaskLog,
} from '../../../../sdk/index.ts'
import { textFromItems } from '../array-text.ts'
import { DatabaseError } from '../database-error.ts'
import type { Quote } from '../identifier.ts'
import type { Session } from '../session.ts'
import { type ChangeGroup, cellsOf, compactChanges, hasSameSchema, type RowChange } from './row-changes.ts'
import { findRecordError, type RowOptions, type SinkColumn, toSinkColumns } from './sink-columns.ts'
import { StoredOffsets } from './stored-offsets.ts'
import { TargetTables } from './target-tables.ts'
import { deleteSql, insertSql, type TargetTable, updateSql, upsertSql } from './write-statements.ts'

export type BatchWriterOptions = RowOptions & {
  readonly connector: string
  readonly insertMode: 'insert' | 'upsert' | 'update'
  readonly rowsMax: number
  readonly tableOf: (topic: string) => string
  /** The table that stores offsets; undefined if offsets are stored in Kafka only. */
  readonly offsetsTable: string | undefined
  readonly autoCreate: boolean
  readonly autoEvolve: boolean
  readonly quote: Quote
  readonly log: TaskLog
  readonly openSession: () => Promise<Session>
  /**
   * Called for a record that the server rejects or that does not fit the table. Resolves if the record may be skipped.
   */
  readonly refuse: (record: SinkRecord, error: Error) => Promise<void>
}

/** A statement with its changes. Its parameters are the first `columns` cells of each change. */
type Write = {
  readonly operation: string
  readonly sql: string
  readonly changes: readonly RowChange[]
  readonly columns: number
}

/** Writes batches of records, each batch in one transaction. */
export class BatchWriter {
  readonly #options: BatchWriterOptions
  readonly #tables: TargetTables
  readonly #offsets: StoredOffsets | undefined
  #session: Session | undefined

  constructor(options: BatchWriterOptions) {
    const { offsetsTable, connector, quote } = options
    this.#options = options
    this.#tables = new TargetTables(options)
    this.#offsets = offsetsTable === undefined ? undefined : new StoredOffsets(connector, offsetsTable, quote)
  }

  /** Connects, so that connection errors are reported when the task starts. */
  async start(): Promise<void> {
    await this.#connected()
  }

  /** Returns the offsets to resume from, or undefined if no offsets table is used. */
  async positions(partitions: readonly SinkPartition[]): Promise<readonly SinkPosition[] | undefined> {
    return this.#offsets?.open(await this.#connected(), partitions)
  }

  /**
   * Throws a `DatabaseError` for failures that no single record causes. Then none of the records, or only the first
   * part of them, has been written.
   */
  async write(records: readonly SinkRecord[]): Promise<void> {
    try {
      await this.#writeParts(records)
    } catch (error) {
      await this.#reset()
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#session?.close()
  }

  /** Splits a batch that contains a rejected record in halves until the record is alone. */
  async #writeParts(records: readonly SinkRecord[]): Promise<void> {
    try {
      await this.#writeAll(records)
    } catch (error) {
      if (!isAboutRecords(error)) throw error
      await this.#rollBack()
      if (records.length === 1) {
        await this.#options.refuse(records[0]!, error as Error)
        await this.#offsets?.advance(await this.#connected(), records)
        return
      }
      const middle = records.length >> 1
      await this.#writeParts(records.slice(0, middle))
      await this.#writeParts(records.slice(middle))
    }
  }

  async #writeAll(records: readonly SinkRecord[]): Promise<void> {
    const session = await this.#connected()
    // Tables are created before the transaction: a transaction that waits for another task's DDL must not hold row
    // locks.
    const writes = await this.#writesOf(session, records)
    // A single statement is a transaction of its own.
    if (this.#offsets === undefined && writes.length <= 1) return this.#execute(session, writes)
    await session.query('begin a transaction', 'BEGIN')
    const remaining = (await this.#offsets?.remaining(session, records)) ?? records
    const isAll = remaining.length === records.length
    await this.#execute(session, isAll ? writes : await this.#writesOf(session, remaining))
    if (remaining.length > 0) await this.#offsets?.advance(session, remaining)
    await session.query('commit a transaction', 'COMMIT')
  }

  async #rollBack(): Promise<void> {
    if (this.#session?.isOpen) await this.#session.query('roll a transaction back', 'ROLLBACK')
    this.#tables.forget()
  }

  async #writesOf(session: Session, records: readonly SinkRecord[]): Promise<readonly Write[]> {
    const writes: Write[] = []
    for (const group of this.#toGroups(records)) {
      const target = await this.#tables.target(session, group.table, group.columns)
      writes.push(...this.#toWrites(group, target))
    }
    return writes
  }

  /**
   * Splits the records of each table into groups of consecutive records that are written to the same columns. A delete
   * joins the group that precedes it if its key schema matches.
   */
  #toGroups(records: readonly SinkRecord[]): readonly ChangeGroup[] {
    const open = new Map<string, { shape: SinkRecord; columns: readonly SinkColumn[]; changes: RowChange[] }>()
    const done: ChangeGroup[] = []
    const end = (table: string) => {
      const ended = open.get(table)
      if (ended !== undefined) done.push({ table, columns: ended.columns, changes: ended.changes })
      open.delete(table)
    }
    for (const record of records) {
      const refusal = findRecordError(record, this.#options)
      if (refusal !== undefined) throw refusal
      const table = this.#options.tableOf(record.topic)
      const current = open.get(table)
      if (current !== undefined && (!fits(record, current.shape) || current.changes.length >= this.#options.rowsMax))
        end(table)
      const { columns, changes } = open.get(table) ?? this.#begin(record, table, open)
      changes.push(toChange(record, columns))
    }
    for (const table of [...open.keys()]) end(table)
    return done
  }

  #begin(
    record: SinkRecord,
    table: string,
    open: Map<string, { shape: SinkRecord; columns: readonly SinkColumn[]; changes: RowChange[] }>,
  ) {
    const columns = toSinkColumns(record.keySchema, isDelete(record) ? null : record.valueSchema, this.#options)
    const group = { shape: record, columns, changes: [] as RowChange[] }
    open.set(table, group)
    return group
  }

  #toWrites(group: ChangeGroup, target: TargetTable): readonly Write[] {
    const { insertMode, quote } = this.#options
    const { deletes, writes } = compactChanges(group, insertMode)
    const keys = group.columns.filter(({ isKey }) => isKey).length
    const operation = `write ${group.changes.length} records to the table ${group.table}`
    const sql = this.#writeSql(target, keys)
    return [
      ...(deletes.length > 0
        ? [{ operation, sql: deleteSql(target, keys, quote), changes: deletes, columns: keys }]
        : []),
      ...(writes.length > 0 && sql !== undefined
        ? [{ operation, sql, changes: writes, columns: target.columns.length }]
        : []),
    ]
  }

  async #execute(session: Session, writes: readonly Write[]): Promise<void> {
    for (const { operation, sql, changes, columns } of writes) {
      const values = Array.from({ length: columns }, (_, column) => textFromItems(cellsOf(changes, column)))
      await session.execute(operation, sql, values)
    }
  }

  #writeSql(target: TargetTable, keys: number): string | undefined {
    const { insertMode, quote } = this.#options
    if (insertMode === 'insert') return insertSql(target, quote)
    return insertMode === 'upsert' ? upsertSql(target, keys, quote) : updateSql(target, keys, quote)
  }

  async #connected(): Promise<Session> {
    if (!this.#session?.isOpen) this.#session = await this.#options.openSession()
    return this.#session
  }

  /** Closes the session. The server then rolls back the transaction in progress. */
  async #reset(): Promise<void> {
    this.#tables.forget()
    await this.#session?.close()
  }
}

function isAboutRecords(error: unknown): boolean {
  return error instanceof DataError || (error instanceof DatabaseError && error.isAboutData)
}

function isDelete({ value }: SinkRecord): boolean {
  return value === null || value === undefined
}

function fits(record: SinkRecord, shape: SinkRecord): boolean {
  if (!hasSameSchema(record.keySchema, shape.keySchema)) return false
  if (isDelete(record)) return true
  return !isDelete(shape) && hasSameSchema(record.valueSchema, shape.valueSchema)
}

function toChange(record: SinkRecord, columns: readonly SinkColumn[]): RowChange {
  const deletes = isDelete(record)
  const used = deletes ? columns.filter(({ isKey }) => isKey) : columns
  return { record, isDelete: deletes, cells: used.map(({ textOf }) => textOf(record)) }
}
