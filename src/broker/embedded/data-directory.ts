import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { BrokerError } from '../error.ts'
import { APPLICATION_ID, FORMAT, SCHEMA } from './schema.ts'

/** As a directory: nothing on disk, gone when closed. For tests. */
export const IN_MEMORY = ':memory:'

/** What the file of a holder says: for people; the lock itself is the operating system's. */
type Holder = { readonly pid: number; readonly host: string; readonly since: string }

const PAGE_BYTES = 16_384
const LOG_BYTES_BEFORE_CHECKPOINT = 16 * 1024 * 1024
const CACHE_KIBIBYTES = 16_384

const SQLITE_FULL = 13
const SQLITE_BUSY = 5
const SQLITE_CORRUPT = new Set([11, 26])

/**
 * Opens the database of a data directory, made if it is not there, and holds it alone. The lock is the database
 * file's own (`locking_mode=exclusive`, a POSIX lock): it dies with its process however that ends, so none is ever
 * stale and no process id has to be believed. `holder.json` only says to others who it is.
 *
 * Rejects with `data_locked`, `data_newer`, `data_corrupt`, `disk_full`, or `invalid_config` for a path that can't hold
 * a data directory.
 */
export function openDataDirectory(directory: string, nowMs: number): DatabaseSync {
  if (directory === IN_MEMORY) return prepare(new DatabaseSync(IN_MEMORY), directory)
  try {
    mkdirSync(directory, { recursive: true })
    const database = new DatabaseSync(join(directory, 'broker.db'))
    try {
      prepare(database, directory)
      const holder: Holder = { pid: process.pid, host: hostname(), since: new Date(nowMs).toISOString() }
      writeFileSync(holderFile(directory), JSON.stringify(holder))
      return database
    } catch (error) {
      database.close()
      throw error
    }
  } catch (error) {
    throw toStorageError(error, directory)
  }
}

/** What a failure of the database means to the caller; what is no failure of the disk stays as it is. */
export function toStorageError(error: unknown, directory: string): unknown {
  if (error instanceof BrokerError) return error
  const message = error instanceof Error ? error.message : String(error)
  const number = primaryCode(error)
  if (number === SQLITE_BUSY) {
    return new BrokerError('data_locked', `data directory ${directory} is in use by ${holderOf(directory)}`)
  }
  if (number === SQLITE_FULL || isNoSpace(error)) {
    return new BrokerError('disk_full', `no space left for data directory ${directory}`, { cause: error })
  }
  if (number !== undefined && SQLITE_CORRUPT.has(number)) {
    const file = join(directory, 'broker.db')
    return new BrokerError('data_corrupt', `${file} is damaged or not a Weir data file: ${message}`, { cause: error })
  }
  if (number === undefined && !isSystemError(error)) return error
  return new BrokerError('invalid_config', `data directory ${directory} can't be used: ${message}`, { cause: error })
}

function prepare(database: DatabaseSync, directory: string): DatabaseSync {
  database.exec(`
    pragma locking_mode = exclusive;
    pragma page_size = ${PAGE_BYTES};
    pragma auto_vacuum = incremental;
    pragma journal_mode = wal;
    pragma synchronous = normal;
    pragma wal_autocheckpoint = ${LOG_BYTES_BEFORE_CHECKPOINT / PAGE_BYTES};
    pragma cache_size = -${CACHE_KIBIBYTES};
    begin exclusive;
    commit;
  `)
  const format = pragma(database, 'user_version')
  const application = pragma(database, 'application_id')
  if (format > FORMAT) {
    throw new BrokerError(
      'data_newer',
      `data directory ${directory} has format ${format}, this Weir reads up to ${FORMAT}: use the newer Weir`,
    )
  }
  const foreign = application !== APPLICATION_ID
  if (foreign && (format !== 0 || hasTables(database))) {
    throw new BrokerError('data_corrupt', `${join(directory, 'broker.db')} is a database, but not one of Weir's`)
  }
  if (foreign) {
    const create = `${SCHEMA} pragma application_id = ${APPLICATION_ID}; pragma user_version = ${FORMAT};`
    database.exec(`begin; ${create} commit;`)
  }
  return database
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`pragma ${name}`).get()?.[name])
}

function hasTables(database: DatabaseSync): boolean {
  return database.prepare('select 1 from sqlite_schema limit 1').get() !== undefined
}

function holderFile(directory: string): string {
  return join(directory, 'holder.json')
}

function holderOf(directory: string): string {
  try {
    const holder = JSON.parse(readFileSync(holderFile(directory), 'utf8')) as Holder
    return `process ${holder.pid} on host ${holder.host} since ${holder.since}`
  } catch {
    return 'another process that has just started'
  }
}

/** SQLite's primary result code; the extended ones carry detail in the higher bits. */
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
