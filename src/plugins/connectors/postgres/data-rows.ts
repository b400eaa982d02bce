import { isUtf8 } from 'node:buffer'
import { ROW_HEADER_BYTES } from './message-frames.ts'
import type { DecodedRows } from './row-stream.ts'
import type { RowTexts } from './row-texts.ts'

/** Bytes of a row before its cells: their number. */
const COUNT_BYTES = 2
const ROW_START_BYTES = ROW_HEADER_BYTES + COUNT_BYTES
/** Bytes before a cell: its length. */
const LENGTH_BYTES = 4

/** Rows of a query in PostgreSQL's text format, and where their cells are. */
export type DataRows = {
  readonly bytes: Buffer
  readonly rows: number
  /** Number of cells in each row. */
  readonly columns: number
  /** Start and end of each cell, row by row; the end is -1 for NULL. Valid until the next rows of the stream are read. */
  readonly bounds: Int32Array
  /** Whether every cell is valid UTF-8. */
  readonly isUtf8: boolean
}

/** Finds the cells in the messages of a query: each has the number of cells, and the length of each cell before it. */
export class DataRowReader {
  #bounds = new Int32Array(1_024)
  /** Number of cells of the first row. */
  #columns: number | undefined

  /**
   * Reads up to `rowsMax` consecutive messages. Stops before a message that is damaged; throws if it is the first. Overwrites
   * the bytes between the cells.
   */
  read(bytes: Buffer, rowsMax: number): DecodedRows<DataRows> {
    let [rows, at] = [0, 0]
    if (bytes.length >= ROW_START_BYTES) this.#columns ??= bytes.readUInt16BE(ROW_HEADER_BYTES)
    const columns = this.#columns ?? 0
    while (rows < rowsMax && at < bytes.length) {
      const start = at + ROW_START_BYTES
      const cells = start > bytes.length ? -1 : bytes.readUInt16BE(start - COUNT_BYTES)
      const end = cells === columns ? this.#readRow(bytes, start, rows, columns) : -1
      if (end < 0 && rows > 0) break
      if (end < 0) throw new Error(`the server sent a row that does not have ${columns} cells within its message`)
      rows += 1
      at = end
    }
    const read = bytes.subarray(0, at)
    blankLengths(read, this.#bounds, rows, columns)
    return { rows: { bytes: read, rows, columns, bounds: this.#bounds, isUtf8: isUtf8(read) }, count: rows, end: at }
  }

  /** Returns the end of the row, or -1 if it ends behind the bytes. */
  #readRow(bytes: Buffer, start: number, row: number, columns: number): number {
    let cell = 2 * row * columns
    if (cell + 2 * columns > this.#bounds.length) this.#grow(cell + 2 * columns)
    const bounds = this.#bounds
    let at = start
    for (let left = columns; left > 0; left--) {
      if (at + LENGTH_BYTES > bytes.length) return -1
      const length = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
      at += LENGTH_BYTES
      bounds[cell++] = at
      if (length >= 0) at += length
      bounds[cell++] = length < 0 ? -1 : at
    }
    return at > bytes.length ? -1 : at
  }

  #grow(size: number): void {
    const larger = new Int32Array(2 * size)
    larger.set(this.#bounds)
    this.#bounds = larger
  }
}

/** Overwrites what is no text with NUL characters, which end an incomplete character of the cell before them. */
function blankLengths(bytes: Buffer, bounds: Int32Array, rows: number, columns: number): void {
  const cells = rows * columns
  for (let cell = 0; cell < cells; cell++) {
    const start = bounds[2 * cell]!
    // The first cell of a row has the number of cells before it.
    const first = cell % columns === 0 ? start - LENGTH_BYTES - COUNT_BYTES : start - LENGTH_BYTES
    for (let at = first; at < start; at++) bytes[at] = 0
  }
}

export function isNull({ bounds, columns }: DataRows, row: number, column: number): boolean {
  return bounds[2 * (row * columns + column) + 1]! < 0
}

/** Parses a cell that is not NULL. */
export function parseCell<Value>(
  { bytes, bounds, columns }: DataRows,
  row: number,
  column: number,
  parse: (bytes: Uint8Array, start: number, end: number) => Value,
): Value {
  const cell = 2 * (row * columns + column)
  return parse(bytes, bounds[cell]!, bounds[cell + 1]!)
}

/** Returns the text of a cell; null for NULL. */
export function cellText({ bytes, bounds, columns }: DataRows, row: number, column: number): string | null {
  const cell = 2 * (row * columns + column)
  const end = bounds[cell + 1]!
  return end < 0 ? null : bytes.toString('utf8', bounds[cell]!, end)
}

/** Returns the texts of a row. */
export function rowTexts(rows: DataRows, row: number): RowTexts {
  return Array.from({ length: rows.columns }, (_, column) => cellText(rows, row, column))
}
