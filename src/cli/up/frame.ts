import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'
import type { ResourceRow } from '../../operator/main.ts'
import { printableText } from '../terminal/printable-text.ts'
import { bold, dim } from '../terminal/style.ts'
import { colorOf, type ResourceTableInput, renderResourceTable, worstFirst } from './resource-table.ts'

export type FrameInput = ResourceTableInput & {
  readonly manifests: string
  readonly broker: string
  readonly registryUrl: string
  readonly workerUrl: string
  readonly consoleUrl?: string | undefined
  /** Commands to try. */
  readonly suggestions: readonly string[]
}

/** The part of the lines below the header that the messages of problems may take from the table. */
const PROBLEMS_MAX = 0.6
const TABLE_MIN = 4

/**
 * What `weir up` shows on a terminal of this size: a table of the resources, and below it the whole messages of those that are not
 * Ready. On a low terminal, first the suggestions are left out, then the addresses, then resources that are Ready.
 */
export function renderFrame(input: FrameInput): readonly string[] {
  const { rows, manifests, width, height } = input
  if (rows.length === 0) {
    const hint = `no manifests in ${manifests} yet: save a .yaml file there to apply it`
    return [...headerOf(input), ...wrapped(hint, width).map(dim)].slice(0, height)
  }
  const problems = worstFirst(rows).flatMap((row) => problemLines(row, width))
  const below = problems.length === 0 ? [] : ['', ...problems]
  const footer = input.suggestions.map((hint, at) => `${dim(at === 0 ? 'try' : '   ')} ${hint}`)
  for (const [header, last] of [
    [headerOf(input), ['', ...footer]],
    [headerOf(input), []],
    [[titleOf(input), ''], []],
  ] as const) {
    const tableHeight = height - header.length - below.length - last.length
    if (tableHeight > rows.length)
      return [...header, ...renderResourceTable({ ...input, height: tableHeight }), ...below, ...last]
  }
  return renderCrowded(input, below)
}

function renderCrowded(input: FrameInput, below: readonly string[]): readonly string[] {
  const title = [titleOf(input), '']
  const free = input.height - title.length
  const belowHeight = Math.min(below.length, Math.floor(free * PROBLEMS_MAX))
  const table = renderResourceTable({ ...input, height: Math.max(TABLE_MIN, free - belowHeight) })
  return [...title, ...table, ...firstOf(below, free - table.length)].slice(0, input.height)
}

function firstOf(lines: readonly string[], count: number): readonly string[] {
  if (lines.length <= count) return lines
  const shown = lines.slice(0, Math.max(0, count - 1))
  return [...shown, dim(`… and ${lines.length - shown.length} more lines`)]
}

function titleOf({ manifests, width }: FrameInput): string {
  const title = `${bold('weir')} reconciles ${bold(manifests)}`
  const hint = `   ${dim('press Ctrl-C to stop; data is kept for the next start')}`
  return stringWidth(title + hint) <= width ? title + hint : title
}

function headerOf(input: FrameInput): readonly string[] {
  const { broker, registryUrl, workerUrl, consoleUrl, width } = input
  const runtimes = `registry ${registryUrl}   worker ${workerUrl}`
  const oneLine = `broker ${broker}   ${runtimes}`
  const addresses = stringWidth(oneLine) <= width ? [oneLine] : [`broker ${broker}`, runtimes]
  return [
    titleOf(input),
    ...(consoleUrl === undefined ? [] : [`console ${bold(consoleUrl)}`]),
    ...addresses.map(dim),
    '',
  ]
}

/** Name, reason and whole message of a resource that is not Ready. */
function problemLines(row: ResourceRow, width: number): readonly string[] {
  const { kind, name, reason, ready, message } = row
  if (ready === 'True' || message === '') return []
  const text = printableText(message.replace(/\s+/g, ' '))
  return [
    `${colorOf(row)('●')} ${kind.toLowerCase()} ${bold(printableText(name))}: ${colorOf(row)(reason)}`,
    ...wrapped(text, width - 2).map((line) => `  ${line}`),
  ]
}

function wrapped(text: string, width: number): readonly string[] {
  return wrapAnsi(text, width, { hard: true }).split('\n')
}
