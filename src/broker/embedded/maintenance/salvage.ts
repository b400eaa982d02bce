import type { DatabaseSync } from 'node:sqlite'
import { singleBatch } from '../../record-batch/batch-header.ts'
import { OFFSET_MASK, PARTITION_ID_MAX, rowId } from '../database-format.ts'
import { batchFault, type DamagedRange, isReadError, readPartitionNames, toDamagedRange } from '../find-damage.ts'
import { toStoredBatch } from '../stored-batch.ts'
import type { OnProgress } from './backup.ts'
import { copyTables, fillPartitionNumbers, KEEP_ALL } from './salvage-tables.ts'

/** Maximum number of searches for readable batches in one partition. */
const SEARCHES_MAX = 2_000
/** Maximum distance of a damaged batch to the one before it, in offsets. */
const OFFSETS_SKIPPED_MAX = 2 ** 31
const COMMIT_BYTES = 16 * 1024 * 1024

type Row = Record<string, unknown>
type Range = { readonly from: number; readonly to: number }

export type Salvaged = {
  readonly batches: number
  readonly lost: readonly DamagedRange[]
  readonly notes: readonly string[]
}

/**
 * Copies everything that is intact from a damaged database into an empty one. `ends`: acknowledged end offsets by
 * partition id. A partition whose topic is unknown gets a new topic `recovered-ID`.
 */
export function salvage(
  from: DatabaseSync,
  to: DatabaseSync,
  ends: ReadonlyMap<number, number>,
  onProgress: OnProgress,
): Salvaged {
  const notes: string[] = []
  to.exec('begin')
  const deleted = copyTables(from, to, notes)
  const partitions = idsWithBatches(from).filter((id) => !deleted.has(id))
  for (const id of partitions) ensureTopic(to, id)
  fillPartitionNumbers(to, notes)
  to.exec('commit')
  const names = readPartitionNames(to)
  const lost: DamagedRange[] = []
  let batches = 0
  let done = 0
  for (const id of names.keys()) {
    const copied = copyBatches(from, to, id, ends.get(id) ?? 0)
    batches += copied.batches
    lost.push(...copied.lost.map((range) => toDamagedRange(names, id, range.from, range.to)))
    onProgress('copying partitions', ++done, names.size)
  }
  return { batches, lost, notes }
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

function ensureTopic(to: DatabaseSync, partitionId: number): void {
  if (to.prepare('select 1 from partitions where id = ?').get(partitionId) !== undefined) return
  const topic = to
    .prepare('insert into topics (name, configs) values (?, ?) returning id')
    .get(`recovered-${partitionId}`, KEEP_ALL)!
  to.prepare('insert into partitions (id, topic_id, number) values (?, ?, 0)').run(partitionId, Number(topic['id']))
}

function copyBatches(from: DatabaseSync, to: DatabaseSync, id: number, acknowledgedEnd: number) {
  const insert = to.prepare(
    'insert or replace into batches (id, last_offset, max_timestamp_ms, appended_ms, bytes) values (?, ?, ?, ?, ?)',
  )
  const lost: Range[] = []
  let batches = 0
  let firstOffset = Number.POSITIVE_INFINITY
  let lastOffset = -1
  let bytesOpen = 0
  to.exec('begin')
  const unreadable = readRanges(from, id, (row) => {
    const batch = toStoredBatch(row)
    const last = lastOffsetOf(row)
    if (batchFault(batch) !== undefined) {
      lost.push({ from: batch.baseOffset, to: last })
      // Its offsets may be damaged, too. A false one must not use up the offsets of the partition.
      if (last - lastOffset <= OFFSETS_SKIPPED_MAX) lastOffset = Math.max(lastOffset, last)
      return
    }
    firstOffset = Math.min(firstOffset, batch.baseOffset)
    lastOffset = Math.max(lastOffset, last)
    batches += 1
    const { maxTimestampMs } = singleBatch(batch.bytes)
    insert.run(rowId(id, batch.baseOffset), last, maxTimestampMs, Number(row['appended_ms']), batch.bytes)
    bytesOpen += batch.bytes.length
    if (bytesOpen < COMMIT_BYTES) return
    to.exec('commit; begin')
    bytesOpen = 0
  })
  const floor = Number(to.prepare('select end_floor from partitions where id = ?').get(id)?.['end_floor'])
  const end = Math.max(lastOffset + 1, acknowledgedEnd, floor)
  lost.push(...unreadable.map((range) => ({ from: range.from, to: Math.min(range.to, end - 1) })))
  if (acknowledgedEnd === end && !lost.some((range) => range.to >= end - 1))
    lost.push({ from: Math.max(lastOffset + 1, floor), to: end - 1 })
  // No record is before the start offset, unless that is damaged. Compaction restarts: the compacted part may have lost records that superseded older ones.
  to.prepare(
    'update partitions set start_offset = min(start_offset, ?), end_floor = ?, clean_offset = 0, clean_bytes = 0 where id = ?',
  ).run(Math.min(firstOffset, end), end, id)
  to.exec('commit')
  return { batches, lost: lost.filter((range) => range.from <= range.to) }
}

/**
 * Passes all readable batches of a partition to `onRow` and returns the unreadable offset ranges. An unreadable page
 * stops a scan in either direction, so the range between two such pages is searched by bisection.
 */
function readRanges(from: DatabaseSync, id: number, onRow: (row: Row) => void): readonly Range[] {
  const columns = `id & ${OFFSET_MASK} as base_offset, last_offset, appended_ms, bytes`
  // A statement that failed throws the same error when it is used again.
  const scan = (order: 'asc' | 'desc', range: Range) =>
    from
      .prepare(`select ${columns} from batches where id >= ? and id <= ? order by id ${order}`)
      .iterate(rowId(id, range.from), rowId(id, range.to)) as Iterator<Row>
  const unreadable: Range[] = []
  const searched: Range[] = [{ from: 0, to: Number(OFFSET_MASK) }]
  for (let searches = 0; ; searches++) {
    const range = searched.pop()
    if (range === undefined) return merged(unreadable)
    let { from: low, to: high } = range
    const isComplete = readAll(scan('asc', range), (row) => {
      onRow(row)
      low = lastOffsetOf(row) + 1
    })
    if (isComplete) continue
    readAll(scan('desc', { from: low, to: high }), (row) => {
      onRow(row)
      high = Number(row['base_offset']) - 1
    })
    if (low > high) continue
    const middle = Math.floor((low + high) / 2)
    if (low === high || searches >= SEARCHES_MAX) unreadable.push({ from: low, to: high })
    else searched.push({ from: middle + 1, to: high }, { from: low, to: middle })
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
function readAll(rows: Iterator<Row>, onRow: (row: Row) => void): boolean {
  for (;;) {
    const next = attempt(() => rows.next())
    if (next === undefined || next.done) return next?.done === true
    onRow(next.value)
  }
}

/** Undefined if SQLite cannot read. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isReadError(error)) return undefined
    throw error
  }
}
