import {
  closeSync,
  copyFileSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { BrokerError } from '../../broker-error.ts'
import { ChecksumFile, type ChecksumFileHeader } from '../checksum-file.ts'
import type { DamagedRange } from '../damage-error.ts'
import { openDataDirectory } from '../data-directory.ts'
import { type DataFiles, dataFilesOf, fileSize, withFile } from '../data-files.ts'
import { PAGE_BYTES } from '../database-format.ts'
import { findDamagedPages } from '../page-checksums.ts'
import { readFrames, readSalts, type Salts } from '../sqlite-wal.ts'
import type { OnProgress } from './online-copy.ts'
import { moveAside, moveInto } from './restore.ts'
import { salvage } from './salvage.ts'
import { verifyDirectory } from './verify.ts'
import { withDirectoryLock } from './with-directory-lock.ts'

/** Positions in the header of a database file. */
const JOURNAL_MODE_AT = 18
const DATABASE_PAGES_AT = 28

export type RepairReport = {
  readonly directory: string
  /** True: no damage was found, and nothing was changed. */
  readonly isSound: boolean
  /** Directory with the original files. */
  readonly damaged: string | undefined
  readonly batches: number
  /** Offsets that could not be recovered. May include offsets that compaction had already removed. */
  readonly lost: readonly DamagedRange[]
  /** Messages about other data that could not be read. */
  readonly notes: readonly string[]
}

/**
 * Replaces a damaged data directory by one with all data that is still readable. The damaged files are moved into a
 * subdirectory. End offsets stay at their acknowledged values, so that no offset is assigned twice.
 *
 * Throws `data_locked` if a program uses the directory, and `data_corrupt` if the database file is missing.
 */
export async function repair(directory: string, nowMs: number, onProgress: OnProgress): Promise<RepairReport> {
  const report = await verifyDirectory(directory, nowMs, onProgress)
  if (report.isInUse) throw new BrokerError('data_locked', `${directory} is in use by a program: stop it first`)
  if (report.faults.length === 0) {
    return { directory, isSound: true, damaged: undefined, batches: 0, lost: [], notes: [] }
  }
  const files = dataFilesOf(directory)
  const repaired = withDirectoryLock(files, () => repairLocked(files, nowMs, onProgress))
  if (repaired === 'in use') throw new BrokerError('data_locked', `${directory} is in use by a program: stop it first`)
  return repaired
}

function repairLocked(files: DataFiles, nowMs: number, onProgress: OnProgress): RepairReport {
  if (!existsSync(files.database)) {
    throw new BrokerError('data_corrupt', `${files.database} is missing, so nothing can be repaired: restore a backup`)
  }
  const temporary = join(files.directory, 'repair.tmp')
  rmSync(temporary, { recursive: true, force: true })
  mkdirSync(temporary)
  const header = readCheckHeader(files)
  const image = join(temporary, 'image.db')
  const { notes, logPages } = makeImage(files, image, header)
  const damagedPages = damagedPagesOf(files, header, logPages)
  replaceSchema(image, damagedPages, join(temporary, 'empty'), nowMs)
  const rebuilt = dataFilesOf(join(temporary, 'data'))
  const data = openDataDirectory(rebuilt.directory, { nowMs, fsync: 'checkpoint' })
  const source = new DatabaseSync(image)
  try {
    const target = { sqlite: data.sqlite, stored: () => data.check?.checkpoint() }
    const evidence = { ends: header?.ends ?? new Map(), damagedPages }
    const { batches, lost, notes: more } = salvage(source, target, evidence, onProgress)
    data.close()
    const damaged = moveAside(files, 'damaged', nowMs)
    moveInto(rebuilt, files)
    return { directory: files.directory, isSound: false, damaged, batches, lost, notes: [...notes, ...more] }
  } finally {
    source.close()
    rmSync(temporary, { recursive: true, force: true })
  }
}

function readCheckHeader(files: DataFiles): ChecksumFileHeader | undefined {
  if (!existsSync(files.check)) return undefined
  const check = ChecksumFile.open(files.check, 'r')
  try {
    return check.readHeader()
  } finally {
    check.close()
  }
}

/**
 * Copies the database to `image` and applies all valid frames of the log, if the log belongs to the database. Unlike
 * SQLite's recovery, it continues after a damaged frame. Returns messages about skipped data, and the pages that were taken
 * from the log.
 */
function makeImage(files: DataFiles, image: string, header: ChecksumFileHeader | undefined) {
  copyFileSync(files.database, image)
  const notes: string[] = []
  let logPages: ReadonlySet<number> = new Set()
  const target = openSync(image, 'r+')
  try {
    withFile(files.wal, (wal) => {
      if (!belongs(header, readSalts(wal))) {
        notes.push(`${files.wal} does not belong to the database or is damaged at its beginning: it was not used`)
        return
      }
      logPages = applyFrames(wal, target, (at) =>
        notes.push(
          `${files.wal}: the frame at byte ${at} is damaged; changes of topics, transactions and offsets may be missing`,
        ),
      )
    })
    // Sets the journal mode in the database header to rollback, because the image has no write-ahead log.
    writeSync(target, Buffer.from([1, 1]), 0, 2, JOURNAL_MODE_AT)
  } finally {
    closeSync(target)
  }
  return { notes, logPages }
}

/** Pages of the database file that do not match their checksum and have no version in the log. */
function damagedPagesOf(
  files: DataFiles,
  header: ChecksumFileHeader | undefined,
  logPages: ReadonlySet<number>,
): ReadonlySet<number> {
  if (header === undefined) return new Set()
  const range = { from: 1, to: header.pages, except: logPages }
  const check = ChecksumFile.open(files.check, 'r')
  try {
    return new Set(withFile(files.database, (database) => [...findDamagedPages(database, check, range)]))
  } finally {
    check.close()
  }
}

/**
 * Replaces a damaged first page, which contains the schema, by that of an empty database. This works because the tables of all
 * databases begin at the same pages.
 */
function replaceSchema(image: string, damagedPages: ReadonlySet<number>, directory: string, nowMs: number): void {
  if (!damagedPages.has(1) && hasSchema(image)) return
  openDataDirectory(directory, { nowMs, fsync: 'checkpoint' }).close()
  const page = readFileSync(dataFilesOf(directory).database).subarray(0, PAGE_BYTES)
  page.set([1, 1], JOURNAL_MODE_AT)
  page.writeUInt32BE(Math.ceil(fileSize(image) / PAGE_BYTES), DATABASE_PAGES_AT)
  const file = openSync(image, 'r+')
  try {
    writeSync(file, page, 0, PAGE_BYTES, 0)
  } finally {
    closeSync(file)
  }
}

function hasSchema(image: string): boolean {
  const sqlite = new DatabaseSync(image)
  try {
    return sqlite.prepare('select 1 from sqlite_schema limit 1').get() !== undefined
  } catch {
    return false
  } finally {
    sqlite.close()
  }
}

function belongs(header: ChecksumFileHeader | undefined, salts: Salts | undefined): boolean {
  if (salts === undefined || header?.state === 'clean') return false
  if (header === undefined) return true
  return salts.first === header.salts.first && (header.walBytes === 0 || salts.second === header.salts.second)
}

/** Applies the valid frames up to the last commit. Returns their pages. */
function applyFrames(wal: number, target: number, damaged: (at: number) => void): ReadonlySet<number> {
  const applied = new Set<number>()
  let end = 0
  let pages = 0
  for (const frame of readFrames(wal)) {
    if (frame.isSound && frame.commitPages > 0) {
      end = frame.at
      pages = frame.commitPages
    }
  }
  for (const frame of readFrames(wal)) {
    if (frame.at > end) break
    if (frame.isSound) {
      writeSync(target, frame.content, 0, PAGE_BYTES, (frame.page - 1) * PAGE_BYTES)
      applied.add(frame.page)
    } else damaged(frame.at)
  }
  if (pages > 0) ftruncateSync(target, pages * PAGE_BYTES)
  return applied
}
