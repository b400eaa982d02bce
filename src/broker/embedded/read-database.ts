import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { DataFiles } from './data-files.ts'

/**
 * Reads a database with its write-ahead log, as at one moment, without changing either: an opening for writes moves the
 * log into the database and removes it, also one that belongs to another database. `isLocked`: no other process uses it.
 */
export function readDatabase<T>(files: DataFiles, isLocked: boolean, read: (sqlite: DatabaseSync) => T): T {
  const sqlite = new DatabaseSync(files.database, { readOnly: true })
  try {
    return read(sqlite)
  } finally {
    sqlite.close()
    if (isLocked) rmSync(`${files.database}-shm`, { force: true })
  }
}
