import { stringify } from 'yaml'
import { printExactJson } from '../../common/exact-json.ts'
import { UsageError } from '../command.ts'
import { formatColumns } from '../terminal/columns.ts'
import { printableText } from '../terminal/printable-text.ts'
import { bold, plain, type Style } from '../terminal/style.ts'

export const OUTPUT_FORMATS = ['table', 'wide', 'json', 'yaml', 'name'] as const
export type OutputFormat = (typeof OUTPUT_FORMATS)[number]

export type ListingColumn<Row> = {
  readonly title: string
  /** Shown with `-o wide` only. */
  readonly isWide?: true
  cell(row: Row): string
  style?(row: Row): Style | undefined
}

/** How rows of one kind are printed. */
export type Listing<Row> = {
  readonly columns: readonly ListingColumn<Row>[]
  /** `connector/orders` */
  readonly nameOf: (row: Row) => string
  /** What `-o json` and `-o yaml` print. */
  readonly dataOf: (row: Row) => unknown
}

export function parseOutputFormat(text: string): OutputFormat {
  const format = OUTPUT_FORMATS.find((known) => known === text)
  if (format !== undefined) return format
  throw new UsageError(`-o ${text}: expected ${OUTPUT_FORMATS.join(', ')}`)
}

/** The text of all rows. `isSingle`: one resource was named, so that JSON and YAML are that of it instead of a list. */
export function renderListing<Row>(
  { columns, nameOf, dataOf }: Listing<Row>,
  rows: readonly Row[],
  format: OutputFormat,
  isSingle = false,
): string {
  switch (format) {
    case 'name':
      return rows.map((row) => printableText(nameOf(row))).join('\n')
    case 'json':
    case 'yaml': {
      const data = rows.map(dataOf)
      return renderData(isSingle ? data[0] : data, format)
    }
    case 'table':
    case 'wide': {
      const shown = columns.filter(({ isWide }) => format === 'wide' || isWide === undefined)
      const cells = rows.map((row) =>
        shown.map(({ cell, style }) => (style?.(row) ?? plain)(printableText(cell(row)) || '-')),
      )
      return formatColumns([shown.map(({ title }) => bold(title)), ...cells])
    }
  }
}

/** The text of the rows that have changed. Their columns are aligned with those of all rows, and have no titles. */
export function renderChanged<Row>(
  listing: Listing<Row>,
  rows: readonly Row[],
  changed: readonly Row[],
  format: OutputFormat,
): string {
  if (format !== 'table' && format !== 'wide') return renderListing(listing, changed, format)
  const [, ...lines] = renderListing(listing, rows, format).split('\n')
  return lines.filter((_, at) => changed.includes(rows[at]!)).join('\n')
}

/** Control characters of a value are escaped in JSON; YAML escapes them in quoted text. */
export function renderData(data: unknown, format: 'json' | 'yaml'): string {
  const text = format === 'json' ? printExactJson(data, 2) : stringify(data, { lineWidth: 0 }).trimEnd()
  return printableText(text, '\n')
}
