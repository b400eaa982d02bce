import { DataRowReader, type DataRows } from '../../src/plugins/connectors/postgres/data-rows.ts'

/** A cell of a row of PostgreSQL. */
export type Cell = string | Buffer | null

/** The content of the protocol message in which the server sends a row of a query. */
export function dataRow(row: readonly Cell[]): Buffer {
  const cells = row.map((cell) => {
    const bytes = Buffer.from(cell ?? '')
    const length = Buffer.alloc(4)
    length.writeInt32BE(cell === null ? -1 : bytes.length)
    return Buffer.concat([length, bytes])
  })
  return Buffer.concat([Buffer.from([row.length >> 8, row.length & 255]), ...cells])
}

/** Rows as they are read from a server. */
export function dataRows(rows: readonly (readonly Cell[])[]): DataRows {
  const bytes = Buffer.concat(rows.flatMap((row) => [Buffer.alloc(5), dataRow(row)]))
  return new DataRowReader().read(bytes, rows.length).rows
}
