type Unit = 'rec/s' | 'req/s' | 'ms' | 'MB' | 'calls/s' | 'writes'

/** One quantity, measured in every round on each side. */
export type Figure = {
  readonly name: string
  readonly unit: Unit
  /** What ours is measured against, and the ratio it should reach: at least for rates, at most for times, memory and what had better not be. */
  readonly against: { readonly name: string; readonly values: readonly number[] }
  readonly ours: readonly number[]
  readonly aim: number
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted.length / 2
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Ratios are taken within a round, where both sides met the same machine, and then the median of them. */
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

/** For machines: one object a figure, with every round. */
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
