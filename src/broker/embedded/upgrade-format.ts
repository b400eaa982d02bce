import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { BOOT, CheckFile } from './check-file.ts'
import { type DataFiles, fileSize, readBytes } from './data-files.ts'
import { CHECKSUMS_SCHEMA, FORMAT, PAGE_BYTES } from './database-format.ts'
import { type Damage, type FileFault, findDamage, missingRanges, NO_LIMIT, readPartitionNames } from './find-damage.ts'
import { readDatabase } from './read-database.ts'
import { readChecksums, storeChecksums } from './row-checksums.ts'

/**
 * Checks a database of format 1 or 2 completely, because it has no checksums of its rows. Changes nothing, except that a
 * log without acknowledged data is removed.
 */
export function damageOfEarlierFormat(files: DataFiles): Damage {
  const header = readFormat2Check(files)
  if (header === 'damaged') return { faults: [{ file: files.check, message: 'is damaged' }], ranges: [] }
  if (header?.state === 'clean') rmSync(files.wal, { force: true })
  return readDatabase(files, true, (sqlite) => {
    const lost = header && faultOfLog(sqlite, files, header)
    const { faults, ranges } = findDamage(sqlite, files, undefined, NO_LIMIT)
    if (lost === undefined) return { faults, ranges }
    const missing = missingRanges(sqlite, header!.ends, readPartitionNames(sqlite))
    return { faults: [lost, ...faults], ranges: [...missing, ...ranges] }
  })
}

/**
 * Adds the table `checksums` and creates `broker.check`. The file is created first, with the commit 0: if the process is
 * killed in between, the next start repeats this.
 */
export function upgradeFormat(sqlite: DatabaseSync, files: DataFiles): CheckFile {
  sqlite.prepare('pragma wal_checkpoint(truncate)').get()
  const isUpgraded = sqlite.prepare('pragma user_version').get()?.['user_version'] === FORMAT
  const directoryId = isUpgraded ? readChecksums(sqlite).directoryId : randomUUID()
  const check = CheckFile.create(files.check, { directoryId, commit: 0, closed: false, boot: BOOT, ends: new Map() })
  if (!isUpgraded) {
    sqlite.exec(`begin; ${CHECKSUMS_SCHEMA}`)
    storeChecksums(sqlite, directoryId)
    sqlite.exec(`pragma user_version = ${FORMAT}; commit;`)
    // The format is read from the database file.
    sqlite.prepare('pragma wal_checkpoint(truncate)').get()
  }
  check.acknowledge(1, new Map())
  return check
}

/** The header of `broker.check` in format 2. */
type Format2Check = {
  readonly state: 'clean' | 'running' | 'checkpointing'
  /** The acknowledged bytes of the write-ahead log, which has these salts in its header. */
  readonly walBytes: number
  readonly salts: readonly [number, number]
  readonly ends: ReadonlyMap<number, number>
}

const STATES = ['clean', 'running', 'checkpointing'] as const
const MAGIC = 'WEIRCHK1'
const SUM_AT = 76
const ENDS_AT = 80
const END_BYTES = 16

/** Undefined for a directory of format 1, or one whose upgrade was interrupted. */
function readFormat2Check({ check }: DataFiles): Format2Check | 'damaged' | undefined {
  const size = fileSize(check)
  if (size === 0) return undefined
  const bytes = readFileSync(check)
  const state = size < ENDS_AT ? undefined : STATES[bytes.readUInt32LE(8)]
  if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return undefined
  const count = bytes.readUInt32LE(12)
  if (state === undefined || ENDS_AT + count * END_BYTES > size) return 'damaged'
  const sum = crc32(bytes.subarray(ENDS_AT, ENDS_AT + count * END_BYTES), crc32(bytes.subarray(0, SUM_AT)))
  if (bytes.readUInt32LE(SUM_AT) !== sum) return 'damaged'
  const ends = Array.from({ length: count }, (_, index): [number, number] => {
    const at = ENDS_AT + index * END_BYTES
    return [bytes.readUInt32LE(at), bytes.readDoubleLE(at + 8)]
  })
  const salts = [bytes.readUInt32LE(32), bytes.readUInt32LE(36)] as const
  return { state, walBytes: bytes.readDoubleLE(24), salts, ends: new Map(ends) }
}

const WAL_HEADER_BYTES = 32
const WAL_SALTS_AT = 16
const WAL_FRAME_BYTES = PAGE_BYTES + 24

/** SQLite reads the log up to its first damaged frame. */
function faultOfLog(sqlite: DatabaseSync, { wal }: DataFiles, header: Format2Check): FileFault | undefined {
  if (header.state === 'clean' || header.walBytes === 0) return undefined
  // The checkpoint was completed: it had emptied the log.
  if (header.state === 'checkpointing' && fileSize(wal) === 0) return undefined
  const frames = Number(sqlite.prepare('pragma wal_checkpoint(noop)').get()?.['log'])
  const readable = frames > 0 ? WAL_HEADER_BYTES + frames * WAL_FRAME_BYTES : 0
  const salts = readBytes(wal, WAL_HEADER_BYTES)
  const isOwn =
    salts.readUInt32BE(WAL_SALTS_AT) === header.salts[0] && salts.readUInt32BE(WAL_SALTS_AT + 4) === header.salts[1]
  if (isOwn && readable >= header.walBytes) return undefined
  const message = `${header.walBytes} bytes were acknowledged, but only ${isOwn ? readable : 0} bytes are readable`
  return { file: wal, message: `is missing, truncated or damaged: ${message}` }
}
