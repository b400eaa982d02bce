type Unit = 'rec/s' | 'req/s' | 'ms' | 'µs' | 'B' | 'MB' | 'calls/s' | 'writes'

/** One quantity, measured once per round for Weir and for the system it is compared with. */
export type Figure = {
  readonly name: string
  /** Of a rate, a larger value is better. Of all other quantities, a smaller value is better. */
  readonly unit: Unit
  /** The system that Weir is compared with. */
  readonly against: { readonly name: string; readonly values: readonly number[] }
  readonly ours: readonly number[]
  /** Target ratio of Weir's value to the other: a minimum for rates, a maximum for times, memory and calls. */
  readonly aim: number
}

/** A figure whose aim is an absolute maximum. */
export function atMost(name: string, unit: Figure['unit'], ours: readonly number[], limit: number): Figure {
  return { name, unit, ours, against: { name: 'allowed', values: ours.map(() => limit) }, aim: 1 }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted.length / 2
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The ratios of all rounds. Within a round, conditions on the machine are similar for both sides. */
export function ratiosOf({ ours, against }: Figure): readonly number[] {
  return ours.map((value, round) => value / against.values[round]!)
}

export function isReached(figure: Figure): boolean {
  const ratio = median(ratiosOf(figure))
  return isRate(figure) ? ratio >= figure.aim : ratio <= figure.aim
}

export function isRate({ unit }: Figure): boolean {
  return unit === 'rec/s' || unit === 'req/s'
}
