import type { ResourceRow } from '../../operator/main.ts'
import { printableText } from '../terminal/printable-text.ts'
import { bold, dim, green, red, type Style, yellow } from '../terminal/style.ts'
import type { Throughput } from './throughput.ts'

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

const GAP = '   '
const MESSAGE_MIN = 24

const COLUMNS: readonly Column[] = [
  { title: 'KIND', cell: ({ kind }) => ({ text: kind.toLowerCase(), style: dim }) },
  {
    title: 'NAME',
    cell: ({ namespace, name }) => ({ text: ['', 'default'].includes(namespace) ? name : `${namespace}/${name}` }),
  },
  { title: 'CLASS/TYPE', cell: ({ about }) => ({ text: shortClass(about) }) },
  { title: 'READY', cell: (row) => ({ text: row.ready, style: colorOf(row) }) },
  {
    title: 'STATUS',
    cell: (row) => ({ text: row.reason === 'Succeeded' ? stateOf(row) : row.reason, style: colorOf(row) }),
  },
  {
    title: 'RECORDS',
    right: true,
    cell: (row, { throughput }) => ({ text: numberOf(throughputOf(row, throughput)?.records) }),
  },
  {
    title: 'RATE',
    right: true,
    cell: (row, { throughput }) => ({ text: rateOf(throughputOf(row, throughput)?.perSecond) }),
  },
  { title: 'AGE', right: true, cell: ({ since }, { nowMs }) => ({ text: ageOf(since, nowMs), style: dim }) },
]

/** The lines of the table. When not all rows fit, resources that are Ready are left out first. */
export function renderResourceTable(input: ResourceTableInput): readonly string[] {
  const { rows, width, height } = input
  const available = Math.max(1, height - 1)
  const shown = rows.length <= available ? rows : worstFirst(rows).slice(0, available - 1)
  const cells = shown.map((row) => COLUMNS.map((column) => column.cell(row, input)))
  const widths = COLUMNS.map(({ title }, at) =>
    Math.max(title.length, ...cells.map((line) => line[at]?.text.length ?? 0)),
  )
  const used = widths.reduce((sum, width) => sum + width + GAP.length, 0)
  const messageWidth = Math.max(0, width - used)
  const withMessage = messageWidth >= MESSAGE_MIN
  const header = [
    ...COLUMNS.map(({ title, right }, at) => pad(title, widths[at] ?? 0, right)),
    withMessage ? 'MESSAGE' : '',
  ]
  const lines = [bold(cut(header.join(GAP).trimEnd(), width))]
  for (const [index, row] of shown.entries()) {
    const own = (cells[index] ?? []).map(({ text, style }, at) => {
      const padded = pad(text, widths[at] ?? 0, COLUMNS[at]?.right)
      return style === undefined ? padded : style(padded)
    })
    const message = printableText(row.message.replace(/\s+/g, ' '))
    lines.push(withMessage ? `${own.join(GAP)}${GAP}${cut(message, messageWidth)}` : own.join(GAP))
    if (!withMessage && row.ready !== 'True') lines.push(`  ${dim(cut(message, width - 2))}`)
  }
  if (shown.length < rows.length) lines.push(dim(`… and ${rows.length - shown.length} more`))
  return lines
}

function worstFirst(rows: readonly ResourceRow[]): readonly ResourceRow[] {
  const rank = ({ ready, isStalled }: ResourceRow) => (isStalled ? 0 : ready === 'True' ? 2 : 1)
  return [...rows].sort((a, b) => rank(a) - rank(b))
}

function colorOf({ ready, isStalled }: ResourceRow): Style {
  return ready === 'True' ? green : isStalled ? red : yellow
}

/** The state of a Ready resource in a few words. */
function stateOf({ resource, tasks }: ResourceRow): string {
  switch (resource?.kind) {
    case 'Connector': {
      const state = resource.status.state ?? ''
      return `${state.charAt(0)}${state.slice(1).toLowerCase()} ${tasks ?? ''}`.trimEnd()
    }
    case 'Subject':
      return resource.status.version === undefined ? 'Level set' : `Version ${resource.status.version}`
    case 'RegistryMode':
      return resource.status.mode ?? ''
    case undefined:
      return ''
  }
}

/** Undefined for what is not a connector, or has no running task. */
export function throughputOf(
  { resource }: ResourceRow,
  throughput: ReadonlyMap<string, Throughput>,
): Throughput | undefined {
  return resource?.kind === 'Connector' ? throughput.get(resource.spec.name ?? resource.metadata.name) : undefined
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

/** In the units of kubectl. */
export function ageOf(since: string, nowMs: number): string {
  if (since === '') return ''
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(since)) / 1_000))
  if (seconds < 120) return `${seconds}s`
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`
}

function pad(text: string, width: number, right?: boolean): string {
  return right === true ? text.padStart(width) : text.padEnd(width)
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`
}
