import { createRequire } from 'node:module'
import type { Options, parse } from 'csv-parse/sync'
import { truncateText } from '../../../common/truncate-text.ts'
import { parseExact, plainValue } from '../../../java-compat/json/connect-json-reader.ts'
import {
  BOOLEAN,
  DataError,
  FLOAT64,
  INT32,
  INT64,
  int64,
  optional,
  type Schema,
  STRING,
  struct,
} from '../../../sdk/index.ts'
import { RowSplitter, type RowSplitterOptions, type TextRow } from './row-splitter.ts'

const load = createRequire(import.meta.url)
/** Loads the parser with the first rows; each process of a worker would otherwise load it before its first task. */
const csvParser = () => (load('csv-parse/sync') as { readonly parse: typeof parse }).parse

/** The value of a row, or the reason why it could not be parsed. */
export type ParsedRow = { readonly value: unknown } | { readonly error: DataError }

/** How the rows of one file are parsed. */
export type RowFormat = {
  readonly schema: Schema | null
  /** Parses row texts without their line ends. Returns one result per text, in order; undefined for an empty row. */
  readonly parse: (texts: readonly string[]) => readonly (ParsedRow | undefined)[]
}

/**
 * Parses rows. If a multi-line row is malformed, only its first line is reported as an error and the other lines are
 * split into rows again, because a quote may have been mistaken for the end of the field.
 */
export function* parseRows(
  rows: readonly TextRow[],
  format: RowFormat,
  bounds: Pick<RowSplitterOptions, 'quote' | 'rowBytesMax'>,
): Generator<{ readonly row: TextRow; readonly parsed: ParsedRow }> {
  const all = format.parse(rows.map(({ text }) => text))
  for (const [index, row] of rows.entries()) {
    const parsed = row.isTooLong ? { error: new DataError('the row is longer than row.max.bytes') } : all[index]
    const lineEnd = row.text.indexOf('\n')
    if (parsed === undefined) continue
    if (!('error' in parsed) || lineEnd < 0 || row.isTooLong) {
      yield { row, parsed }
      continue
    }
    const [first, rest] = [row.text.slice(0, lineEnd), row.text.slice(lineEnd + 1)]
    const position = row.start + Buffer.byteLength(first) + 1
    yield { row: { ...row, text: first.replace(/\r$/, ''), position }, parsed }
    const splitter = new RowSplitter({ ...bounds, position })
    // The last row also includes the line end of the original row, which is not part of its text.
    const others = [...splitter.push(Buffer.from(rest)), ...splitter.end()]
    yield* parseRows(
      [...others.slice(0, -1), ...others.slice(-1).map((last) => ({ ...last, position: row.position }))],
      format,
      bounds,
    )
  }
}

export const TEXT: RowFormat = { schema: STRING, parse: (texts) => texts.map((value) => ({ value })) }

export const NDJSON: RowFormat = {
  schema: null,
  parse: (texts) =>
    texts.map((text) => {
      if (text.trim() === '') return undefined
      try {
        return { value: plainValue(parseExact(text)) }
      } catch (error) {
        return { error: new DataError(`the line is not valid JSON: ${(error as Error).message}`, { cause: error }) }
      }
    }),
}

export type CsvOptions = {
  readonly separator: string
  readonly quote: string
  readonly escape: string
  readonly columns: readonly string[]
  readonly types: ReadonlyMap<string, CsvType>
  /** Name of the record schema. */
  readonly name: string
}

export type CsvType = keyof typeof CSV_TYPES

type Reader = { readonly schema: Schema; readonly read: (text: string) => unknown }

const nullIfEmpty = (read: (text: string) => unknown) => (text: string) => (text === '' ? null : read(text.trim()))

/** Types of CSV columns. An empty text is null, except for strings. */
export const CSV_TYPES = {
  string: { schema: STRING, read: (text: string) => text },
  int32: { schema: INT32, read: nullIfEmpty((text) => parseInteger(text, 31)) },
  int64: { schema: INT64, read: nullIfEmpty((text) => parseInteger(text, 63)) },
  float64: { schema: FLOAT64, read: nullIfEmpty(parseFloat64) },
  boolean: { schema: BOOLEAN, read: nullIfEmpty(parseBoolean) },
} as const satisfies Readonly<Record<string, Reader>>

/**
 * Returns the fields of one row, which may differ in number from the columns. Throws an `Error` if the text is not
 * valid CSV.
 */
export function csvFields(text: string, options: Pick<CsvOptions, 'separator' | 'quote' | 'escape'>): string[] {
  return csvParser()(text, parserOptions(options))[0] ?? []
}

export function csv(options: CsvOptions): RowFormat {
  const { columns, types, name } = options
  const readers = columns.map((column) => ({ column, ...(CSV_TYPES[types.get(column) ?? 'string'] as Reader) }))
  const toValue = (fields: readonly string[]): ParsedRow => {
    try {
      if (fields.length !== columns.length) {
        throw new DataError(`the row has ${fields.length} fields, expected ${columns.length}`)
      }
      return {
        value: Object.fromEntries(readers.map(({ column, read }, at) => [column, field(column, read, fields[at]!)])),
      }
    } catch (error) {
      return { error: asDataError(error) }
    }
  }
  const single = (text: string): ParsedRow => {
    try {
      return toValue(csvFields(text, options))
    } catch (error) {
      return { error: asDataError(error) }
    }
  }
  return {
    schema: struct(name, Object.fromEntries(readers.map(({ column, schema }) => [column, optional(schema)]))),
    parse(texts) {
      const filled = texts.filter((text) => text !== '')
      const parsed = parseTogether(filled, options)?.map(toValue) ?? filled.map(single)
      let next = 0
      return texts.map((text) => (text === '' ? undefined : parsed[next++]))
    },
  }
}

/** Parses many rows in one call, which is much faster. Returns undefined if one of them is malformed. */
function parseTogether(texts: readonly string[], options: CsvOptions): readonly string[][] | undefined {
  try {
    const rows = csvParser()(texts.join('\n'), parserOptions(options))
    return rows.length === texts.length ? rows : undefined
  } catch {
    return undefined
  }
}

function parserOptions(options: Pick<CsvOptions, 'separator' | 'quote' | 'escape'>) {
  return {
    delimiter: options.separator,
    quote: options.quote,
    escape: options.escape,
    record_delimiter: '\n',
    relax_column_count: true,
    columns: false,
  } satisfies Options
}

function field(column: string, read: (text: string) => unknown, text: string): unknown {
  try {
    return read(text)
  } catch (error) {
    throw new DataError(`column ${column}: ${(error as Error).message}`)
  }
}

function asDataError(error: unknown): DataError {
  return error instanceof DataError ? error : new DataError((error as Error).message, { cause: error })
}

const MIN = { 31: -(2n ** 31n), 63: -(2n ** 63n) } as const

function parseInteger(text: string, bits: 31 | 63): number | bigint {
  if (!/^[-+]?\d+$/.test(text)) throw new Error(`'${truncateText(text, 40, '…')}' is not an integer`)
  // Most numbers are short, and `Number` is faster than `BigInt`.
  const value = text.length <= 15 ? Number(text) : BigInt(text.replace(/^\+/, ''))
  if (value < MIN[bits] || value >= -MIN[bits]) {
    throw new Error(`${truncateText(text, 40, '…')} is out of range for int${bits + 1}`)
  }
  return typeof value === 'bigint' ? int64(value) : value
}

function parseFloat64(text: string): number {
  if (/^[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$/.test(text)) return Number(text)
  throw new Error(`'${truncateText(text, 40, '…')}' is not a number`)
}

function parseBoolean(text: string): boolean {
  const word = text.toLowerCase()
  if (word === 'true' || word === 'false') return word === 'true'
  throw new Error(`'${truncateText(text, 40, '…')}' is not true or false`)
}
