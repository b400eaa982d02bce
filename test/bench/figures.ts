type Unit = 'rec/s' | 'req/s' | 'ms' | 'µs' | 'B' | 'MB' | 'calls/s' | 'writes' | 'connections'

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

/** A figure whose aim is an absolute maximum. No time has one: it would depend on the speed of the machine. */
export function atMost(
  name: string,
  unit: 'MB' | 'calls/s' | 'writes',
  ours: readonly number[],
  limit: number,
): Figure {
  return { name, unit, ours, against: { name: 'allowed', values: ours.map(() => limit) }, aim: 1 }
}

/** A time without a peer, compared with the time of a fixed calculation (`calibration.ts`) in the same round. */
export function besideCalibration(
  name: string,
  ours: readonly number[],
  calibrationMs: readonly number[],
  aim: number,
) {
  return { name, unit: 'ms', ours, against: { name: 'calibration', values: calibrationMs }, aim } satisfies Figure
}

/** Minimum of a rate beside the commit before, and the reciprocal for all other quantities. */
const REVISION_AIM = 0.8
/** Rows that gave up a second representation of records (ADR 14) are allowed more. */
const COLUMN_ROWS = /^table → topic.*Avro$/
const COLUMN_AIM = 0.6

/** Joins the rounds of this checkout and adds, after each figure, the same figure of another revision. */
export function besideRevision(
  mine: readonly (readonly Figure[])[],
  theirs: readonly (readonly Figure[])[],
  name: string,
): readonly Figure[] {
  // The same code measures both, so that their figures have the same order. A name may contain a measured size.
  const others = joinRounds(theirs)
  return joinRounds(mine).flatMap((figure, at) => {
    const other = others[at]!
    const aim = COLUMN_ROWS.test(figure.name) ? COLUMN_AIM : REVISION_AIM
    return [figure, { ...figure, against: { name, values: other.ours }, aim: isRate(figure) ? aim : 1 / aim }]
  })
}

function joinRounds(rounds: readonly (readonly Figure[])[]): readonly Figure[] {
  return rounds[0]!.map((figure, at) => ({
    ...figure,
    ours: rounds.flatMap((round) => round[at]!.ours),
    against: { ...figure.against, values: rounds.flatMap((round) => round[at]!.against.values) },
  }))
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
