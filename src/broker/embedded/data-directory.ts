import { readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createDirectories } from '../../common/create-directories.ts'
import { messageOf } from '../../common/errors.ts'
import type { DataFsync } from '../broker-address.ts'
import { BrokerError } from '../broker-error.ts'
import { CheckFile, syncDirectory } from './check-file.ts'
import { damageError } from './damage-error.ts'
import { type DataFiles, dataFilesOf, fileSize } from './data-files.ts'
import { APPLICATION_ID, CHECKSUMS_SCHEMA, FORMAT, PAGE_BYTES, SCHEMA } from './database-format.ts'
import { DirectoryLock } from './directory-lock.ts'
import { type DirectoryState, newerFormatError, readDirectoryState } from './directory-state.ts'
import { type CheckLimit, type Damage, findDamage } from './find-damage.ts'
import { readDatabase } from './read-database.ts'
import { installChecksums, storeChecksums } from './row-checksums.ts'
import { damageOfEarlierFormat, upgradeFormat } from './upgrade-format.ts'

/** Directory name for a database in memory, for tests. */
export const IN_MEMORY = ':memory:'

/** Content of the holder file, for people; the lock itself is held by the operating system. */
type Holder = { readonly pid: number; readonly host: string; readonly since: string }

/** An open data directory. `check` is absent for a database in memory. */
export type DataDirectory = {
  readonly sqlite: DatabaseSync
  readonly check: CheckFile | undefined
  /** Returns whether the write-ahead log was moved into the database. Otherwise it is kept for the next start. */
  close(): boolean
}

export type OpenDataDirectoryOptions = { readonly nowMs: number; readonly fsync: DataFsync }

const CACHE_KIBIBYTES = 16_384
/** Size of the write-ahead log that triggers a checkpoint. */
const CHECKPOINT_BYTES = 16 * 1024 * 1024
/** The structure and all rows are checked at a start, and the content of this much: some seconds of work. The rest is checked when it is read. */
const START_LIMIT: CheckLimit = { batchBytes: 1024 ** 3, faults: 1 }

const SQLITE_FULL = 13
const SQLITE_READ_ONLY = new Set([8, 14])
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
    sqlite.exec(CHECKSUMS_SCHEMA)
    storeChecksums(sqlite, directory)
    installChecksums(sqlite)
    return {
      sqlite,
      check: undefined,
      close: () => {
        sqlite.close()
        return true
      },
    }
  }
  const files = dataFilesOf(directory)
  try {
    // A new directory survives a power cut when the directory that contains it is synced.
    createDirectories(directory, { onCreated: (created) => syncDirectory(dirname(created)) })
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
  const state = readDirectoryState(files)
  const damage = findDamageIn(files, state, START_LIMIT)
  if (damage.faults.length > 0) throw damageError(files, damage)
  const sqlite = new DatabaseSync(files.database)
  let check: CheckFile
  try {
    if (fileSize(files.database) === 0) setPageLayout(sqlite)
    configure(sqlite, options.fsync)
    if (state.kind === 'new') createTables(sqlite, files)
    check = state.kind === 'current' ? CheckFile.open(files.check, state.record) : upgradeFormat(sqlite, files)
    installChecksums(sqlite)
    writeHolder(files, options.nowMs)
  } catch (error) {
    sqlite.close()
    throw error
  }
  return {
    sqlite,
    check,
    close: () => {
      // SQLite moves the log into the database and removes it.
      sqlite.close()
      const isMoved = fileSize(files.wal) === 0
      if (isMoved) check.noteClosed()
      check.close()
      lock.release()
      return isMoved
    },
  }
}

/** Changes nothing, except that a log without acknowledged data is removed from a directory of an earlier format. */
export function findDamageIn(files: DataFiles, state: DirectoryState, limit: CheckLimit): Damage {
  switch (state.kind) {
    case 'new':
      return { faults: [], ranges: [] }
    case 'damaged':
      return state.damage
    case 'earlier':
      return damageOfEarlierFormat(files)
    case 'current':
      return readDatabase(files, true, (sqlite) => findDamage(sqlite, files, state.record, limit))
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
    return damageError(files, { faults: [{ file: files.database, message: `cannot be read: ${message}` }], ranges: [] })
  }
  if (number === undefined && !isSystemError(error)) return error
  if (isReadOnly(error) || (number !== undefined && SQLITE_READ_ONLY.has(number))) {
    const problem = `data directory ${directory} cannot be written, because it or the directory that contains it is read-only, missing or of another user: choose another one with --data DIR, or use Kafka with --bootstrap`
    return new BrokerError('invalid_config', problem, { cause: error })
  }
  return new BrokerError('invalid_config', `data directory ${directory} cannot be used: ${message}`, { cause: error })
}

/** Settings that apply only before the first page is written. */
function setPageLayout(sqlite: DatabaseSync): void {
  sqlite.exec(`pragma page_size = ${PAGE_BYTES}; pragma auto_vacuum = incremental;`)
}

function configure(sqlite: DatabaseSync, fsync: DataFsync): void {
  sqlite.exec(`
    pragma journal_mode = wal;
    pragma synchronous = ${fsync === 'commit' ? 'full' : 'normal'};
    pragma wal_autocheckpoint = ${CHECKPOINT_BYTES / PAGE_BYTES};
    pragma cache_size = -${CACHE_KIBIBYTES};
    pragma cache_spill = off;
  `)
}

function createTables(sqlite: DatabaseSync, files: DataFiles): void {
  const format = pragma(sqlite, 'user_version')
  if (format > FORMAT) throw newerFormatError(files, format)
  if (pragma(sqlite, 'application_id') === APPLICATION_ID) return
  if (format !== 0 || hasTables(sqlite)) {
    throw new BrokerError('data_corrupt', `${files.database} is a database of another application`)
  }
  // As in format 1, so that the next start completes a creation that is interrupted before the checksums are stored.
  const pragmas = `pragma application_id = ${APPLICATION_ID}; pragma user_version = 1;`
  sqlite.exec(`begin; ${SCHEMA} ${pragmas} commit;`)
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

/** Linux reports a directory that cannot be created as missing on some file systems. */
function isReadOnly(error: unknown): boolean {
  return isSystemError(error) && ['EACCES', 'EPERM', 'EROFS', 'ENOENT'].includes(error.code ?? '')
}

function isNoSpace(error: unknown): boolean {
  return isSystemError(error) && error.code === 'ENOSPC'
}
