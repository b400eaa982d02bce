// What the core knows of tables. Each connector adds what its database has.

/** A column of a table, as the server described it at that moment. */
export type ColumnDescription = { readonly name: string }

/** One version of a table. A changed table is a new object, so schemas can be cached by identity. */
export type TableDescription<Column extends ColumnDescription = ColumnDescription> = {
  readonly schema: string
  readonly name: string
  readonly columns: readonly Column[]
  /** Names of the columns that identify a row, in the order of the key's definition. */
  readonly keyNames: readonly string[]
  /** A column of the present key of which it is not known which column it was in this version; `keyNames` is empty then. */
  readonly unknownKeyName?: string
}

/** A table with what identifies it among the tables of the database, whatever its name is. */
export type IdentifiedTable = TableDescription & { readonly id: number | string }

/** The value was not sent, because it did not change: PostgreSQL's TOAST, or a minimal row image. */
export const UNSENT = Symbol('value that was not sent')
/** A value in the text format of the database. Bytes that are no text are one character each. */
export type Cell = string | null | typeof UNSENT
/** One cell for each column of the table. */
export type Row = readonly Cell[]

/** The change of a row. */
export type RowImages<Table extends TableDescription = TableDescription> = {
  readonly table: Table
  /** The old row; undefined if it was not sent or did not exist. */
  readonly before: Row | undefined
  /** Whether the old row has the columns of the key only; others are null. */
  readonly isBeforeKeyOnly: boolean
  readonly after: Row | undefined
}

/** A table of which events cannot be written: its configuration does not fit. */
export class TableError extends Error {
  override readonly name = 'TableError'
}
