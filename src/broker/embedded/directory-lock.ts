import { truncateSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type DataFiles, fileSize } from './data-files.ts'

/**
 * Locks a data directory against other processes, before any of its data is read. It is an operating system lock on an
 * empty file, so it is released however the process ends and is never stale. SQLite takes the lock, because Node has no
 * API for file locks. `acquire` throws SQLite's error if another process holds the lock.
 */
export class DirectoryLock {
  readonly #lock: DatabaseSync

  private constructor(lock: DatabaseSync) {
    this.#lock = lock
  }

  static acquire(files: DataFiles): DirectoryLock {
    // The file is always empty; SQLite might refuse to open one with content.
    if (fileSize(files.lock) > 0) truncateSync(files.lock)
    const lock = new DatabaseSync(files.lock)
    try {
      lock.exec('pragma locking_mode = exclusive; pragma journal_mode = memory; begin exclusive')
      return new DirectoryLock(lock)
    } catch (error) {
      lock.close()
      throw error
    }
  }

  release(): void {
    this.#lock.close()
  }
}
