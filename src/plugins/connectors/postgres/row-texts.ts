import { ROW_HEADER_BYTES } from './message-frames.ts'
import type { DecodedRows } from './row-stream.ts'

/** The texts of one row; null for NULL. */
export type RowTexts = readonly (string | null)[]

const BLANK_HEADER = '\0'.repeat(ROW_HEADER_BYTES)

/** Reads the messages of a `COPY` in text format: each has one row, ended by a newline. */
export function readCopyRows(bytes: Buffer): DecodedRows<readonly RowTexts[]> {
  const text = bytes.toString('utf8')
  const lines = text.split('\n')
  if (lines.pop() !== '') throw new Error('the server sent a part of a row in a message of COPY')
  const toCells = text.includes('\\') ? parseEscapedRow : parseRow
  const rows = lines.map((line) => {
    if (!line.startsWith(BLANK_HEADER)) throw new Error('the server sent several rows in a message of COPY')
    return toCells(line)
  })
  return { rows, count: rows.length, end: bytes.length }
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
