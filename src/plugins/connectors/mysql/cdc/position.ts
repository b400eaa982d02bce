import { plainJson } from '../../../../java-compat/json/connect-json-writer.ts'
import type { Position as StoredOffset } from '../../../../sdk/index.ts'
import { type GtidSet, parseGtidSet } from './binlog/gtid-set.ts'

/** A place in the binary log from which to continue, with the keys of Debezium's offsets. */
export type BinlogPosition = {
  readonly file: string
  /** Where the transaction begins of which a part was delivered, or the next one. */
  readonly position: number
  /** The transactions before it; undefined without GTIDs. */
  readonly gtids: string | undefined
  /** Events of the transaction that were delivered, with its begin. */
  readonly events: number
  /** Rows of the next event that were delivered. */
  readonly rows: number
  /** When the last change was made, in seconds since 1970. */
  readonly timestampS: number | undefined
  readonly serverId: number | undefined
}

export type MysqlOffset = {
  readonly position: BinlogPosition
  /** Whether the offset is within a snapshot that did not end. */
  readonly isInSnapshot: boolean
}

/** Parses an offset of this connector or of Debezium. Throws an `Error` that names the invalid key. */
export function parseMysqlOffset(raw: StoredOffset): MysqlOffset {
  const { file, gtids } = raw
  if (typeof file !== 'string') {
    throw new Error(
      `'file' of an offset must be the name of a binary log of the server, not ${plainJson(file ?? null)}`,
    )
  }
  if (gtids !== undefined && gtids !== null && typeof gtids !== 'string') {
    throw new Error(`'gtids' of an offset must be a set of GTIDs as text, not ${plainJson(gtids)}`)
  }
  const isComplete = raw['snapshot_completed'] === true || raw['snapshot_completed'] === 'true'
  const hasSnapshot = raw['snapshot'] !== undefined && raw['snapshot'] !== null && raw['snapshot'] !== false
  return {
    position: {
      file,
      position: numberOf(raw, 'pos') ?? 4,
      gtids: gtids ? gtids.replaceAll(/\s/g, '') : undefined,
      events: numberOf(raw, 'event') ?? 0,
      rows: numberOf(raw, 'row') ?? 0,
      timestampS: numberOf(raw, 'ts_sec'),
      serverId: numberOf(raw, 'server_id'),
    },
    isInSnapshot: hasSnapshot && !isComplete,
  }
}

export function printPosition(position: BinlogPosition): StoredOffset {
  const { file, gtids, events, rows, timestampS, serverId } = position
  return {
    transaction_id: null,
    ...(timestampS !== undefined && { ts_sec: timestampS }),
    file,
    pos: position.position,
    ...(gtids && { gtids }),
    ...(rows > 0 && { row: rows }),
    ...(serverId !== undefined && serverId !== 0 && { server_id: serverId }),
    ...(events > 0 && { event: events }),
  }
}

/**
 * Whether the stream reads a statement of the schema history again: it belongs to the transaction with which a stream that begins after
 * the transactions of a position continues.
 */
export function isReadAgain(recorded: BinlogPosition, start: BinlogPosition, isMariadb: boolean): boolean {
  if (recorded.gtids === undefined || start.gtids === undefined) return false
  return isEqual(parseGtidSet(recorded.gtids, isMariadb), parseGtidSet(start.gtids, isMariadb))
}

const POSITION_BITS = 48n

/** A place in the log of one server as a number that grows. */
export function logPositionOf({ file, position }: Pick<BinlogPosition, 'file' | 'position'>): bigint {
  return (BigInt(fileNumber(file)) << POSITION_BITS) + BigInt(position)
}

/** Whether a place of the schema history is not behind a position. */
export function isAtOrBefore(recorded: BinlogPosition, wanted: BinlogPosition, isMariadb: boolean): boolean {
  if (wanted.gtids !== undefined) {
    if (recorded.gtids === undefined) return true
    const [theirs, ours] = [parseGtidSet(recorded.gtids, isMariadb), parseGtidSet(wanted.gtids, isMariadb)]
    if (!isEqual(theirs, ours)) return theirs.isWithin(ours)
    return recorded.events <= wanted.events
  }
  if (recorded.gtids !== undefined) return false
  if ((recorded.serverId ?? 0) !== (wanted.serverId ?? 0) && baseName(recorded.file) !== baseName(wanted.file)) {
    return (recorded.timestampS ?? 0) <= (wanted.timestampS ?? 0)
  }
  const files = fileNumber(recorded.file) - fileNumber(wanted.file)
  return files === 0 ? compare(recorded, wanted) <= 0 : files < 0
}

function isEqual(one: GtidSet, other: GtidSet): boolean {
  return one.isWithin(other) && other.isWithin(one)
}

function compare(one: BinlogPosition, other: BinlogPosition): number {
  return one.position - other.position || one.events - other.events || one.rows - other.rows
}

/** Logs are numbered. */
function fileNumber(file: string): number {
  return Number(/\.(\d+)$/.exec(file)?.[1] ?? 0)
}

function baseName(file: string): string {
  return file.replace(/\.\d+$/, '')
}

function numberOf(raw: StoredOffset, key: string): number | undefined {
  const value = raw[key]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new Error(`'${key}' of an offset must be a number that is not negative, not ${plainJson(value)}`)
}
