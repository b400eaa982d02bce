import { closeSync, openSync, readSync, statSync } from 'node:fs'
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

/** The first bytes of a file; zeros after its end, and for a file that does not exist. */
export function readBytes(path: string, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  if (fileSize(path) === 0) return bytes
  const file = openSync(path, 'r')
  try {
    readSync(file, bytes, 0, length, 0)
    return bytes
  } finally {
    closeSync(file)
  }
}
