import type { ResultField } from '../jdbc/row-cursor.ts'

/** A column of a query result, as described by the server. Its type is identified by an OID. */
export type PostgresField = ResultField & {
  /** Type modifier (precision, scale or length, encoded as the type defines it); -1 if there is none. */
  readonly modifier: number
  /** OID of the table that the column belongs to; 0 if the column is computed. */
  readonly tableId: number
  readonly columnId: number
}
