import type { HostAccess, Schema, SinkPartition, SinkPosition, SinkRecord, TaskLog } from '../../../../sdk/index.ts'
import type { Quote, QuoteMark, TableName } from '../identifier.ts'
import type { TimeZone } from '../time-zone.ts'
import type { ColumnForm, SinkColumn } from './sink-column.ts'

/**
 * The database that a sink writes to, by its URL. Sinks write to any database through this interface. `Form` is what a database
 * knows about a column besides its text.
 */
export type SinkDatabase<Form> = {
  readonly quote: Quote
  readonly quoteMark: QuoteMark
  /** Returns how the values of a field are written. */
  readonly toForm: (field: FieldOfColumn, options: FormOptions) => ColumnForm<Form>
  /** Connects. Throws a `DatabaseError`. */
  readonly open: (options: SinkSessionOptions) => Promise<SinkSession<Form>>
}

export type FieldOfColumn = {
  readonly schema: Schema
  readonly isKey: boolean
  /** Unit of an integer or of decimal digits that are a timestamp; undefined for other fields. */
  readonly epochUnit: EpochUnit | undefined
}

export type EpochUnit = 'microseconds' | 'nanoseconds'

export type FormOptions = {
  readonly zone: TimeZone
  readonly dateZone: TimeZone
  readonly nullIsDefault: boolean
}

export type SinkSessionOptions = {
  readonly connector: string
  readonly user: string | undefined
  readonly password: string | undefined
  readonly applicationName: string
  readonly attempts: number
  readonly backoffMs: number
  /** Quotes names as the connector is configured. */
  readonly quote: Quote
  /** The table that stores offsets; undefined if offsets are stored in Kafka only. */
  readonly offsetsTable: string | undefined
  readonly log: TaskLog
  readonly access: HostAccess
  /** Cancels the running statement and closes the session when aborted. */
  readonly signal: AbortSignal
}

/** A column of the target table. */
export type TargetColumn = {
  readonly name: string
  /** The SQL type without length or precision, which the server checks itself. */
  readonly type: string
}

/** A target table: its quoted name and its columns. */
export type TargetTable = { readonly table: string; readonly columns: readonly TargetColumn[] }

/** Rows of one table that are written or deleted together. The columns of the table are those of the records, in their order. */
export type TableWrite<Form> = {
  readonly kind: 'insert' | 'upsert' | 'update' | 'delete'
  /** Completes "could not …" in error messages. */
  readonly operation: string
  readonly records: readonly SinkRecord[]
  readonly columns: readonly SinkColumn<Form>[]
  readonly target: TargetTable
  /** The first columns are those of the key, for `upsert`, `update` and `delete`. */
  readonly keys: number
}

/** One connection to the database. Methods throw a `DatabaseError`, or a `DataError` for a value that cannot be converted. */
export type SinkSession<Form> = {
  /** Whether the session can still be used. */
  readonly isOpen: boolean
  /** Returns the columns of a table; none if it does not exist. */
  readColumns(table: TableName): Promise<readonly TargetColumn[]>
  createTableSql(table: string, columns: readonly SinkColumn<Form>[]): string
  addColumnsSql(table: string, columns: readonly SinkColumn<Form>[]): string
  /** Executes DDL that another task may be executing at the same time. Ignores that a table or column already exists. */
  executeDdl(operation: string, sql: string): Promise<void>
  /** Writes all rows in one transaction. */
  write(writes: readonly TableWrite<Form>[]): Promise<void>
  /** Ends the transaction of a write that failed. */
  rollBack(): Promise<void>
  /** The offsets of written records in the database; undefined without a table for them. */
  readonly offsets: DatabaseOffsets<Form> | undefined
  close(): Promise<void>
}

/**
 * Stores the next offset of each partition in a table of the same database. The offset is updated in the transaction
 * that writes the records, and only records at or after it are written. A record is therefore written once, even by a
 * task that was replaced without noticing, or after a commit whose result was lost.
 */
export type DatabaseOffsets<Form> = {
  /** Returns the stored offsets. Partitions that were never written to are omitted. */
  open(partitions: readonly SinkPartition[]): Promise<readonly SinkPosition[]>
  /**
   * Writes records that are expected to be new, and their offsets, in one transaction. Throws a `WrittenBeforeError` if some are
   * written already.
   */
  writeNew(batch: OffsetBatch<Form>): Promise<void>
  /** Writes those of the records that are not written yet, and their offsets, in one transaction. */
  writeRemaining(batch: OffsetBatch<Form>): Promise<void>
  /** Stores the offsets after these records, which are not written. */
  skip(records: readonly SinkRecord[]): Promise<void>
}

export type OffsetBatch<Form> = {
  readonly records: readonly SinkRecord[]
  /** The writes of all records. */
  readonly writes: readonly TableWrite<Form>[]
  readonly writesOf: (records: readonly SinkRecord[]) => Promise<readonly TableWrite<Form>[]>
}
