import type { DatabaseSync } from 'node:sqlite'
import { parseHeader } from '../batch-header.ts'
import { type DamagedRange, type PartitionNames, readPartitionNames, toDamagedRange } from '../damage-error.ts'
import { OFFSET_MASK, PARTITION_ID_MAX, rowId } from '../database-format.ts'
import { batchFault, toStoredBatch } from '../stored-batch.ts'
import type { OnProgress } from './online-copy.ts'
import {
  copyTables,
  deletedPartitionsIn,
  fillPartitionNumbers,
  KEEP_ALL,
  reservePartitionIds,
} from './salvage-tables.ts'

/** Maximum number of searches for readable batches in one partition. */
const SEARCHES_MAX = 2_000

/** Maximum distance of a damaged batch to the one before it, in offsets. */
const OFFSETS_SKIPPED_MAX = 2 ** 31

const COMMIT_BYTES = 16 * 1024 * 1024

type Row = Record<string, unknown>

export type Salvaged = {
  readonly batches: number
  readonly lost: readonly DamagedRange[]
  readonly notes: readonly string[]
}

/** `ends`: acknowledged end offsets by partition id. `damagedPages`: pages that do not match their checksum. */
export type DamageEvidence = {
  readonly ends: ReadonlyMap<number, number>
  readonly damagedPages: ReadonlySet<number>
}

/**
 * Copies all readable data of a damaged database into an empty one. `stored` is called after commits, to checkpoint. A
 * partition whose topic is unknown gets a new topic `recovered-ID`.
 */
export function salvage(
  from: DatabaseSync,
  { sqlite: to, stored }: { readonly sqlite: DatabaseSync; readonly stored: () => void },
  { ends, damagedPages }: DamageEvidence,
  onProgress: OnProgress,
): Salvaged {
  const notes: string[] = []
  to.exec('begin')
  copyTables(from, to, damagedPages, notes)
  const deletedPartitions = deletedPartitionsIn(from, notes)
  const partitions = new Set([...idsIn(to), ...idsWithBatches(from)])
  reservePartitionIds(to, [...partitions, ...deletedPartitions])
  to.exec('commit')
  const lost: DamagedRange[] = []
  let batches = 0
  let done = 0
  for (const id of partitions) {
    if (deletedPartitions.has(id)) continue
    const names = withName(to, id)
    const copied = copyBatches(from, { sqlite: to, stored }, id, names, ends.get(id))
    stored()
    batches += copied.batches
    lost.push(...copied.lost)
    onProgress('copying partitions', ++done, partitions.size)
  }
  fillPartitionNumbers(to, notes)
  return { batches, lost, notes }
}

function idsIn(to: DatabaseSync): readonly number[] {
  return to
    .prepare('select id from partitions')
    .all()
    .map((row) => Number(row['id']))
}

/** Finds the next partition with one index lookup each. */
function idsWithBatches(from: DatabaseSync): readonly number[] {
  const ids: number[] = []
  const next = from.prepare('select id >> 43 as partition_id from batches where id >= ? order by id limit 1')
  for (let id = 1; id <= PARTITION_ID_MAX; ) {
    const row = attempt(() => next.get(rowId(id, 0)))
    const found = Number(row?.['partition_id'] ?? PARTITION_ID_MAX + 1)
    // The keys of a damaged page may be out of order.
    if (id <= found && found <= PARTITION_ID_MAX) ids.push(found)
    id = Math.max(id, found) + 1
  }
  return ids
}

function withName(to: DatabaseSync, id: number): PartitionNames {
  const names = readPartitionNames(to)
  if (names.has(id)) return names
  const row = to
    .prepare('insert into topics (name, configs) values (?, ?) returning id')
    .get(`recovered-${id}`, KEEP_ALL)!
  to.prepare(
    `insert into partitions (id, topic_id, number) values (?, ?, 0)
     on conflict (id) do update set topic_id = excluded.topic_id, number = 0`,
  ).run(id, row['id'] as number)
  return readPartitionNames(to)
}

function copyBatches(
  from: DatabaseSync,
  { sqlite: to, stored }: { readonly sqlite: DatabaseSync; readonly stored: () => void },
  id: number,
  names: PartitionNames,
  end: number | undefined,
) {
  const insert = to.prepare(
    'insert or replace into batches (id, last_offset, max_timestamp_ms, appended_ms, bytes) values (?, ?, ?, ?, ?)',
  )
  const lost: DamagedRange[] = []
  let batches = 0
  let firstOffset = Number.POSITIVE_INFINITY
  let lastOffset = -1
  let bytesOpen = 0
  to.exec('begin')
  const unreadable = readRanges(from, id, (row) => {
    const batch = toStoredBatch(row)
    const last = lastOffsetOf(row)
    if (batchFault(batch) !== undefined) {
      lost.push(toDamagedRange(names, id, batch.baseOffset, last))
      // Its offsets may be damaged, too. A false one must not use up the offsets of the partition.
      if (last - lastOffset <= OFFSETS_SKIPPED_MAX) lastOffset = Math.max(lastOffset, last)
      return
    }
    firstOffset = Math.min(firstOffset, batch.baseOffset)
    lastOffset = Math.max(lastOffset, last)
    batches += 1
    const { maxTimestampMs } = parseHeader(batch.bytes)
    const appended = row['appended_ms']
    const appendedMs = typeof appended === 'number' ? appended : maxTimestampMs
    insert.run(rowId(id, batch.baseOffset), last, maxTimestampMs, appendedMs, batch.bytes)
    bytesOpen += batch.bytes.length
    if (bytesOpen < COMMIT_BYTES) return
    to.exec('commit')
    stored()
    to.exec('begin')
    bytesOpen = 0
  })
  const floor = Number(to.prepare('select end_floor from partitions where id = ?').get(id)?.['end_floor'] ?? 0)
  const endOffset = Math.max(lastOffset + 1, end ?? 0, floor)
  for (const range of unreadable) {
    const last = Math.min(range.to, endOffset - 1)
    if (range.from <= last) lost.push(toDamagedRange(names, id, range.from, last))
  }
  if (end !== undefined && lastOffset + 1 < end && !unreadable.some((range) => range.to >= end - 1)) {
    lost.push(toDamagedRange(names, id, lastOffset + 1, end - 1))
  }
  // No record is before the start offset, unless that is damaged. Compaction restarts: the compacted part may have lost records that superseded older ones.
  to.prepare(
    `update partitions set start_offset = min(start_offset, ?), end_floor = ?, clean_offset = 0, clean_bytes = 0 where id = ?`,
  ).run(Math.min(firstOffset, endOffset), endOffset, id)
  to.exec('commit')
  return { batches, lost }
}

type Range = { readonly from: number; readonly to: number }

/**
 * Passes all readable batches of a partition to `each` and returns the unreadable offset ranges. An unreadable page
 * stops a scan in either direction, so the range between two such pages is searched by bisection.
 */
function readRanges(from: DatabaseSync, id: number, onRow: (row: Row) => void): readonly Range[] {
  const columns = `id & ${OFFSET_MASK} as base_offset, last_offset, max_timestamp_ms, appended_ms, bytes`
  const between = 'from batches where id >= ? and id <= ?'
  // A statement that failed throws the same error when it is used again.
  const scan = (order: 'asc' | 'desc', first: bigint, last: bigint) =>
    from.prepare(`select ${columns} ${between} order by id ${order}`).iterate(first, last) as Iterator<Row>
  const unreadable: Range[] = []
  const searched: Range[] = [{ from: 0, to: Number(OFFSET_MASK) }]
  for (let searches = 0; ; searches++) {
    const range = searched.pop()
    if (range === undefined) return merged(unreadable)
    const bounds = [rowId(id, range.from), rowId(id, range.to)] as const
    let low = range.from
    const isComplete = readAll(
      () => scan('asc', ...bounds),
      (row) => {
        onRow(row)
        low = lastOffsetOf(row) + 1
      },
    )
    if (isComplete) continue
    let high = range.to
    readAll(
      () => scan('desc', rowId(id, low), bounds[1]),
      (row) => {
        onRow(row)
        high = Number(row['base_offset']) - 1
      },
    )
    if (low > high) continue
    if (low === high || searches >= SEARCHES_MAX) {
      unreadable.push({ from: low, to: high })
      continue
    }
    const middle = Math.floor((low + high) / 2)
    searched.push({ from: middle + 1, to: high }, { from: low, to: middle })
  }
}

/** The last offset of a row, or its first one if the last cannot be right. */
function lastOffsetOf(row: Row): number {
  const { baseOffset, lastOffset } = toStoredBatch(row)
  const isPlausible = Number.isInteger(lastOffset) && lastOffset >= baseOffset && lastOffset - baseOffset < 2 ** 31
  return isPlausible ? lastOffset : baseOffset
}

/** Sorts the ranges and merges adjacent ones. */
function merged(ranges: readonly Range[]): readonly Range[] {
  const all: Range[] = []
  for (const range of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = all.at(-1)
    if (last !== undefined && last.to + 1 === range.from) all[all.length - 1] = { from: last.from, to: range.to }
    else all.push(range)
  }
  return all
}

/** Returns whether all rows could be read. An error of `onRow`, for example a full disk, is thrown. */
function readAll(scan: () => Iterator<Row>, onRow: (row: Row) => void): boolean {
  const rows = attempt(scan)
  for (;;) {
    const next = attempt(() => rows?.next())
    if (next === undefined || next.done) return next?.done === true
    onRow(next.value)
  }
}

/** Undefined if SQLite fails to read, or a value is beyond the integers that JavaScript can represent. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Error && ('errcode' in error || (error as NodeJS.ErrnoException).code === 'ERR_OUT_OF_RANGE'))
      return undefined
    throw error
  }
}
