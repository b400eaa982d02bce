import type { Clock } from '../../common/clock.ts'
import type { TaskCounters } from '../tasks/task-counters.ts'
import type { PartitionLag } from '../tasks/task-spec.ts'

/** A task whose metrics are sampled. */
export type SampledTask = {
  readonly id: { readonly connector: string }
  readonly running?: { counters(): TaskCounters } | undefined
  readonly lags: readonly PartitionLag[]
}

export type SeriesName = (typeof SERIES)[number]['name']
/** The values of a series, one for each time; null where it has none. */
type Values = readonly (number | null)[]

/** The metrics of a connector's tasks on this worker. A series that has had no value other than 0 is absent. */
export type ConnectorHistory = {
  /** In ms since 1970. */
  readonly times: readonly number[]
  readonly series: Readonly<Partial<Record<SeriesName, Values>>>
  /** The lags of the partitions (`topic-number`) with the highest lags. */
  readonly lags: Readonly<Record<string, Values>>
  /** The worker keeps the history of other connectors, and that of this one from now on. */
  readonly isIncomplete: boolean
}

/** The present state of a connector's tasks on this worker; `recordsPerSecond` is null while it is unknown. */
export type ConnectorLoad = {
  readonly recordsPerSecond: number | null
  readonly lag: number
  /** Records that failed in the last hour. */
  readonly errors: number
}

export const SAMPLE_INTERVAL_MS = 10_000
/** One hour. */
export const SAMPLES_MAX = 360
/** Maximum number of series of all connectors, which take 6 MB. */
export const SERIES_MAX = 4_096
const PARTITIONS_MAX = 16

/** Columns of a connector's row: sums over its tasks, except for the last two. */
const COLUMN = {
  in: 0,
  out: 1,
  latencyMs: 2,
  batches: 3,
  batchMs: 4,
  commits: 5,
  commitMs: 6,
  errors: 7,
  deadLetters: 8,
  lag: 9,
  sourceLagMs: 10,
} as const
const COLUMNS = Object.keys(COLUMN).length

/** What happened in the seconds between two samples. `of` is the increase of a column, and `now` its value. */
type Interval = {
  readonly of: (column: keyof typeof COLUMN) => number
  readonly now: (column: keyof typeof COLUMN) => number
  readonly seconds: number
}
/** NaN: there is no value. */
type ReadSeries = { readonly name: string; readonly read: (interval: Interval) => number }

const SERIES = [
  { name: 'recordsIn', read: ({ of, seconds }) => of('in') / seconds },
  { name: 'recordsOut', read: ({ of, seconds }) => of('out') / seconds },
  { name: 'lag', read: ({ now }) => now('lag') },
  { name: 'latencyMs', read: ({ of, now }) => now('sourceLagMs') || of('latencyMs') / of('out') },
  { name: 'batchMs', read: ({ of }) => of('batchMs') / of('batches') },
  { name: 'commitMs', read: ({ of }) => of('commitMs') / of('commits') },
  { name: 'errors', read: ({ of }) => of('errors') },
  { name: 'deadLetters', read: ({ of }) => of('deadLetters') },
] as const satisfies readonly ReadSeries[]

type Connector = {
  readonly row: number
  /** Numbers of samples: from which it is recorded, when it had tasks, and when it was read. */
  first: number
  seen: number
  read: number
  isIncomplete: boolean
  series: Map<string, Float32Array> | undefined
  lags: Map<string, Float32Array> | undefined
}

/**
 * The metrics of the last hour of each connector with tasks on this worker. A series has memory from its first value other
 * than 0 on. When there are more series than `SERIES_MAX`, a connector that somebody reads gets the memory of the one that
 * nobody has read for longest.
 */
export class MetricsHistory {
  readonly #clock: Pick<Clock, 'nowMs' | 'monotonicMs'>
  readonly #seriesMax: number
  readonly #connectors = new Map<string, Connector>()
  readonly #times = new Float64Array(SAMPLES_MAX)
  /** One row for each connector, at the last sample and at the one before it. */
  #present = new Float64Array(0)
  #previous = new Float64Array(0)
  #rows = 0
  #freeRows: number[] = []
  #samples = 0
  #sampledMs: number
  #seconds = Number.NaN
  #seriesCount = 0

  constructor(clock: Pick<Clock, 'nowMs' | 'monotonicMs'>, seriesMax = SERIES_MAX) {
    this.#clock = clock
    this.#seriesMax = seriesMax
    this.#sampledMs = clock.monotonicMs()
  }

  /** Number of series in memory. */
  get seriesCount(): number {
    return this.#seriesCount
  }

  /** To be called every `SAMPLE_INTERVAL_MS`. */
  sample(tasks: Iterable<SampledTask>): void {
    const nowMs = this.#clock.monotonicMs()
    this.#seconds = (nowMs - this.#sampledMs) / 1_000
    this.#sampledMs = nowMs
    this.#times[this.#samples % SAMPLES_MAX] = this.#clock.nowMs()
    ;[this.#previous, this.#present] = [this.#present, this.#previous]
    this.#present.fill(0)
    const lags = new Map<Connector, (readonly PartitionLag[])[]>()
    for (const { id, running, lags: own } of tasks) {
      const connector = this.#connectors.get(id.connector) ?? this.#add(id.connector)
      connector.seen = this.#samples
      if (running) addCounters(this.#present, connector.row, running.counters())
      if (own.length > 0) lags.set(connector, [...(lags.get(connector) ?? []), own])
    }
    for (const [name, connector] of this.#connectors) {
      if (this.#samples - connector.seen >= SAMPLES_MAX) this.delete(name)
      else this.#record(connector, lags.get(connector)?.flat() ?? [])
    }
    this.#samples += 1
  }

  /** Undefined if the connector has had no task on this worker. */
  read(name: string): ConnectorHistory | undefined {
    const connector = this.#connectors.get(name)
    if (connector === undefined) return undefined
    connector.read = this.#samples
    const { isIncomplete } = connector
    if (isIncomplete) this.#makeRoom(connector)
    const first = Math.max(connector.first, this.#samples - SAMPLES_MAX)
    const at = Array.from({ length: this.#samples - first }, (_, index) => (first + index) % SAMPLES_MAX)
    const valuesOf = (all: ReadonlyMap<string, Float32Array> | undefined) =>
      Object.fromEntries(
        [...(all ?? [])].map(([key, values]) => [key, at.map((index) => rounded(values[index] ?? Number.NaN))]),
      )
    return {
      times: at.map((index) => this.#times[index] ?? 0),
      series: valuesOf(connector.series),
      lags: valuesOf(connector.lags),
      isIncomplete,
    }
  }

  /** By connector, of those that the caller may read. */
  loads(isReadable: (name: string) => boolean): Readonly<Record<string, ConnectorLoad>> {
    const entries = [...this.#connectors].filter(([name, { seen }]) => seen === this.#samples - 1 && isReadable(name))
    return Object.fromEntries(
      entries.map(([name, connector]) => {
        const { of, now, seconds } = this.#intervalOf(connector)
        const errors = connector.series?.get('errors')?.reduce((sum, count) => sum + (count || 0), 0) ?? 0
        return [name, { recordsPerSecond: rounded(of('out') / seconds), lag: now('lag'), errors }]
      }),
    )
  }

  /** Forgets a connector. */
  delete(name: string): void {
    const connector = this.#connectors.get(name)
    if (connector === undefined) return
    this.#dropSeries(connector)
    this.#connectors.delete(name)
    this.#freeRows.push(connector.row)
    this.#present.fill(0, connector.row * COLUMNS, (connector.row + 1) * COLUMNS)
    this.#previous.fill(0, connector.row * COLUMNS, (connector.row + 1) * COLUMNS)
  }

  #add(name: string): Connector {
    const row = this.#freeRows.pop() ?? this.#rows++
    if (this.#present.length < this.#rows * COLUMNS) {
      this.#present = grown(this.#present)
      this.#previous = grown(this.#previous)
    }
    const connector: Connector = {
      row,
      first: this.#samples,
      seen: this.#samples,
      read: -1,
      isIncomplete: false,
      series: undefined,
      lags: undefined,
    }
    this.#connectors.set(name, connector)
    return connector
  }

  #record(connector: Connector, lags: readonly PartitionLag[]): void {
    const interval = this.#intervalOf(connector)
    const hasTasks = connector.seen === this.#samples
    for (const { name, read } of SERIES) this.#write(connector, 'series', name, hasTasks ? read(interval) : Number.NaN)
    // A partition without a report has no lag that this worker knows.
    for (const values of connector.lags?.values() ?? []) values[this.#samples % SAMPLES_MAX] = Number.NaN
    for (const [partition, records] of lags) {
      const isKnown = connector.lags?.has(partition) === true
      if (isKnown || (connector.lags?.size ?? 0) < PARTITIONS_MAX) this.#write(connector, 'lags', partition, records)
    }
    // Once an hour, at different times for each connector.
    if ((this.#samples - connector.first) % SAMPLES_MAX === SAMPLES_MAX - 1) this.#dropZeros(connector)
  }

  /** A task that is started again counts from 0: the increase since the sample before is unknown. */
  #intervalOf({ row }: Connector): Interval {
    const now = (column: keyof typeof COLUMN) => this.#present[row * COLUMNS + COLUMN[column]] ?? 0
    const increase = (column: keyof typeof COLUMN) =>
      now(column) - (this.#previous[row * COLUMNS + COLUMN[column]] ?? 0)
    const hasRestarted = (['in', 'out', 'batches', 'errors'] as const).some((column) => increase(column) < 0)
    return { now, of: (column) => (hasRestarted ? Number.NaN : increase(column)), seconds: this.#seconds }
  }

  #write(connector: Connector, kind: 'series' | 'lags', key: string, value: number): void {
    const values = connector[kind]?.get(key) ?? (value > 0 ? this.#allocate(connector, kind, key) : undefined)
    if (values) values[this.#samples % SAMPLES_MAX] = value
  }

  #allocate(connector: Connector, kind: 'series' | 'lags', key: string): Float32Array | undefined {
    connector.isIncomplete ||= this.#seriesCount >= this.#seriesMax
    if (connector.isIncomplete) return undefined
    this.#seriesCount += 1
    // It was 0 until now, but a mean of nothing is no value.
    const values = new Float32Array(SAMPLES_MAX).fill(key.endsWith('Ms') ? Number.NaN : 0)
    connector[kind] ??= new Map()
    connector[kind].set(key, values)
    return values
  }

  /** Takes the memory of the connector that was read least recently. */
  #makeRoom(connector: Connector): void {
    connector.isIncomplete = false
    connector.first = this.#samples
    if (this.#seriesCount < this.#seriesMax) return
    let oldest: Connector | undefined
    for (const other of this.#connectors.values()) {
      const hasSeries = other.series !== undefined || other.lags !== undefined
      if (other !== connector && hasSeries && other.read < (oldest?.read ?? connector.read)) oldest = other
    }
    if (oldest === undefined) return
    this.#dropSeries(oldest)
    oldest.isIncomplete = true
  }

  #dropSeries(connector: Connector): void {
    this.#seriesCount -= (connector.series?.size ?? 0) + (connector.lags?.size ?? 0)
    connector.series = undefined
    connector.lags = undefined
  }

  #dropZeros(connector: Connector): void {
    for (const kind of ['series', 'lags'] as const) {
      for (const [key, values] of connector[kind] ?? []) {
        if (values.some((value) => value > 0)) continue
        connector[kind]?.delete(key)
        this.#seriesCount -= 1
      }
    }
  }
}

function addCounters(rows: Float64Array, row: number, counters: TaskCounters): void {
  const add = (column: keyof typeof COLUMN, value: number) => {
    rows[row * COLUMNS + COLUMN[column]]! += value
  }
  add('in', counters.recordsIn)
  add('out', counters.recordsOut)
  add('latencyMs', counters.latencyMsTotal)
  add('batches', counters.batches)
  add('batchMs', counters.batchMsTotal)
  add('commits', counters.commits + counters.commitFailures)
  add('commitMs', counters.commitMsTotal)
  add('errors', counters.errors)
  add('deadLetters', counters.deadLetters)
  const raise = (column: 'lag' | 'sourceLagMs', value: number) => {
    const at = row * COLUMNS + COLUMN[column]
    rows[at] = Math.max(rows[at] ?? 0, value)
  }
  raise('lag', counters.recordsLag)
  raise('sourceLagMs', counters.sourceLagMs)
}

function grown(rows: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(Math.max(16 * COLUMNS, 2 * rows.length))
  larger.set(rows)
  return larger
}

/** Four digits are enough for a plot. Null for NaN. */
function rounded(value: number): number | null {
  return Number.isFinite(value) ? Number(value.toPrecision(4)) : null
}
