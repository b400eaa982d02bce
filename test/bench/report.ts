import { type Figure, isRate, isReached, median, ratiosOf } from './figures.ts'
import type { Outcome } from './part-process.ts'

/** The figures of one part of the benchmark, or the reason why it has none. */
export type PartResult = { readonly part: string } & Outcome<readonly Figure[]>

const COLUMNS = ['PART', 'MEASURED', 'WEIR', 'BESIDE', 'RATIO', 'SPREAD', 'AIM', 'REACHED'] as const
type Row = Readonly<Record<(typeof COLUMNS)[number], string>>

/** Formats the results as one table of aligned columns. */
export function toTable(results: readonly PartResult[]): string {
  const table = [COLUMNS, ...cellsOf(results)]
  const widths = COLUMNS.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
  const lines = table.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  '))
  return lines.map((line) => line.trimEnd()).join('\n')
}

/** Formats the results as a Markdown page. */
export function toMarkdown(title: string, results: readonly PartResult[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  const rule = COLUMNS.map(() => '---')
  return `${[title, '', ...[COLUMNS, rule, ...cellsOf(results)].map(line)].join('\n')}\n`
}

/** Formats the results as JSON: the values of all rounds, their ratio, and whether it reaches the aim. */
export function toJson(title: string, results: readonly PartResult[]): string {
  const parts = results.map((result) =>
    'failure' in result ? result : { ...result, result: result.result.map(withRatio) },
  )
  const rounded = (_: string, value: unknown) => (typeof value === 'number' ? Number(value.toPrecision(4)) : value)
  return JSON.stringify({ title, parts }, rounded, 2)
}

function withRatio(figure: Figure) {
  const ratios = ratiosOf(figure)
  const better = isRate(figure) ? 'larger' : 'smaller'
  return { ...figure, better, ratio: median(ratios), ratios, reached: isReached(figure) }
}

function cellsOf(results: readonly PartResult[]): readonly (readonly string[])[] {
  return results.flatMap(rowsOf).map((row) => COLUMNS.map((column) => row[column]))
}

function rowsOf(result: PartResult): readonly Row[] {
  const { part } = result
  if ('result' in result) return result.result.map((figure) => rowOf(part, figure))
  const none = { WEIR: '', BESIDE: '', RATIO: '', SPREAD: '', AIM: '' }
  return [{ ...none, PART: part, MEASURED: `FAILED: ${result.failure.split('\n', 1)[0]}`, REACHED: 'no' }]
}

function rowOf(part: string, figure: Figure): Row {
  const ratios = ratiosOf(figure)
  return {
    PART: part,
    MEASURED: figure.name,
    WEIR: short(figure.ours, figure),
    BESIDE: `${short(figure.against.values, figure)} ${figure.against.name}`,
    RATIO: median(ratios).toFixed(2),
    SPREAD: ratios.length > 1 ? `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}` : '',
    AIM: `${isRate(figure) ? '≥' : '≤'} ${figure.aim.toFixed(2)}`,
    REACHED: isReached(figure) ? 'yes' : 'no',
  }
}

function short(values: readonly number[], figure: Figure): string {
  const value = median(values)
  if (isRate(figure)) return value < 10_000 ? `${(value / 1000).toFixed(1)} k/s` : `${Math.round(value / 1000)} k/s`
  return `${value < 10 ? value.toFixed(2) : Math.round(value)} ${figure.unit}`
}
