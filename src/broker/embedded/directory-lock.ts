import { truncateSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type DataFiles, fileSize } from './files.ts'

/**
 * Holds a data directory against other processes, before any of its data is read. The lock is the operating system's, on
 * an empty file that SQLite has open: it ends with its process however that ends, so none is ever stale. Node has no
 * call of its own for such locks. SQLite's error is thrown when another process has it.
 */
export class DirectoryLock {
  readonly #lock: DatabaseSync

  private constructor(lock: DatabaseSync) {
    this.#lock = lock
  }

  static acquire(files: DataFiles): DirectoryLock {
    // Nothing is ever written to it; what is in it would only keep it from being opened.
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
