import type { TimeZone } from '../jdbc/time-zone.ts'

/** When a set of files is complete. */
export type RotationSettings = {
  /** Number of records of a topic partition in a set. */
  readonly recordsMax: number
  /** Number of records of a file in a set. */
  readonly fileRecordsMax: number
  /** Difference between the timestamps of the first record and the next one, in ms; undefined: without limit. */
  readonly intervalMs: number | undefined
  /** With `intervalMs`: whether a record of another path than the one before completes the set. */
  readonly onOtherPath: boolean
  /** Number of files in a set; undefined: without limit. */
  readonly filesMax: number | undefined
  /** The interval of the clock that completes sets, counted from midnight in the time zone; undefined: none. */
  readonly schedule: { readonly intervalMs: number; readonly zone: TimeZone } | undefined
}

/** What a rotation depends on. */
export type SetProgress = {
  readonly records: number
  readonly files: number
  /** The timestamp of the first record; undefined without a timestamp extractor. */
  readonly firstTimestampMs: number | undefined
  /** The path of the last record. */
  readonly lastPath: string
  /** When the schedule completes the set; undefined without a schedule. */
  readonly scheduledMs: number | undefined
}

export type NextRecord = {
  readonly timestampMs: number | undefined
  readonly path: string
  /** Whether the set has no file for the record. */
  readonly needsFile: boolean
}

/** Whether the set is complete before the next record. */
export function isCompleteBefore(
  { intervalMs, onOtherPath, filesMax }: RotationSettings,
  set: SetProgress,
  { timestampMs, path, needsFile }: NextRecord,
  nowMs: number,
): boolean {
  if (set.records === 0) return false
  if (set.scheduledMs !== undefined && nowMs >= set.scheduledMs) return true
  if (needsFile && set.files === filesMax) return true
  if (intervalMs === undefined || set.firstTimestampMs === undefined || timestampMs === undefined) return false
  return timestampMs - set.firstTimestampMs >= intervalMs || (onOtherPath && path !== set.lastPath)
}

/** Whether the set is complete although no record follows. `clockMs`: the clock, if it is the timestamp of records. */
export function isCompleteNow(
  { intervalMs }: RotationSettings,
  set: SetProgress,
  nowMs: number,
  clockMs: number | undefined,
): boolean {
  if (set.records === 0) return false
  if (set.scheduledMs !== undefined && nowMs >= set.scheduledMs) return true
  if (intervalMs === undefined || set.firstTimestampMs === undefined || clockMs === undefined) return false
  return clockMs - set.firstTimestampMs >= intervalMs
}

/** The next time of a schedule: a multiple of the interval since midnight, or the next midnight. */
export function nextScheduledMs(nowMs: number, { schedule }: RotationSettings): number | undefined {
  if (schedule === undefined) return undefined
  const { intervalMs, zone } = schedule
  const wallMs = nowMs + zone.offsetMs(nowMs)
  const midnightWallMs = Math.floor(wallMs / DAY_MS) * DAY_MS
  const midnightMs = zone.toInstantMs(midnightWallMs)
  const nextMidnightMs = zone.toInstantMs(midnightWallMs + DAY_MS)
  const nextMs = midnightMs + (Math.floor((nowMs - midnightMs) / intervalMs) + 1) * intervalMs
  return Math.min(nextMs, nextMidnightMs)
}

const DAY_MS = 86_400_000
