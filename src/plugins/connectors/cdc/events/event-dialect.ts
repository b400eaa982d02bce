import type { Schema } from '../../../../sdk/index.ts'
import type { MaskedColumn } from '../config/column-masks.ts'
import type { ColumnDescription } from '../table.ts'
import type { EventTime } from './event-time.ts'

/** The field of a column in events. */
export type ColumnField = {
  readonly schema: Schema
  /** Converts a value from the text format of the database. */
  readonly decode: (text: string) => unknown
  /** What stands for NULL if the column is not optional. */
  readonly zero: unknown
  /** What stands for a value that the server did not send; null if there is no such value. */
  readonly unavailable: (placeholder: string) => unknown
}

/** How the columns of a database become fields. */
export type ColumnFields<Column extends ColumnDescription> = {
  /** Undefined if events do not contain columns of this type. */
  of(column: Column): ColumnField | undefined
  /** The length of a column, and whether its type is a character type. Masks, hashes and truncation depend on both. */
  sizeOf(column: Column): MaskedColumn
  /** The name of the type for `datatype.propagate.source.type`. */
  typeNameOf(column: Column): string
  /** The type as parameters of a schema, for `column.propagate.source.type`. */
  parametersOf(column: Column): Readonly<Record<string, string>>
}

/** Where and when a change was made. */
export type ChangeOrigin = {
  /** Empty for what is not of a table. */
  readonly schema: string
  readonly table: string
  readonly time: EventTime
}

/** What the events of one database have of their own. */
export type EventDialect<Column extends ColumnDescription, Origin extends ChangeOrigin> = {
  /** Debezium's name of the connector, in headers. */
  readonly connectorName: string
  readonly columns: ColumnFields<Column>
  readonly sourceSchema: Schema
  /** The field `source`. */
  readonly source: (origin: Origin) => object
  /** The id of the transaction in its metadata. */
  readonly transactionId: (origin: Origin) => string
}
