import type { Broker, StoredRecord } from '../broker/broker.ts'
import { systemClock } from '../common/clock.ts'
import { type FoundRecord, mergeRecords, type PartitionScan } from './merge-records.ts'
import { type OffsetRange, offsetRanges, type RangeQuery, type TopicRanges } from './offset-ranges.ts'
import { type RecordVisitor, readRanges } from './read-ranges.ts'

// Reads records of a topic to show them. The records can be anything, and there can be any number, so everything has a limit.

/** From `end`, the newest records come first; otherwise the oldest. */
export type RecordScan = RangeQuery & {
  /** Number of records to return. */
  readonly limit: number
}

/** The limit that ended a scan before it had found enough. `broker`: the brokers returned nothing for some seconds. */
export type ScanStop = 'records' | 'bytes' | 'cpu' | 'time' | 'broker'

export type RecordScanResult<View> = {
  readonly records: readonly FoundRecord<View>[]
  /** Where the next scan of this direction continues. */
  readonly positions: ReadonlyMap<number, number>
  /** Whether there are more records in this direction, as far as is known. */
  readonly hasMore: boolean
  /** The partitions that are read: the first ones of the topic. */
  readonly partitions: TopicRanges['partitions']
  readonly partitionCount: number
  readonly scanned: { readonly records: number; readonly bytes: number }
  readonly stoppedBy: ScanStop | undefined
}

/** Turns a record into what is shown of it. Undefined if it is not wanted. A record may be passed twice. */
export type ViewRecord<View> = (
  record: StoredRecord,
  partition: number,
) => Promise<{ readonly view: View; readonly size: number } | undefined>

export type ScanLimits = {
  readonly recordsMax: number
  readonly bytesMax: number
  /** Maximum number of bytes that are read at a time when a scan goes backwards. */
  readonly windowBytesMax: number
  readonly cpuMsMax: number
  /** CPU time of this thread. */
  readonly cpuMs: () => number
  /** On a busy machine, a request is answered with what was found in this time. */
  readonly elapsedMsMax: number
}

export const SCAN_LIMITS: ScanLimits = {
  recordsMax: 100_000,
  bytesMax: 64 * 1024 * 1024,
  windowBytesMax: 16 * 1024 * 1024,
  cpuMsMax: 5_000,
  cpuMs: () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1_000
  },
  elapsedMsMax: 15_000,
}

const SCANNED_PARTITIONS_MAX = 200
/** Of all records that are returned, in characters. */
const RESULT_SIZE_MAX = 4 * 1024 * 1024
/** Of all records that are found, from which those to return are chosen. */
const FOUND_SIZE_MAX = 4 * RESULT_SIZE_MAX

/** Finds records of a topic. Undefined if the topic, or the partition, does not exist. */
export async function scanRecords<View>(
  broker: Broker,
  scan: RecordScan,
  view: ViewRecord<View>,
  limits: ScanLimits = SCAN_LIMITS,
): Promise<RecordScanResult<View> | undefined> {
  const found = await offsetRanges(broker, scan, SCANNED_PARTITIONS_MAX)
  if (found === undefined) return undefined
  const budget = new ScanBudget(limits)
  const scanning = new TopicScan(broker, scan, view, budget)
  const isNewestFirst = scan.from === 'end'
  const parts = isNewestFirst ? await scanning.backward(found.ranges) : await scanning.forward(found.ranges)
  // Nothing more is read now, so the next scan decides about what comes later.
  const all = parts.map((part) => ({ ...part, isComplete: true }))
  const { records, positions } = mergeRecords(all, mergeOptions(scan))
  return {
    records,
    positions,
    hasMore: found.ranges.some(({ partition, from, to }) => {
      const position = positions.get(partition) ?? 0
      return isNewestFirst ? position > from : position < to
    }),
    partitions: found.partitions,
    partitionCount: found.partitionCount,
    scanned: budget.used,
    stoppedBy: budget.stoppedBy,
  }
}

function mergeOptions({ from, limit }: RecordScan) {
  return { isNewestFirst: from === 'end', limit, sizeMax: RESULT_SIZE_MAX }
}

class TopicScan<View> {
  readonly #broker: Broker
  readonly #scan: RecordScan
  readonly #view: ViewRecord<View>
  readonly #budget: ScanBudget
  #size = 0

  constructor(broker: Broker, scan: RecordScan, view: ViewRecord<View>, budget: ScanBudget) {
    this.#broker = broker
    this.#scan = scan
    this.#view = view
    this.#budget = budget
  }

  async forward(ranges: readonly OffsetRange[]): Promise<readonly PartitionScan<View>[]> {
    const found = new Map<number, FoundRecord<View>[]>(ranges.map(({ partition }) => [partition, []]))
    const isFull = (partition: number) => (found.get(partition)?.length ?? 0) >= this.#scan.limit
    const reached = await this.#read(ranges, async (partition, record) => {
      if (isFull(partition)) return 'leave'
      const shown = await this.#shown(partition, record)
      if (shown) found.get(partition)?.push(shown)
      return 'continue'
    })
    return ranges.map(({ partition, from }) => ({
      partition,
      records: found.get(partition) ?? [],
      position: reached.get(partition) ?? from,
      isComplete: true,
    }))
  }

  /** Reads windows backwards, of the partitions whose next record is needed, until there are enough records or the budget is used. */
  async backward(ranges: readonly OffsetRange[]): Promise<readonly PartitionScan<View>[]> {
    const { limit } = this.#scan
    const size = Math.min(limit, Math.max(1, Math.ceil((2 * limit) / Math.max(ranges.length, 1))))
    const parts = new Map(
      ranges.map((range) => [range.partition, { range, to: range.to, size, found: [] as FoundRecord<View>[] }]),
    )
    for (;;) {
      const scanned = [...parts].map(([partition, { range, to, found }]) => ({
        partition,
        records: found,
        position: to,
        isComplete: to <= range.from,
      }))
      const { starved } = mergeRecords(scanned, mergeOptions(this.#scan))
      if (starved.length === 0 || this.#isOver()) return scanned
      const sizeMax = Math.max(1, Math.floor(this.#budget.recordsLeft / starved.length))
      const windows = starved.flatMap((partition) => {
        const part = parts.get(partition)
        if (part === undefined) return []
        return [{ partition, from: Math.max(part.range.from, part.to - Math.min(part.size, sizeMax)), to: part.to }]
      })
      const inWindow = new Map<number, FoundRecord<View>[]>(windows.map(({ partition }) => [partition, []]))
      const isWindowFull = this.#budget.startWindow()
      const reached = await this.#read(windows, async (partition, record) => {
        if (isWindowFull()) return 'stop'
        const shown = await this.#shown(partition, record)
        if (shown) inWindow.get(partition)?.push(shown)
        return 'continue'
      })
      for (const window of windows) {
        const part = parts.get(window.partition)
        if (part === undefined) continue
        // The newest records of a window that was not read to its end are missing.
        if ((reached.get(window.partition) ?? 0) < window.to) {
          part.size = Math.max(1, Math.floor((window.to - window.from) / 8))
          continue
        }
        part.found.push(...(inWindow.get(window.partition) ?? []).toReversed())
        part.to = window.from
        part.size *= 4
      }
    }
  }

  #isOver(): boolean {
    return this.#budget.isUsed() || this.#size > FOUND_SIZE_MAX
  }

  /** Undefined if it is not wanted. */
  async #shown(partition: number, record: StoredRecord): Promise<FoundRecord<View> | undefined> {
    this.#budget.spend(record)
    const shown = await this.#view(record, partition)
    if (shown === undefined) return undefined
    this.#size += shown.size
    const { offset, timestampMs } = record
    return { partition, offset, timestampMs, ...shown }
  }

  async #read(ranges: readonly OffsetRange[], onRecord: RecordVisitor): Promise<ReadonlyMap<number, number>> {
    const { reached, isIdle } = await readRanges(this.#broker, this.#scan.topic, ranges, async (partition, record) =>
      this.#isOver() ? 'stop' : onRecord(partition, record),
    )
    if (isIdle) this.#budget.stop('broker')
    return reached
  }
}

/** Counts what a scan has used. */
class ScanBudget {
  readonly #limits: ScanLimits
  readonly #startCpuMs: number
  readonly #startMs = systemClock.monotonicMs()
  #records = 0
  #bytes = 0
  #stoppedBy: ScanStop | undefined

  constructor(limits: ScanLimits) {
    this.#limits = limits
    this.#startCpuMs = limits.cpuMs()
  }

  get used(): { readonly records: number; readonly bytes: number } {
    return { records: this.#records, bytes: this.#bytes }
  }

  get recordsLeft(): number {
    return Math.max(0, this.#limits.recordsMax - this.#records)
  }

  get stoppedBy(): ScanStop | undefined {
    return this.#stoppedBy
  }

  spend(record: StoredRecord): void {
    this.#records += 1
    this.#bytes += recordSize(record)
  }

  stop(by: ScanStop): void {
    this.#stoppedBy ??= by
  }

  isUsed(): boolean {
    const { recordsMax, bytesMax, cpuMsMax, cpuMs, elapsedMsMax } = this.#limits
    if (this.#records >= recordsMax) this.stop('records')
    else if (this.#bytes >= bytesMax) this.stop('bytes')
    else if (cpuMs() - this.#startCpuMs >= cpuMsMax) this.stop('cpu')
    else if (systemClock.monotonicMs() - this.#startMs >= elapsedMsMax) this.stop('time')
    return this.#stoppedBy !== undefined
  }

  /** Returns whether too much was read since this call. */
  startWindow(): () => boolean {
    const start = this.#bytes
    return () => this.#bytes - start >= this.#limits.windowBytesMax
  }
}

/** Bytes of key, value and headers. */
export function recordSize({ key, value, headers }: StoredRecord): number {
  const ofHeaders = headers.reduce((sum, [name, bytes]) => sum + name.length + (bytes?.length ?? 0), 0)
  return (key?.length ?? 0) + (value?.length ?? 0) + ofHeaders
}
