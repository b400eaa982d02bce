import { CELL, DataError, type RowColumn } from '../../../../sdk/index.ts'
import { cellText, type DataRows } from '../data-rows.ts'
import type { CellParser } from './cell-parsers.ts'
import type { ResultColumn } from './result-columns.ts'

/** A row that cannot be converted: its first column with such a value, and why. */
export type RejectedRow = { readonly row: number; readonly column: ResultColumn; readonly error: DataError }

/**
 * Reads the cells of rows into columns. Cells in the usual form become neither a text nor a value; all others are converted here,
 * so that a row that cannot be converted is known before its batch is returned.
 */
export function readColumns(
  rows: DataRows,
  columns: readonly ResultColumn[],
): { readonly columns: readonly RowColumn[]; readonly rejected: readonly RejectedRow[] } {
  const rejected = new Map<number, RejectedRow>()
  const read = columns.map((column, index) => {
    const convert = (row: number) => {
      if (rejected.has(row)) return null
      try {
        return column.read(cellText(rows, row, index)!)
      } catch (error) {
        if (!(error instanceof DataError)) throw error
        rejected.set(row, { row, column, error })
        return null
      }
    }
    return readColumn(rows, column, index, convert)
  })
  return { columns: read, rejected: [...rejected.values()].sort((one, other) => one.row - other.row) }
}

/** Returns the value of a cell that is not NULL. */
type Convert = (row: number) => unknown

function readColumn(rows: DataRows, { compact }: ResultColumn, index: number, convert: Convert): RowColumn {
  if (compact === undefined) return valueColumn(rows, index, convert)
  if (compact !== 'text') return numberColumn(rows, index, convert, compact)
  return rows.isUtf8 ? textColumn(rows, index) : valueColumn(rows, index, convert)
}

function valueColumn({ bounds, rows, columns }: DataRows, index: number, convert: Convert): RowColumn {
  const values = new Array<unknown>(rows)
  for (let row = 0; row < rows; row++) {
    values[row] = bounds[2 * (row * columns + index) + 1]! < 0 ? null : convert(row)
  }
  return { kind: 'values', values }
}

function textColumn({ bytes, bounds, rows, columns }: DataRows, index: number): RowColumn {
  const cells = new Uint8Array(rows)
  const starts = new Int32Array(rows)
  const ends = new Int32Array(rows)
  for (let row = 0, at = 2 * index; row < rows; row++, at += 2 * columns) {
    starts[row] = bounds[at]!
    ends[row] = bounds[at + 1]!
    if (ends[row]! < 0) cells[row] = CELL.null
  }
  return { kind: 'texts', bytes, starts, ends, cells, others: NONE }
}

function numberColumn(
  { bytes, bounds, rows, columns }: DataRows,
  index: number,
  convert: Convert,
  parse: CellParser,
): RowColumn {
  const cells = new Uint8Array(rows)
  const numbers = new Float64Array(rows)
  const others = new Map<number, unknown>()
  for (let row = 0, at = 2 * index; row < rows; row++, at += 2 * columns) {
    const end = bounds[at + 1]!
    if (end < 0) {
      cells[row] = CELL.null
      continue
    }
    const number = parse(bytes, bounds[at]!, end)
    if (Number.isNaN(number)) {
      cells[row] = CELL.other
      others.set(row, convert(row))
    } else numbers[row] = number
  }
  return { kind: 'numbers', numbers, cells, others }
}

const NONE: ReadonlyMap<number, unknown> = new Map()
