import sliceAnsi from 'slice-ansi'
import stringWidth from 'string-width'
import { type ResourceRow, resourceState } from '../../operator/main.ts'
import { ageOf } from '../terminal/age.ts'
import { printableText } from '../terminal/printable-text.ts'
import { bold, dim, green, red, type Style, yellow } from '../terminal/style.ts'
import { type Throughput, throughputOfRow } from './throughput.ts'

export type ResourceTableInput = {
  readonly rows: readonly ResourceRow[]
  /** By connector name. */
  readonly throughput: ReadonlyMap<string, Throughput>
  readonly nowMs: number
  /** Characters in a line. */
  readonly width: number
  /** Lines that are available. */
  readonly height: number
}

type Cell = { readonly text: string; readonly style?: Style }
type Column = { readonly title: string; readonly right?: true; cell(row: ResourceRow, input: ResourceTableInput): Cell }

const GAP = '  '
/** The columns that a narrow terminal lacks, the first one first. */
const DISPENSABLE = ['AGE', 'CLASS/TYPE', 'RATE', 'RECORDS', 'KIND']
/** A name is cut off to this width, at least, if the columns still do not fit. */
const NAME_MIN = 12

const COLUMNS: readonly Column[] = [
  { title: 'KIND', cell: ({ kind }) => ({ text: kind.toLowerCase(), style: dim }) },
  {
    title: 'NAME',
    cell: ({ namespace, name }) => ({
      text: printableText(['', 'default'].includes(namespace) ? name : `${namespace}/${name}`),
    }),
  },
  { title: 'CLASS/TYPE', cell: ({ about }) => ({ text: shortClass(about) }) },
  { title: 'READY', cell: (row) => ({ text: row.ready, style: colorOf(row) }) },
  {
    title: 'STATUS',
    cell: (row) => ({ text: resourceState(row), style: colorOf(row) }),
  },
  {
    title: 'RECORDS',
    right: true,
    cell: (row, { throughput }) => ({ text: numberOf(throughputOfRow(row, throughput)?.records) }),
  },
  {
    title: 'RATE',
    right: true,
    cell: (row, { throughput }) => ({ text: rateOf(throughputOfRow(row, throughput)?.perSecond) }),
  },
  { title: 'AGE', right: true, cell: ({ since }, { nowMs }) => ({ text: ageOf(since, nowMs), style: dim }) },
]

/**
 * The lines of the table. On a narrow terminal, columns are left out and names cut off. When not all rows fit, resources that are Ready are
 * left out first.
 */
export function renderResourceTable(input: ResourceTableInput): readonly string[] {
  const { rows, width, height } = input
  const available = Math.max(1, height - 1)
  const shown = rows.length <= available ? rows : worstFirst(rows).slice(0, available - 1)
  const columns = fittingColumns(
    COLUMNS.map((column) => layOut(column, shown, input)),
    width,
  )
  const lines = [
    bold(
      columns
        .map(({ column, width }) => fill(column.title, width, column.right))
        .join(GAP)
        .trimEnd(),
    ),
  ]
  for (const at of shown.keys()) {
    const cells = columns.map(({ cells, column, width }) => {
      const { text, style = (plain: string) => plain } = cells[at]!
      return style(fill(text, width, column.right))
    })
    lines.push(cells.join(GAP))
  }
  if (shown.length < rows.length) lines.push(dim(`… and ${rows.length - shown.length} more`))
  return lines
}

type LaidOutColumn = { readonly column: Column; readonly cells: readonly Cell[]; readonly width: number }

function layOut(column: Column, rows: readonly ResourceRow[], input: ResourceTableInput): LaidOutColumn {
  const cells = rows.map((row) => column.cell(row, input))
  return { column, cells, width: Math.max(column.title.length, ...cells.map(({ text }) => stringWidth(text))) }
}

function fittingColumns(columns: readonly LaidOutColumn[], width: number): readonly LaidOutColumn[] {
  let fitting = columns
  const excess = () => fitting.reduce((sum, column) => sum + column.width + GAP.length, -GAP.length) - width
  for (const title of DISPENSABLE) if (excess() > 0) fitting = fitting.filter(({ column }) => column.title !== title)
  const tooWide = excess()
  if (tooWide <= 0) return fitting
  return fitting.map((one) =>
    one.column.title === 'NAME' ? { ...one, width: Math.max(NAME_MIN, one.width - tooWide) } : one,
  )
}

/** What needs attention first. */
export function worstFirst(rows: readonly ResourceRow[]): readonly ResourceRow[] {
  const rank = ({ ready, isStalled }: ResourceRow) => (isStalled ? 0 : ready === 'True' ? 2 : 1)
  return [...rows].sort((a, b) => rank(a) - rank(b))
}

export function colorOf({ ready, isStalled }: ResourceRow): Style {
  return ready === 'True' ? green : isStalled ? red : yellow
}

/** The class without its Java package. */
function shortClass(about: string): string {
  return about.slice(about.lastIndexOf('.') + 1)
}

function numberOf(count: number | undefined): string {
  return count === undefined ? '' : count.toLocaleString('en-US')
}

function rateOf(perSecond: number | undefined): string {
  if (perSecond === undefined) return ''
  return `${perSecond >= 10 ? Math.round(perSecond).toLocaleString('en-US') : perSecond.toFixed(1)}/s`
}

/** A text of exactly this width: filled up, or cut off. */
function fill(text: string, width: number, right?: boolean): string {
  const used = stringWidth(text)
  if (used > width) return `${sliceAnsi(text, 0, width - 1)}…`
  const blank = ' '.repeat(width - used)
  return right === true ? blank + text : text + blank
}
