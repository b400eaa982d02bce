type Unit = 'rec/s' | 'req/s' | 'ms' | 'B' | 'MB' | 'calls/s' | 'writes'

/** One quantity, measured once per round for Weir and for the system it is compared with. */
export type Figure = {
  readonly name: string
  readonly unit: Unit
  /** The system that Weir is compared with. */
  readonly against: { readonly name: string; readonly values: readonly number[] }
  readonly ours: readonly number[]
  /** Target ratio of Weir's value to the other: a minimum for rates, a maximum for times, memory and calls. */
  readonly aim: number
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted.length / 2
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The median of the ratios of all rounds. Within a round, conditions on the machine are similar for both sides. */
export function ratioOf({ ours, against }: Figure): number {
  return median(ours.map((value, round) => value / against.values[round]!))
}

export function isReached(figure: Figure): boolean {
  return isRate(figure.unit) ? ratioOf(figure) >= figure.aim : ratioOf(figure) <= figure.aim
}

export function toTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.name,
    short(figure.ours, figure.unit),
    `${short(figure.against.values, figure.unit)} ${figure.against.name}`,
    `${ratioOf(figure).toFixed(2)}`,
    `${isRate(figure.unit) ? '≥' : '≤'} ${figure.aim.toFixed(2)}`,
    isReached(figure) ? 'yes' : 'no',
  ])
  const table = [['', 'WEIR', 'BESIDE', 'RATIO', 'AIM', 'REACHED'], ...rows]
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
  return table
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Formats the figures as JSON, one object per figure with the values of all rounds. */
export function toJson(figures: readonly Figure[]): string {
  return JSON.stringify(
    figures.map((figure) => ({ ...figure, ratio: ratioOf(figure), reached: isReached(figure) })),
    (_, value) => (typeof value === 'number' ? Number(value.toPrecision(4)) : value),
  )
}

function isRate(unit: Unit): boolean {
  return unit === 'rec/s' || unit === 'req/s'
}

function short(values: readonly number[], unit: Unit): string {
  const value = median(values)
  if (isRate(unit)) return value < 10_000 ? `${(value / 1000).toFixed(1)} k/s` : `${Math.round(value / 1000)} k/s`
  return `${value < 10 ? value.toFixed(2) : Math.round(value)} ${unit}`
}
