import { counted } from '../../common/counted.ts'

// What the worker keeps of a connector's metrics (`GET /ui/api/connectors/{name}/metrics`), and the plots that show it.

type Values = readonly (number | null)[]

/** What one worker of the group has recorded. A series that is absent was always 0. */
export type MetricsPart = {
  readonly worker: string
  readonly tasks: readonly { readonly task: number; readonly startedMs: number }[]
  readonly times?: readonly number[]
  readonly series?: Readonly<Record<string, Values>>
  /** By partition. */
  readonly lags?: Readonly<Record<string, Values>>
  readonly isIncomplete?: boolean
}
export type MetricsResponse = { readonly workers: readonly MetricsPart[]; readonly missing: readonly string[] }

export type PlotLine = { readonly label: string; readonly values: Values }
export type Plot = {
  readonly title: string
  readonly unit: string
  readonly times: readonly number[]
  readonly lines: readonly PlotLine[]
  /** Explains the values, where their names do not suffice. */
  readonly note?: string
}

const HOUR_MS = 3_600_000
const STEP_MS = 10_000
const LINES_MAX = 5

type Combine = (a: number, b: number) => number
const sum: Combine = (a, b) => a + b
const max: Combine = (a, b) => Math.max(a, b)

/**
 * The plots of a connector. Rates and counts of several workers are added; of lags and durations, the highest is shown. Sources
 * have no lag, and only what has a value is shown of durations.
 */
export function metricsPlots({ workers }: MetricsResponse, type: string): readonly Plot[] {
  const times = timesOf(workers)
  if (times.length === 0) return []
  const line = (label: string, name: string, combine: Combine, isZero = true): PlotLine => ({
    label,
    values: combined(times, workers, ({ series }) => series?.[name] ?? (isZero ? 0 : undefined), combine),
  })
  const hasValue = ({ values }: PlotLine) => values.some((value) => value !== null)
  const [read, written] = type === 'sink' ? ['read from topics', 'accepted'] : ['polled', 'written to topics']
  const durations = [
    line(type === 'sink' ? 'put' : 'poll', 'batchMs', max, false),
    line('offset commit', 'commitMs', max, false),
  ]
  const latency = line(type === 'sink' ? 'mean age' : 'behind the source', 'latencyMs', max, false)
  return [
    {
      title: 'Throughput',
      unit: 'records/s',
      times,
      lines: [line(written, 'recordsOut', sum), line(read, 'recordsIn', sum)],
    },
    ...(type === 'sink' ? [lagPlot(times, workers, line('all partitions', 'lag', max))] : []),
    ...(hasValue(latency)
      ? [
          {
            title: 'Latency',
            unit: 'ms',
            times,
            lines: [latency],
            note:
              type === 'sink'
                ? 'From the timestamp of a record until the sink accepted it.'
                : 'Age of the last data that the source read.',
          },
        ]
      : []),
    ...(durations.some(hasValue)
      ? [{ title: 'Mean durations', unit: 'ms', times, lines: durations.filter(hasValue) }]
      : []),
    {
      title: 'Errors',
      unit: 'records in 10 s',
      times,
      lines: [line('failed', 'errors', sum), line('dead letters', 'deadLetters', sum)],
    },
  ]
}

/** The partitions with the highest lags of the last hour. */
function lagPlot(times: readonly number[], workers: readonly MetricsPart[], highest: PlotLine): Plot {
  const partitions = [...new Set(workers.flatMap(({ lags }) => Object.keys(lags ?? {})))]
  const lines = partitions
    .map((label) => ({ label, values: combined(times, workers, ({ lags }) => lags?.[label], max) }))
    .sort((a, b) => (highestOf(b.values) ?? 0) - (highestOf(a.values) ?? 0) || (a.label < b.label ? -1 : 1))
  return {
    title: 'Lag',
    unit: 'records',
    times,
    lines: lines.length > 0 ? lines.slice(0, LINES_MAX) : [highest],
    ...(lines.length > LINES_MAX && {
      note: `The ${LINES_MAX} of ${counted(lines.length, 'partition')} with the highest lag.`,
    }),
  }
}

/** One time for each sample of all workers, which do not sample at the same moment. */
function timesOf(workers: readonly MetricsPart[]): readonly number[] {
  const steps = new Set(workers.flatMap(({ times }) => (times ?? []).map((time) => Math.floor(time / STEP_MS))))
  const last = Math.max(...steps)
  return [...steps]
    .filter((step) => (last - step) * STEP_MS <= HOUR_MS)
    .sort((a, b) => a - b)
    .map((step) => step * STEP_MS)
}

/**
 * Workers do not sample at the same moment: one without a sample at a time counts with the one before, so that the sum of all
 * is not that of some.
 */
function combined(
  times: readonly number[],
  workers: readonly MetricsPart[],
  read: (worker: MetricsPart) => Values | 0 | undefined,
  combine: Combine,
): Values {
  const samples = workers.map((worker) => samplesOf(worker, read(worker)))
  return times.map((time) => {
    const known = samples
      .map((ofWorker) => (ofWorker.has(time) ? ofWorker.get(time) : ofWorker.get(time - STEP_MS)))
      .filter((value) => typeof value === 'number')
    return known.length === 0 ? null : known.reduce(combine)
  })
}

function samplesOf({ times = [] }: MetricsPart, values: Values | 0 | undefined): ReadonlyMap<number, number | null> {
  if (values === undefined) return new Map()
  return new Map(
    times.map((time, at) => [Math.floor(time / STEP_MS) * STEP_MS, values === 0 ? 0 : (values[at] ?? null)] as const),
  )
}

/** Undefined if there is no value. */
export function lastOf(values: Values): number | undefined {
  return values.findLast((value) => value !== null) ?? undefined
}

export function highestOf(values: Values): number | undefined {
  return values.reduce<number | undefined>(
    (highest, value) => (value === null ? highest : Math.max(highest ?? 0, value)),
    undefined,
  )
}

/** Three digits, with a thousands separator that is the same everywhere. */
export function formatValue(value: number | undefined): string {
  if (value === undefined) return 'no value'
  const rounded = value >= 100 ? Math.round(value) : Number(value.toPrecision(3))
  return rounded.toLocaleString('en-US', { maximumFractionDigits: 3 })
}

/** Where a plot is drawn: from `endMs - spanMs` to `endMs`, and from 0 to `top`. */
export type PlotArea = {
  readonly times: readonly number[]
  readonly endMs: number
  readonly spanMs: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/** The time span of the plot in whole minutes: one hour, or less if fewer samples exist. */
export function plotSpanMs(times: readonly number[]): number {
  const lengthMs = (times.at(-1) ?? 0) - (times[0] ?? 0)
  return Math.min(HOUR_MS, Math.max(SPAN_MIN_MS, Math.ceil(lengthMs / 60_000) * 60_000))
}
const SPAN_MIN_MS = 5 * 60_000

/** The path of a line. It is interrupted where values are missing. */
export function plotPath(values: Values, { times, endMs, spanMs, top, width, height }: PlotArea): string {
  let path = ''
  let lastMs = Number.NEGATIVE_INFINITY
  for (const [at, value] of values.entries()) {
    const time = times[at] ?? 0
    if (value === null || time < endMs - spanMs) continue
    const x = (((time - endMs + spanMs) / spanMs) * width).toFixed(1)
    const y = (height - (value / top) * height).toFixed(1)
    // A single value is visible as a dot.
    path += time - lastMs > 3 * STEP_MS ? `M${x} ${y}h1` : `L${x} ${y}`
    lastMs = time
  }
  return path
}

/** One row for each of the last minutes that have values, the newest first. */
export function plotTable({ times, lines }: Plot): readonly { readonly time: number; readonly values: Values }[] {
  const byMinute = Map.groupBy(times.keys(), (at) => Math.floor((times[at] ?? 0) / 60_000))
  return [...byMinute]
    .map(([minute, at]) => ({
      time: minute * 60_000,
      values: lines.map(({ values }) => lastOf(at.map((index) => values[index] ?? null)) ?? null),
    }))
    .reverse()
}
