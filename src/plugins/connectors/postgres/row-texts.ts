import { isAscii } from 'node:buffer'
import { ROW_HEADER_BYTES } from './message-frames.ts'

/** The texts of one row; null for NULL. */
export type RowTexts = readonly (string | null)[]

/** Decodes the rows of consecutive messages, whose headers were replaced by NUL characters. It may overwrite the bytes. */
export type ReadRows = (bytes: Buffer) => readonly RowTexts[]

const BLANK_HEADER = '\0'.repeat(ROW_HEADER_BYTES)

/** Reads the messages of a `COPY` in text format: each has one row, ended by a newline. */
export function readCopyRows(bytes: Buffer): readonly RowTexts[] {
  const text = bytes.toString('utf8')
  const lines = text.split('\n')
  if (lines.pop() !== '') throw new Error('the server sent a part of a row in a message of COPY')
  const toCells = text.includes('\\') ? parseEscapedRow : parseRow
  return lines.map((line) => {
    if (!line.startsWith(BLANK_HEADER)) throw new Error('the server sent several rows in a message of COPY')
    return toCells(line)
  })
}

function parseRow(line: string): string[] {
  return line.slice(ROW_HEADER_BYTES).split('\t')
}

function parseEscapedRow(line: string): RowTexts {
  const cells = parseRow(line)
  return line.includes('\\') ? cells.map(parseCell) : cells
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

function parseCell(cell: string): string | null {
  if (!cell.includes('\\')) return cell
  return cell === '\\N' ? null : cell.replace(/\\(.)/gs, (_, letter: string) => ESCAPES[letter] ?? letter)
}

/** Start and length of each cell, in bytes; the length is -1 for NULL. The array is reused by each call of `readDataRows`. */
let bounds = new Int32Array(1_024)

/**
 * Reads the messages of a query: each has the number of cells, and the length of each cell before it. Texts of ASCII characters
 * are cut from one text, because each conversion of bytes has a cost of its own.
 */
export function readDataRows(bytes: Buffer): readonly RowTexts[] {
  const counts: number[] = []
  let cells = 0
  for (let at = 0; at < bytes.length; ) {
    at += ROW_HEADER_BYTES
    const count = bytes.readUInt16BE(at)
    at = blank(bytes, at, 2)
    counts.push(count)
    for (let left = count; left > 0; left--) {
      const length = bytes.readInt32BE(at)
      at = blank(bytes, at, 4)
      if (cells === bounds.length) bounds = doubled(bounds)
      bounds[cells++] = at
      bounds[cells++] = length
      if (length > 0) at += length
      if (at > bytes.length) throw new Error('the server sent a row with a cell that ends behind its message')
    }
  }
  const text = isAscii(bytes) ? bytes.toString('latin1') : undefined
  let cell = 0
  return counts.map((count) => {
    // An array that grows would reserve room for 17 cells.
    const row = new Array<string | null>(count)
    for (let column = 0; column < count; column++) {
      const start = bounds[cell++]!
      const length = bounds[cell++]!
      if (length < 0) row[column] = null
      else if (text === undefined) row[column] = bytes.toString('utf8', start, start + length)
      else row[column] = text.slice(start, start + length)
    }
    return row
  })
}

/** Overwrites bytes that are no text with NUL characters. Returns the index after them. */
function blank(bytes: Buffer, at: number, count: number): number {
  for (let index = at; index < at + count; index++) bytes[index] = 0
  return at + count
}

function doubled(array: Int32Array): typeof bounds {
  const larger = new Int32Array(2 * array.length)
  larger.set(array)
  return larger
}
