import {
  DataError,
  type SinkPartition,
  type SinkPosition,
  type SinkRecord,
  type TaskLog,
} from '../../../../sdk/index.ts'
import { DatabaseError } from '../../jdbc/database-error.ts'
import type { Quote } from '../../jdbc/identifier.ts'
import type { Session } from '../session.ts'
import { checkValues, encodeColumn } from './column-values.ts'
import { type ChangeGroup, compactChanges, hasSameSchema, isDelete } from './row-changes.ts'
import { type EncodedWrite, SentStatements } from './sent-statements.ts'
import { findRecordError, type RowOptions, type SinkColumn, toSinkColumns } from './sink-columns.ts'
import { StoredOffsets, WrittenBeforeError } from './stored-offsets.ts'
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

/** A statement for records. Its parameters are the values of the columns. */
type Write = {
  readonly operation: string
  readonly records: readonly SinkRecord[]
  readonly columns: readonly SinkColumn[]
  readonly target: TargetTable
  readonly toSql: (target: TargetTable) => string
}

/** Whether records are expected to be new, or may have been written before. */
type Expected = 'new' | 'unknown'

type OpenGroup = ChangeGroup & { readonly shape: SinkRecord; readonly records: SinkRecord[] }

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
      await this.#writeParts(records, 'new')
    } catch (error) {
      await this.#reset()
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#session?.close()
  }

  /** Splits a batch that contains a rejected record in halves until the record is alone. */
  async #writeParts(records: readonly SinkRecord[], expected: Expected): Promise<void> {
    try {
      await this.#writeAll(records, expected)
    } catch (error) {
      if (!isAboutRecords(error)) throw error
      await this.#rollBack()
      if (error instanceof WrittenBeforeError) return this.#writeParts(records, 'unknown')
      if (records.length === 1) {
        await this.#options.refuse(records[0]!, error as Error)
        await this.#offsets?.advance(await this.#connected(), records)
        return
      }
      const middle = records.length >> 1
      await this.#writeParts(records.slice(0, middle), expected)
      await this.#writeParts(records.slice(middle), expected)
    }
  }

  async #writeAll(records: readonly SinkRecord[], expected: Expected): Promise<void> {
    const session = await this.#connected()
    // Tables are created before the transaction: a transaction that waits for another task's DDL must not hold row
    // locks.
    const writes = await this.#writesOf(session, records)
    const sent = new SentStatements(session)
    try {
      if (this.#offsets === undefined) this.#sendWrites(sent, writes)
      else if (expected === 'new') this.#sendNew(sent, this.#offsets, records, writes)
      else await this.#sendRemaining(sent, this.#offsets, records, writes)
    } finally {
      await sent.settled()
    }
  }

  /** Encodes each statement while the server executes those before it. */
  #sendWrites(sent: SentStatements, writes: readonly Write[]): void {
    // A single statement is a transaction of its own.
    const isTransaction = writes.length > 1
    if (isTransaction) sent.begin()
    for (const write of writes) sent.add(encode(write))
    if (isTransaction) sent.commit()
  }

  /** Sends the offsets and the writes without waiting. The server rejects all of them if one of the records is written already. */
  #sendNew(
    sent: SentStatements,
    offsets: StoredOffsets,
    records: readonly SinkRecord[],
    writes: readonly Write[],
  ): void {
    sent.begin()
    void sent.track(offsets.advanceIfNew(sent.session, records))
    for (const write of writes) sent.add(encode(write))
    sent.commit()
  }

  /** Sends the writes of the records that are not written yet, and their offsets. */
  async #sendRemaining(
    sent: SentStatements,
    offsets: StoredOffsets,
    records: readonly SinkRecord[],
    writes: readonly Write[],
  ): Promise<void> {
    const { session } = sent
    sent.begin()
    const reading = sent.track(offsets.remaining(session, records))
    // Usually all records remain, so that they are encoded while the server reads the offsets.
    const encoded = encodeIfPossible(writes)
    const remaining = await reading
    const isAll = remaining.length === records.length
    const statements = (isAll && encoded) || (isAll ? writes : await this.#writesOf(session, remaining)).map(encode)
    for (const statement of statements) sent.add(statement)
    if (remaining.length > 0) void sent.track(offsets.advance(session, remaining))
    sent.commit()
  }

  async #rollBack(): Promise<void> {
    if (this.#session?.isOpen) await this.#session.query('roll a transaction back', 'ROLLBACK')
    this.#tables.forget()
  }

  async #writesOf(session: Session, records: readonly SinkRecord[]): Promise<readonly Write[]> {
    const writes: Write[] = []
    for (const group of this.#toGroups(records)) {
      // Records that are rejected create no tables and columns.
      const beforeDdl = () => checkGroup(group)
      const target = await this.#tables.target(session, group.table, group.columns, beforeDdl)
      writes.push(...this.#toWrites(group, target))
    }
    return writes
  }

  /**
   * Splits the records of each table into groups of consecutive records that are written to the same columns. A delete
   * joins the group that precedes it if its key schema matches.
   */
  #toGroups(records: readonly SinkRecord[]): readonly ChangeGroup[] {
    const open = new Map<string, OpenGroup>()
    const done: ChangeGroup[] = []
    for (const record of records) {
      const refusal = findRecordError(record, this.#options)
      if (refusal !== undefined) throw refusal
      const table = this.#options.tableOf(record.topic)
      const current = open.get(table)
      if (current !== undefined && fits(record, current.shape) && current.records.length < this.#options.rowsMax) {
        current.records.push(record)
        continue
      }
      if (current !== undefined) done.push(current)
      // Moved behind the groups of other tables, so that groups are written in the order in which they begin.
      open.delete(table)
      open.set(table, this.#begin(record, table))
    }
    return [...done, ...open.values()]
  }

  #begin(shape: SinkRecord, table: string): OpenGroup {
    const columns = toSinkColumns(shape.keySchema, isDelete(shape) ? null : shape.valueSchema, this.#options)
    return { table, shape, columns, records: [shape] }
  }

  #toWrites(group: ChangeGroup, target: TargetTable): readonly Write[] {
    const { insertMode, quote } = this.#options
    const { columns } = group
    const { deletes, writes, superseded } = compactChanges(group, insertMode)
    checkValues(superseded, columns)
    const keys = columns.filter(({ isKey }) => isKey)
    const operation = `write ${group.records.length} records to the table ${group.table}`
    const found: Write[] = []
    if (deletes.length > 0) {
      const toSql = (rows: TargetTable) => deleteSql(rows, keys.length, quote)
      const ofKeys = { ...target, columns: target.columns.slice(0, keys.length) }
      found.push({ operation, records: deletes, columns: keys, target: ofKeys, toSql })
    }
    // There is nothing to update if all columns are key columns.
    const hasChange = insertMode !== 'update' || keys.length < columns.length
    if (writes.length > 0 && hasChange) {
      const toSql = (rows: TargetTable) => this.#writeSql(rows, keys.length)
      found.push({ operation, records: writes, columns, target, toSql })
    } else {
      checkValues(writes, columns)
    }
    return found
  }

  #writeSql(target: TargetTable, keys: number): string {
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

function encode({ operation, records, columns, target, toSql }: Write): EncodedWrite {
  const values = columns.map((column, index) => encodeColumn(records, column, target.columns[index]!))
  const sent = target.columns.map((column, index) => ({ ...column, isBinary: typeof values[index] !== 'string' }))
  return { operation, text: toSql({ ...target, columns: sent }), values }
}

/** Returns undefined if a record cannot be converted, which matters only if it is not written yet. */
function encodeIfPossible(writes: readonly Write[]): readonly EncodedWrite[] | undefined {
  try {
    return writes.map(encode)
  } catch (error) {
    if (error instanceof DataError) return undefined
    throw error
  }
}

function isAboutRecords(error: unknown): boolean {
  return error instanceof DataError || (error instanceof DatabaseError && error.isAboutData)
}

function fits(record: SinkRecord, shape: SinkRecord): boolean {
  if (!hasSameSchema(record.keySchema, shape.keySchema)) return false
  if (isDelete(record)) return true
  return !isDelete(shape) && hasSameSchema(record.valueSchema, shape.valueSchema)
}

function checkGroup({ records, columns }: ChangeGroup): void {
  const keys = columns.filter(({ isKey }) => isKey)
  for (const record of records) checkValues([record], isDelete(record) ? keys : columns)
}
