import type { DatabaseSync } from 'node:sqlite'
import { BrokerError } from '../broker-error.ts'
import { BOOT, type CheckRecord } from './check-file.ts'
import { type DataFiles, fileSize } from './data-files.ts'
import { OFFSET_BITS, OFFSET_MASK, rowId } from './database-format.ts'
import { findChangedTables, readChecksums } from './row-checksums.ts'
import { type StoredBatch, toStoredBatch, verifyStoredBatch } from './stored-batch.ts'

/** `message`: a predicate that completes a sentence whose subject is the file. */
export type FileFault = { readonly file: string; readonly message: string }

/** Offsets `from` to `to` (both inclusive) of a partition that are unreadable or missing. */
export type DamagedRange = {
  readonly topic: string
  readonly partition: number
  readonly from: number
  readonly to: number
}

export type Damage = { readonly faults: readonly FileFault[]; readonly ranges: readonly DamagedRange[] }

/** `batchBytes`: how many bytes of batches are compared with their checksums. `faults`: how many faults are reported. */
export type CheckLimit = { readonly batchBytes: number; readonly faults: number }

export const NO_LIMIT: CheckLimit = { batchBytes: Number.POSITIVE_INFINITY, faults: 100 }

/**
 * Compares an open database with what `broker.check` and its own checksums say: its structure by SQLite, its rows, and the
 * content of its batches. `record` is undefined for a directory of an earlier format. An error of SQLite is damage as well.
 */
export function findDamage(
  sqlite: DatabaseSync,
  files: DataFiles,
  record: CheckRecord | undefined,
  limit: CheckLimit,
): Damage {
  const faults: FileFault[] = []
  const ranges: DamagedRange[] = []
  const add = (message: string) => {
    if (faults.length >= limit.faults || faults.some((fault) => fault.message === message)) return
    faults.push({ file: files.database, message })
  }
  attempt(add, () => {
    const fault = record && faultOfCommits(sqlite, files, record)
    if (fault !== undefined) faults.push(fault)
  })
  attempt(add, () => {
    for (const row of sqlite.prepare(`pragma integrity_check(${limit.faults})`).all()) {
      const message = String(row['integrity_check'])
      if (message !== 'ok') add(`is damaged: ${message.trim()}`)
    }
  })
  // Otherwise the rows that are missing are known to be.
  if (record !== undefined && faults.length === 0)
    attempt(add, () => {
      for (const table of findChangedTables(sqlite)) add(`has rows in table ${table} that do not match their checksum`)
    })
  attempt(add, () => {
    const names = readPartitionNames(sqlite)
    if (faults.length > 0) ranges.push(...missingRanges(sqlite, record?.ends ?? new Map(), names))
    for (const { message, partitionId, batch } of damagedBatches(sqlite, limit.batchBytes)) {
      add(`has a damaged batch: ${message}`)
      if (ranges.length < limit.faults)
        ranges.push(toDamagedRange(names, partitionId, batch.baseOffset, batch.lastOffset))
    }
  })
  return { faults, ranges }
}

function faultOfCommits(sqlite: DatabaseSync, files: DataFiles, record: CheckRecord): FileFault | undefined {
  const { commit, directoryId } = readChecksums(sqlite)
  if (directoryId !== record.directoryId) {
    const file = fileSize(files.wal) > 0 ? files.wal : files.database
    return { file, message: 'is from another data directory than broker.check' }
  }
  if (commit >= record.commit) return undefined
  const missing = `commit ${record.commit} was acknowledged, but the last one in it is ${commit}`
  if (record.closed) return { file: files.database, message: `is older than broker.check: ${missing}` }
  const isCrash = record.boot !== BOOT
  return {
    file: files.wal,
    message: isCrash
      ? `lost its last records when this machine stopped: ${missing}. --data-fsync commit prevents this`
      : `is missing, truncated, damaged or from an earlier time: ${missing}`,
  }
}

/** Acknowledged records that are missing at the end of a partition. */
export function missingRanges(
  sqlite: DatabaseSync,
  ends: ReadonlyMap<number, number>,
  names: PartitionNames,
): readonly DamagedRange[] {
  const last = sqlite.prepare(
    `select max(end_floor, ifnull((select last_offset + 1 from batches where id >= ? and id <= ? order by id desc limit 1), 0))
       as end from partitions where id = ?`,
  )
  return [...ends].flatMap(([id, end]) => {
    const row = last.get(rowId(id, 0), rowId(id, 0) | OFFSET_MASK, id)
    const from = Number(row?.['end'])
    // Without a row, the topic was deleted.
    return from < end ? [toDamagedRange(names, id, from, end - 1)] : []
  })
}

type DamagedBatch = { readonly message: string; readonly partitionId: number; readonly batch: StoredBatch }

/** Compares batches with their checksums and their rows, and the first ones of each partition if there are too many. */
function* damagedBatches(sqlite: DatabaseSync, bytesMax: number): Generator<DamagedBatch> {
  const rows = sqlite.prepare(
    `select id >> ${OFFSET_BITS} as partition_id, id & ${OFFSET_MASK} as base_offset, last_offset, bytes
     from batches order by id`,
  )
  let left = bytesMax
  let before = { partitionId: -1, lastOffset: -1 }
  for (const row of rows.iterate()) {
    const partitionId = Number(row['partition_id'])
    const batch = toStoredBatch(row)
    const overlaps = before.partitionId === partitionId && before.lastOffset >= batch.baseOffset
    const message = batchFault(batch) ?? (overlaps ? 'it overlaps the previous batch' : undefined)
    if (message !== undefined) yield { message, partitionId, batch }
    before = { partitionId, lastOffset: batch.lastOffset }
    left -= batch.bytes.length
    if (left <= 0) return
  }
}

export function batchFault(batch: StoredBatch): string | undefined {
  try {
    verifyStoredBatch(batch)
    return undefined
  } catch (error) {
    if (error instanceof BrokerError) return error.message
    throw error
  }
}

export type PartitionNames = ReadonlyMap<number, { readonly topic: string; readonly partition: number }>

export function readPartitionNames(sqlite: DatabaseSync): PartitionNames {
  const rows = sqlite
    .prepare('select partitions.id, name, number from partitions join topics on topics.id = partitions.topic_id')
    .all()
  return new Map(
    rows.map((row) => [Number(row['id']), { topic: String(row['name']), partition: Number(row['number']) }]),
  )
}

export function toDamagedRange(names: PartitionNames, id: number, from: number, to: number): DamagedRange {
  return { ...(names.get(id) ?? { topic: `unknown (partition id ${id})`, partition: 0 }), from, to }
}

/** SQLite cannot continue after some kinds of damage, and a damaged number may exceed the integers of JavaScript. */
export function isReadError(error: unknown): error is Error {
  return error instanceof Error && ('errcode' in error || (error as NodeJS.ErrnoException).code === 'ERR_OUT_OF_RANGE')
}

function attempt(add: (message: string) => void, run: () => void): void {
  try {
    run()
  } catch (error) {
    if (!isReadError(error)) throw error
    add(`cannot be read: ${error.message}`)
  }
}
