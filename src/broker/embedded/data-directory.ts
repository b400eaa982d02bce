import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../../common/errors.ts'
import type { DataFsync } from '../broker-address.ts'
import { BrokerError } from '../broker-error.ts'
import { ChecksummedDatabase, discardWal } from './checksummed-database.ts'
import { damageError } from './damage-error.ts'
import { type CheckLimit, checkDataDirectory, newerFormatError } from './data-directory-check.ts'
import { type DataFiles, dataFilesOf, fileSize } from './data-files.ts'
import { APPLICATION_ID, FORMAT, FORMAT_WITHOUT_CHECKSUMS, PAGE_BYTES, SCHEMA } from './database-format.ts'
import { DirectoryLock } from './directory-lock.ts'
import { findDamage } from './find-damage.ts'

/** Directory name for a database in memory, for tests. */
export const IN_MEMORY = ':memory:'

/** Content of the holder file, for people; the lock itself is held by the operating system. */
type Holder = { readonly pid: number; readonly host: string; readonly since: string }

/** An open data directory. `check` is absent for a database in memory. */
export type DataDirectory = {
  readonly sqlite: DatabaseSync
  readonly check: ChecksummedDatabase | undefined
  /** Pages up to this one were verified. */
  readonly pagesChecked: number
  /** If the write-ahead log cannot be checkpointed, throws and keeps everything open and locked. */
  close(): void
}

export type OpenDataDirectoryOptions = {
  readonly nowMs: number
  readonly fsync: DataFsync
  readonly limit?: CheckLimit
}

const CACHE_KIBIBYTES = 16_384
/** What a start verifies, at most some seconds of work; the rest is verified in the background. */
const START_LIMIT: CheckLimit = { pages: (2 * 1024 ** 3) / PAGE_BYTES, faults: 1 }

const SQLITE_FULL = 13
const SQLITE_BUSY = 5
const SQLITE_CORRUPT = new Set([11, 26])

/**
 * Opens the database of a data directory exclusively, creating it if missing. Its files are checked against each other
 * before anything is read or written.
 *
 * Throws `data_locked`, `data_newer`, `data_corrupt`, `disk_full`, or `invalid_config` for an unusable path.
 */
export function openDataDirectory(directory: string, options: OpenDataDirectoryOptions): DataDirectory {
  if (directory === IN_MEMORY) {
    const sqlite = new DatabaseSync(IN_MEMORY)
    setPageLayout(sqlite)
    configure(sqlite, options.fsync)
    createTables(sqlite, dataFilesOf(directory))
    return { sqlite, check: undefined, pagesChecked: 0, close: () => sqlite.close() }
  }
  const files = dataFilesOf(directory)
  try {
    mkdirSync(directory, { recursive: true })
    const lock = DirectoryLock.acquire(files)
    try {
      return openLocked(files, lock, options)
    } catch (error) {
      lock.release()
      throw error
    }
  } catch (error) {
    throw toStorageError(error, directory)
  }
}

function openLocked(files: DataFiles, lock: DirectoryLock, options: OpenDataDirectoryOptions): DataDirectory {
  const found = checkDataDirectory(files, options.limit ?? START_LIMIT)
  if (found.kind === 'damaged') throw damageError(files, found)
  if (found.kind === 'with-checksums' && !found.usesWal) discardWal(files)
  const sqlite = new DatabaseSync(files.database)
  let check: ChecksummedDatabase | undefined
  try {
    if (fileSize(files.database) === 0) setPageLayout(sqlite)
    configure(sqlite, options.fsync)
    if (found.kind === 'with-checksums') check = ChecksummedDatabase.resume(sqlite, files, found)
    else {
      createTables(sqlite, files)
      // A database without checksums is verified completely before it is adopted.
      if (found.kind === 'without-checksums') for (const damage of findDamage(sqlite)) throw damageError(files, damage)
      check = ChecksummedDatabase.create(sqlite, files)
    }
    start(sqlite, check, options.nowMs)
  } catch (error) {
    sqlite.close()
    check?.abandon()
    throw error
  }
  writeHolder(files, options.nowMs)
  const checked = check
  return {
    sqlite,
    check,
    pagesChecked: found.kind === 'with-checksums' ? found.pagesChecked : check.pages,
    close: () => {
      checked.close()
      lock.release()
    },
  }
}

/** Converts database and disk errors; other errors are returned unchanged. */
export function toStorageError(error: unknown, directory: string): unknown {
  if (error instanceof BrokerError) return error
  const message = messageOf(error)
  const files = dataFilesOf(directory)
  const number = primaryCode(error)
  if (number === SQLITE_BUSY) {
    return new BrokerError('data_locked', `data directory ${directory} is in use by ${holderOf(files)}`)
  }
  if (number === SQLITE_FULL || isNoSpace(error)) {
    return new BrokerError('disk_full', `no space left for data directory ${directory}`, { cause: error })
  }
  if (number !== undefined && SQLITE_CORRUPT.has(number)) {
    return damageError(files, { faults: [{ file: files.database, message: `cannot be read: ${message}` }] })
  }
  if (number === undefined && !isSystemError(error)) return error
  return new BrokerError('invalid_config', `data directory ${directory} cannot be used: ${message}`, { cause: error })
}

/** Settings that apply only before the first page is written. */
function setPageLayout(sqlite: DatabaseSync): void {
  sqlite.exec(`pragma page_size = ${PAGE_BYTES}; pragma auto_vacuum = incremental;`)
}

function configure(sqlite: DatabaseSync, fsync: DataFsync): void {
  sqlite.exec(`
    pragma locking_mode = exclusive;
    pragma journal_mode = wal;
    pragma synchronous = ${fsync === 'commit' ? 'full' : 'normal'};
    pragma wal_autocheckpoint = 0;
    pragma cache_size = -${CACHE_KIBIBYTES};
    pragma cache_spill = off;
    begin exclusive;
    commit;
  `)
}

function createTables(sqlite: DatabaseSync, files: DataFiles): void {
  const format = pragma(sqlite, 'user_version')
  if (format > FORMAT) throw newerFormatError(files, format)
  if (pragma(sqlite, 'application_id') === APPLICATION_ID) return
  if (format !== 0 || hasTables(sqlite)) {
    throw new BrokerError('data_corrupt', `${files.database} is a database of another application`)
  }
  const pragmas = `pragma application_id = ${APPLICATION_ID}; pragma user_version = ${FORMAT_WITHOUT_CHECKSUMS};`
  sqlite.exec(`begin; ${SCHEMA} ${pragmas} commit;`)
}

/**
 * Makes the first commit, which registers the current write-ahead log in the checksum file before anything is
 * acknowledged. On a full disk the directory is readable, and the commit is made before the first write.
 */
function start(sqlite: DatabaseSync, check: ChecksummedDatabase, nowMs: number): void {
  try {
    if (check.isCheckpointDue) check.checkpoint()
    startLog(sqlite, check, nowMs)
    if (pragma(sqlite, 'user_version') === FORMAT) return
    sqlite.exec(`pragma user_version = ${FORMAT}`)
    check.checkpoint()
  } catch (error) {
    if (primaryCode(error) !== SQLITE_FULL && !isNoSpace(error)) throw error
  }
}

/** Makes the first commit if it has not been made. */
export function startLog(sqlite: DatabaseSync, check: ChecksummedDatabase, nowMs: number): void {
  if (check.isStarted) return
  sqlite.prepare("insert or replace into settings (name, value) values ('opened_ms', ?)").run(nowMs)
  check.acknowledge(new Map())
}

function writeHolder(files: DataFiles, nowMs: number): void {
  const holder: Holder = { pid: process.pid, host: hostname(), since: new Date(nowMs).toISOString() }
  try {
    writeFileSync(files.holder, JSON.stringify(holder))
  } catch (error) {
    if (!isNoSpace(error)) throw error
  }
}

function pragma(sqlite: DatabaseSync, name: string): number {
  return Number(sqlite.prepare(`pragma ${name}`).get()?.[name])
}

function hasTables(sqlite: DatabaseSync): boolean {
  return sqlite.prepare('select 1 from sqlite_schema limit 1').get() !== undefined
}

function holderOf(files: DataFiles): string {
  try {
    const holder = JSON.parse(readFileSync(files.holder, 'utf8')) as Holder
    return `process ${holder.pid} on host ${holder.host} since ${holder.since}`
  } catch {
    return 'another process that has just started'
  }
}

/** SQLite's primary result code, without the bits of the extended code. */
function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode & 0xff
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}

function isNoSpace(error: unknown): boolean {
  return isSystemError(error) && error.code === 'ENOSPC'
}
