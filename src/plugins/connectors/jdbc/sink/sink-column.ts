import type { SinkRecord } from '../../../../sdk/index.ts'

/** Converts a value to a text; null stays null. Throws a `DataError` for values that cannot be converted. */
export type CellWriter = (value: unknown) => string | null

/** How the values of a field are written: what all databases have, and the form of one database. */
export type ColumnForm<Form> = {
  /** Used when the column is created: its type, and its default as SQL. */
  readonly type: string
  readonly fallback: string | undefined
  readonly write: CellWriter
  readonly form: Form
}

/** A column that records of one shape are written to. */
export type SinkColumn<Form> = Form & {
  readonly name: string
  readonly isKey: boolean
  /** Used when the column is created: its type, its default as SQL, and whether it is NOT NULL. */
  readonly type: string
  readonly fallback: string | undefined
  readonly notNull: boolean
  /** Returns the column's text for a record. Throws a `DataError`. */
  readonly textOf: (record: SinkRecord) => string | null
  /** Returns the value of a record; null without one. */
  readonly pick: (record: SinkRecord) => unknown
}
