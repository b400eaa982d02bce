import {
  DataError,
  type SinkPartition,
  type SinkPosition,
  type SinkRecord,
  type TaskLog,
} from '../../../../sdk/index.ts'
import { DatabaseError } from '../database-error.ts'
import type { Quote, QuoteMark } from '../identifier.ts'
import { WrittenBeforeError } from './partition-ranges.ts'
import { type ChangeGroup, checkValues, compactChanges, hasSameSchema, isDelete } from './row-changes.ts'
import { findRecordError, type RowOptions, toSinkColumns } from './sink-columns.ts'
import type { SinkSession, TableWrite, TargetTable } from './sink-database.ts'
import { TargetTables } from './target-tables.ts'

export type BatchWriterOptions<Form> = RowOptions<Form> & {
  readonly insertMode: 'insert' | 'upsert' | 'update'
  readonly rowsMax: number
  readonly tableOf: (topic: string) => string
  /** Whether sessions store offsets in the database. */
  readonly storesOffsets: boolean
  readonly autoCreate: boolean
  readonly autoEvolve: boolean
  readonly quote: Quote
  readonly quoteMark: QuoteMark
  readonly log: TaskLog
  readonly openSession: () => Promise<SinkSession<Form>>
  /**
   * Called for a record that the server rejects or that does not fit the table. Resolves if the record may be skipped.
   */
  readonly refuse: (record: SinkRecord, error: Error) => Promise<void>
}

/** Whether records are expected to be new, or may have been written before. */
type Expected = 'new' | 'unknown'

type OpenGroup<Form> = ChangeGroup<Form> & { readonly shape: SinkRecord; readonly records: SinkRecord[] }

/** Writes batches of records, each batch in one transaction. */
export class BatchWriter<Form> {
  readonly #options: BatchWriterOptions<Form>
  readonly #tables: TargetTables
  #session: SinkSession<Form> | undefined

  constructor(options: BatchWriterOptions<Form>) {
    this.#options = options
    this.#tables = new TargetTables(options)
  }

  /** Connects, so that connection errors are reported when the task starts. */
  async start(): Promise<void> {
    await this.#connected()
  }

  /** Returns the offsets to resume from, or undefined if no offsets table is used. */
  async positions(partitions: readonly SinkPartition[]): Promise<readonly SinkPosition[] | undefined> {
    if (!this.#options.storesOffsets) return undefined
    return (await this.#connected()).offsets?.open(partitions)
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
        if (this.#options.storesOffsets) await (await this.#connected()).offsets?.skip(records)
        return
      }
      const middle = records.length >> 1
      await this.#writeParts(records.slice(0, middle), expected)
      await this.#writeParts(records.slice(middle), expected)
    }
  }

  async #writeAll(records: readonly SinkRecord[], expected: Expected): Promise<void> {
    const session = await this.#connected()
    const { offsets } = session
    // Tables are created before the transaction: a transaction that waits for another task's DDL must not hold row
    // locks.
    const writes = await this.#writesOf(session, records)
    if (offsets === undefined) return session.write(writes)
    const batch = { records, writes, writesOf: (some: readonly SinkRecord[]) => this.#writesOf(session, some) }
    await (expected === 'new' ? offsets.writeNew(batch) : offsets.writeRemaining(batch))
  }

  async #rollBack(): Promise<void> {
    if (this.#session?.isOpen) await this.#session.rollBack()
    this.#tables.forget()
  }

  async #writesOf(session: SinkSession<Form>, records: readonly SinkRecord[]): Promise<readonly TableWrite<Form>[]> {
    const writes: TableWrite<Form>[] = []
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
  #toGroups(records: readonly SinkRecord[]): readonly ChangeGroup<Form>[] {
    const open = new Map<string, OpenGroup<Form>>()
    const done: ChangeGroup<Form>[] = []
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

  #begin(shape: SinkRecord, table: string): OpenGroup<Form> {
    const columns = toSinkColumns(shape.keySchema, isDelete(shape) ? null : shape.valueSchema, this.#options)
    return { table, shape, columns, records: [shape] }
  }

  #toWrites(group: ChangeGroup<Form>, target: TargetTable): readonly TableWrite<Form>[] {
    const { insertMode } = this.#options
    const { columns } = group
    const { deletes, writes, superseded } = compactChanges(group, insertMode)
    checkValues(superseded, columns)
    const keys = columns.filter(({ isKey }) => isKey)
    const operation = `write ${group.records.length} records to the table ${group.table}`
    const found: TableWrite<Form>[] = []
    if (deletes.length > 0) {
      const ofKeys = { ...target, columns: target.columns.slice(0, keys.length) }
      found.push({ kind: 'delete', operation, records: deletes, columns: keys, target: ofKeys, keys: keys.length })
    }
    // There is nothing to update if all columns are key columns.
    const hasChange = insertMode !== 'update' || keys.length < columns.length
    if (writes.length > 0 && hasChange) {
      found.push({ kind: insertMode, operation, records: writes, columns, target, keys: keys.length })
    } else {
      checkValues(writes, columns)
    }
    return found
  }

  async #connected(): Promise<SinkSession<Form>> {
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

function fits(record: SinkRecord, shape: SinkRecord): boolean {
  if (!hasSameSchema(record.keySchema, shape.keySchema)) return false
  if (isDelete(record)) return true
  return !isDelete(shape) && hasSameSchema(record.valueSchema, shape.valueSchema)
}

function checkGroup({ records, columns }: ChangeGroup<unknown>): void {
  const keys = columns.filter(({ isKey }) => isKey)
  for (const record of records) checkValues([record], isDelete(record) ? keys : columns)
}
