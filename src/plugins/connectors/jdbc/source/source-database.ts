import type { HostAccess, Schema, TaskLog } from '../../../../sdk/index.ts'
import type { Quote, QuoteMark, TableName } from '../identifier.ts'
import type { ResultField, RowCursor } from '../row-cursor.ts'
import type { TimeZone } from '../time-zone.ts'
import type { SelectStatement, TableQuery, UpperBound } from './select-statement.ts'
import type { TableOffset } from './table-offset.ts'
import type { TimestampGranularity } from './timestamp-granularity.ts'

/** The database that a source reads, by its URL. Sources read any database through this interface. */
export type SourceDatabase = {
  /** Names of kinds of tables that `table.types` selects. */
  readonly tableTypes: readonly string[]
  readonly quote: Quote
  readonly quoteMark: QuoteMark
  /** The database that JDBC connectors write before the schema and the table of an offset; undefined if there is none. */
  readonly catalog: string | undefined
  /** Connects. Throws a `DatabaseError`. */
  readonly open: (options: SourceSessionOptions) => Promise<SourceSession>
}

export type SourceSessionOptions = {
  readonly user: string | undefined
  readonly password: string | undefined
  readonly applicationName: string
  /** Isolation level as in SQL, such as `READ COMMITTED`; undefined for that of the server. */
  readonly isolation: string | undefined
  readonly attempts: number
  readonly backoffMs: number
  readonly log: TaskLog
  readonly access: HostAccess
  /** Cancels the running query and closes the session when aborted. */
  readonly signal: AbortSignal
}

/** One connection to the database. Methods throw a `DatabaseError`. */
export type SourceSession = AsyncDisposable & {
  /** Whether the session can still be used. */
  readonly isOpen: boolean
  /** Returns the tables that the account can see, without those of the server itself, sorted by name. */
  listTables(choice: TableCriteria): Promise<readonly TableName[]>
  /** Returns the columns of a table; none if it does not exist. `operation` completes "could not …" in error messages. */
  readColumns(operation: string, table: TableName): Promise<readonly CatalogColumn[]>
  /** Returns the columns of the result of a SELECT. */
  describe(operation: string, select: string, mapping: TypeMapping): Promise<ResultColumns>
  /** Returns the statement that reads the rows after an offset. */
  selectRowsAfter(
    tableQuery: TableQuery,
    offset: TableOffset,
    upperBound: UpperBound,
    options: SelectOptions,
  ): SelectStatement
  openRows(operation: string, statement: SelectStatement, rowsMax: number): RowCursor
  /** Returns the result of a SELECT of one value; null if that is NULL. */
  readValue(operation: string, select: string): Promise<string | null>
  /** Returns the server's clock, in microseconds since 1970. */
  readClock(): Promise<number>
  /** Returns the transactions that may add rows, other than those of sources, by ids that are never reused. */
  openTransactions(): Promise<ReadonlySet<string>>
  close(): Promise<void>
}

/** A table's column, from the catalog. `isGenerated`: whether the server assigns increasing values to it. */
export type CatalogColumn = { readonly name: string; readonly notNull: boolean; readonly isGenerated: boolean }

export type TableCriteria = {
  readonly types: readonly string[]
  /** A pattern of SQL LIKE. */
  readonly schemaPattern: string
  readonly catalog: string | undefined
}

export const NUMERIC_MAPPINGS = ['none', 'precision_only', 'best_fit', 'best_fit_eager_double'] as const
export type NumericMapping = (typeof NUMERIC_MAPPINGS)[number]

/** How column values are converted to record values. */
export type TypeMapping = {
  readonly numeric: NumericMapping
  readonly granularity: TimestampGranularity
  /** Time zone of timestamps without time zone. */
  readonly zone: TimeZone
}

/** A result column with the schema and conversion of its record field. */
export type ResultColumn = {
  readonly name: string
  readonly schema: Schema
  /** Converts the server's text. Throws a `DataError` for values that the schema cannot represent. */
  readonly read: (text: string) => unknown
  /** Converts the server's text of a timestamp to microseconds since 1970. Throws a `DataError` for other text. */
  readonly toMicros: (text: string) => number
}

export type ResultColumns = { readonly fields: readonly ResultField[]; readonly columns: readonly ResultColumn[] }

export type SelectOptions = {
  readonly quote: Quote
  readonly zone: TimeZone
  readonly fields: readonly ResultField[]
}
