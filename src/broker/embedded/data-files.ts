import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Paths of the files in a data directory. */
export type DataFiles = {
  readonly directory: string
  readonly database: string
  /** SQLite's write-ahead log. */
  readonly wal: string
  readonly check: string
  /** An empty file, locked by the process that uses the directory. */
  readonly lock: string
  /** Describes the process that uses the directory, for people. */
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

/** Calls `read` with a file descriptor and then closes it. Returns undefined if the file does not exist. */
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

/** Reads the 100-byte header of a SQLite database. */
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
