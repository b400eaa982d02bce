import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { BrokerError } from '../broker-error.ts'
import type { ChecksumFileHeader } from './checksum-file.ts'
import type { FileDamage } from './data-directory-check.ts'
import type { DataFiles } from './data-files.ts'
import { OFFSET_MASK, rowId } from './database-format.ts'
import { type DatabaseDamage, findDamagedBatches } from './find-damage.ts'

const PLACES_MAX = 5
/** Limits the search for damaged batches, so that a failing start reports its error quickly. */
const SEARCH_MS_MAX = 5_000

/** Offsets `from` to `to` (both inclusive) of a partition that are unreadable or may be missing. */
export type DamagedRange = {
  readonly topic: string
  readonly partition: number
  readonly from: number
  readonly to: number
}

/** A `data_corrupt` error that names the damaged files, the affected offsets as far as known, and the remedy. */
export function damageError(
  files: DataFiles,
  found: { readonly faults: readonly FileDamage[]; readonly header?: ChecksumFileHeader | undefined } | DatabaseDamage,
): BrokerError {
  const faults = 'faults' in found ? found.faults : [faultOf(files, found)]
  const ranges = 'faults' in found ? findDamagedRanges(files, found) : rangeOf(files, found)
  const where = ranges.map(describeRange).join(', ')
  const files_ = faults.map(({ file, message }) => `${file} ${message}`).join('; ')
  return new BrokerError(
    'data_corrupt',
    `data directory ${files.directory} is damaged: ${files_}${where === '' ? '' : `; concerned: ${where}`}. ` +
      `Restore a backup with weir data restore ${files.directory}, or keep what can be read with weir data repair ` +
      files.directory,
  )
}

export function describeRange({ topic, partition, from, to }: DamagedRange): string {
  return `topic '${topic}', partition ${partition}, offsets ${from} to ${to}`
}

function faultOf(files: DataFiles, { message, batch }: DatabaseDamage): FileDamage {
  return { file: files.database, message: batch === undefined ? message : `holds a damaged batch: ${message}` }
}

export type PartitionNames = ReadonlyMap<number, { readonly topic: string; readonly partition: number }>

function rangeOf(files: DataFiles, { partitionId, batch }: DatabaseDamage): readonly DamagedRange[] {
  if (batch === undefined || partitionId === undefined) return []
  return searched(files, (_, names) => [toDamagedRange(names, partitionId, batch.baseOffset, batch.lastOffset)])
}

/** Acknowledged records that are missing from the database file, then the damaged batches in it. */
export function findDamagedRanges(
  files: DataFiles,
  { faults, header }: { readonly faults: readonly FileDamage[]; readonly header?: ChecksumFileHeader | undefined },
): readonly DamagedRange[] {
  const isLogShort = faults.some(({ file }) => file === files.wal)
  const hasBadPages = faults.some(({ page }) => page !== undefined)
  if (!isLogShort && !hasBadPages) return []
  return searched(files, (sqlite, names) => [
    ...(isLogShort && header !== undefined ? missingRanges(sqlite, header, names) : []),
    ...(hasBadPages ? damagedRanges(sqlite, names) : []),
  ])
}

function missingRanges(
  sqlite: DatabaseSync,
  header: ChecksumFileHeader,
  names: PartitionNames,
): readonly DamagedRange[] {
  const last = sqlite.prepare('select last_offset from batches where id >= ? and id <= ? order by id desc limit 1')
  return [...header.ends].flatMap(([id, end]) => {
    const row = last.get(rowId(id, 0), rowId(id, 0) | OFFSET_MASK)
    const from = Number(row?.['last_offset'] ?? -1) + 1
    return from < end ? [toDamagedRange(names, id, from, end - 1)] : []
  })
}

function damagedRanges(sqlite: DatabaseSync, names: PartitionNames): readonly DamagedRange[] {
  const untilMs = performance.now() + SEARCH_MS_MAX
  const ranges: DamagedRange[] = []
  try {
    for (const { partitionId, batch } of findDamagedBatches(sqlite)) {
      if (batch !== undefined && partitionId !== undefined) {
        ranges.push(toDamagedRange(names, partitionId, batch.baseOffset, batch.lastOffset))
      }
      if (ranges.length >= PLACES_MAX || performance.now() > untilMs) break
    }
  } catch {
    // SQLite cannot continue past this page; the ranges found so far are reported.
  }
  return ranges
}

export function toDamagedRange(names: PartitionNames, id: number, from: number, to: number): DamagedRange {
  return { ...(names.get(id) ?? { topic: `unknown (partition id ${id})`, partition: 0 }), from, to }
}

/** Searches the database file read-only and without its log. Returns nothing if the file is unreadable. */
function searched(
  files: DataFiles,
  search: (sqlite: DatabaseSync, names: PartitionNames) => readonly DamagedRange[],
): readonly DamagedRange[] {
  let sqlite: DatabaseSync | undefined
  try {
    sqlite = new DatabaseSync(new URL(`${pathToFileURL(files.database)}?immutable=1`), { readOnly: true })
    return search(sqlite, readPartitionNames(sqlite)).slice(0, PLACES_MAX)
  } catch {
    return []
  } finally {
    sqlite?.close()
  }
}

export function readPartitionNames(sqlite: DatabaseSync): PartitionNames {
  const rows = sqlite
    .prepare('select partitions.id, name, number from partitions join topics on topics.id = partitions.topic_id')
    .all()
  return new Map(
    rows.map((row) => [Number(row['id']), { topic: String(row['name']), partition: Number(row['number']) }]),
  )
}
