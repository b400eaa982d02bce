import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The files of a data directory. */
export type DataFiles = {
  readonly directory: string
  readonly database: string
  /** SQLite's write-ahead log. */
  readonly wal: string
  readonly check: string
  /** Locked by the process that has the directory; empty. */
  readonly lock: string
  /** Says who has it, for people. */
  readonly holder: string
}

export function dataFilesOf(directory: string): DataFiles {
  const database = join(directory, 'broker.db')
  return {
    directory,
    database,
    wal: `${database}-wal`,
    check: join(directory, 'broker.check'),
    lock: join(directory, 'broker.lock'),
    holder: join(directory, 'holder.json'),
  }
}

/** 0 for a file that does not exist. */
export function fileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** Opens a file to read and closes it; undefined when there is none. */
export function withFile<T>(path: string, read: (file: number) => T): T | undefined {
  if (!existsSync(path)) return undefined
  const file = openSync(path, 'r')
  try {
    return read(file)
  } finally {
    closeSync(file)
  }
}

export type DatabaseHeader = {
  readonly isSqlite: boolean
  readonly pageBytes: number
  readonly format: number
  readonly applicationId: number
}

/** What the first 100 bytes of a SQLite database say. */
export function readDatabaseHeader(file: number): DatabaseHeader {
  const bytes = Buffer.alloc(100)
  readSync(file, bytes, 0, bytes.length, 0)
  return databaseHeaderOf(bytes)
}

export function databaseHeaderOf(bytes: Buffer): DatabaseHeader {
  return {
    isSqlite: bytes.toString('latin1', 0, 16) === 'SQLite format 3\0',
    pageBytes: bytes.readUInt16BE(16),
    format: bytes.readUInt32BE(60),
    applicationId: bytes.readUInt32BE(68),
  }
}
