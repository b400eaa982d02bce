import type { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../../../common/errors.ts'
import { type DamagedRange, type PartitionNames, readPartitionNames, toDamagedRange } from '../damage-error.ts'
import { OFFSET_MASK, PARTITION_ID_MAX, rowId } from '../database-format.ts'
import { batchFault, toStoredBatch } from '../stored-batch.ts'
import type { OnProgress } from './online-copy.ts'

/** All tables except `batches`: they are small, and copied row by row. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  topics: ['id', 'name', 'configs'],
  partitions: ['id', 'topic_id', 'number', 'start_offset', 'end_floor', 'clean_offset', 'clean_bytes'],
  transactional_ids: ['name', 'producer_id', 'epoch'],
  groups: ['name', 'protocol_type', 'generation'],
  group_offsets: ['group_name', 'topic', 'partition', 'offset', 'metadata'],
  open_batches: ['id', 'transactional_id'],
  doomed: ['partition_id'],
  settings: ['name', 'value'],
}
/** Added to the next producer id, because the recovered value may be older than the last id that was assigned. */
const PRODUCER_IDS_SKIPPED = 100_000
/** Maximum number of searches for readable batches in one partition. */
const SEARCHES_MAX = 2_000

const COMMIT_BYTES = 16 * 1024 * 1024

type Row = Record<string, unknown>

export type Salvaged = {
  readonly batches: number
  readonly lost: readonly DamagedRange[]
  readonly notes: readonly string[]
}

/**
 * Copies all readable data of a damaged database into an empty one. `ends`: acknowledged end offsets by partition id.
 * `stored` is called after commits, to checkpoint. A partition whose topic is unknown gets a new topic `recovered-ID`.
 */
export function salvage(
  from: DatabaseSync,
  { sqlite: to, stored }: { readonly sqlite: DatabaseSync; readonly stored: () => void },
  ends: ReadonlyMap<number, number>,
  onProgress: OnProgress,
): Salvaged {
  const notes: string[] = []
  to.exec('begin')
  for (const [table, columns] of Object.entries(TABLES)) copyTable(from, to, table, columns, notes)
  to.prepare("update settings set value = value + ? where name = 'next_producer_id'").run(PRODUCER_IDS_SKIPPED)
  to.exec('commit')
  const partitions = new Set([...idsIn(to), ...idsWithBatches(from)])
  const deletedPartitions = new Set(
    to
      .prepare('select partition_id from doomed')
      .all()
      .map((row) => Number(row['partition_id'])),
  )
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
  return { batches, lost, notes }
}

function copyTable(
  from: DatabaseSync,
  to: DatabaseSync,
  table: string,
  columns: readonly string[],
  notes: string[],
): void {
  const insert = to.prepare(
    `insert or replace into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
  )
  // Reads from both ends; rows between two unreadable pages are not recovered.
  for (const order of ['', 'desc']) {
    try {
      const keys = order === '' ? '' : ` order by ${columns[0]} ${order}`
      for (const row of from.prepare(`select ${columns.join(', ')} from ${table}${keys}`).iterate()) {
        insert.run(...columns.map((column) => row[column] as never))
      }
      return
    } catch (error) {
      if (order === '') notes.push(`table ${table} cannot be read completely: ${messageOf(error)}`)
    }
  }
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
  for (let id = 0; id <= PARTITION_ID_MAX; ) {
    const row = attempt(() => next.get(rowId(id, 0)))
    if (row === undefined) return ids
    ids.push(Number(row['partition_id']))
    id = Number(row['partition_id']) + 1
  }
  return ids
}

function withName(to: DatabaseSync, id: number): PartitionNames {
  const names = readPartitionNames(to)
  if (names.has(id)) return names
  const row = to.prepare("insert into topics (name, configs) values (?, '{}') returning id").get(`recovered-${id}`)!
  to.prepare('insert or replace into partitions (id, topic_id, number) values (?, ?, 0)').run(id, row['id'] as number)
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
  let lastOffset = -1
  let bytesOpen = 0
  to.exec('begin')
  const unreadable = readRanges(from, id, (row) => {
    const batch = toStoredBatch(row)
    lastOffset = Math.max(lastOffset, batch.lastOffset)
    if (batchFault(batch) !== undefined) {
      lost.push(toDamagedRange(names, id, batch.baseOffset, batch.lastOffset))
      return
    }
    batches += 1
    const { last_offset, max_timestamp_ms, appended_ms, bytes } = row as Record<string, never>
    insert.run(rowId(id, batch.baseOffset), last_offset!, max_timestamp_ms!, appended_ms!, bytes!)
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
  // Compaction restarts: the compacted part may have lost records that superseded older ones.
  to.prepare('update partitions set end_floor = ?, clean_offset = 0, clean_bytes = 0 where id = ?').run(endOffset, id)
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
  const ascending = from.prepare(`select ${columns} ${between} order by id`)
  const descending = from.prepare(`select ${columns} ${between} order by id desc`)
  const unreadable: Range[] = []
  const searched: Range[] = [{ from: 0, to: Number(OFFSET_MASK) }]
  for (let searches = 0; ; searches++) {
    const range = searched.pop()
    if (range === undefined) return merged(unreadable)
    const bounds = [rowId(id, range.from), rowId(id, range.to)] as const
    let low = range.from
    const rises = attemptAll(ascending.iterate(...bounds) as Iterable<Row>, (row) => {
      onRow(row)
      low = Number(row['last_offset']) + 1
    })
    if (rises) continue
    let high = range.to
    attemptAll(descending.iterate(rowId(id, low), bounds[1]) as Iterable<Row>, (row) => {
      onRow(row)
      high = Number(row['base_offset']) - 1
    })
    if (low > high) continue
    if (low === high || searches >= SEARCHES_MAX) {
      unreadable.push({ from: low, to: high })
      continue
    }
    const middle = Math.floor((low + high) / 2)
    searched.push({ from: middle + 1, to: high }, { from: low, to: middle })
  }
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

/** Returns whether all rows could be read. */
function attemptAll(rows: Iterable<Row>, onRow: (row: Row) => void): boolean {
  return (
    attempt(() => {
      for (const row of rows) onRow(row)
      return true
    }) ?? false
  )
}

/** Undefined if SQLite fails to read. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Error && 'errcode' in error) return undefined
    throw error
  }
}
