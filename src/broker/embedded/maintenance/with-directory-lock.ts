import { existsSync } from 'node:fs'
import { BrokerError } from '../../broker-error.ts'
import { toStorageError } from '../data-directory.ts'
import type { DataFiles } from '../data-files.ts'
import { DirectoryLock } from '../directory-lock.ts'

/**
 * Runs `work` while holding the lock of the directory. Returns `in use` if another process holds it. Throws
 * `invalid_config` if the directory does not exist.
 */
export function withDirectoryLock<T>(files: DataFiles, run: () => T): T | 'in use' {
  if (!existsSync(files.directory)) {
    throw new BrokerError('invalid_config', `data directory ${files.directory} does not exist`)
  }
  let lock: DirectoryLock
  try {
    lock = DirectoryLock.acquire(files)
  } catch (error) {
    const reason = toStorageError(error, files.directory)
    if (reason instanceof BrokerError && reason.code === 'data_locked') return 'in use'
    throw reason
  }
  try {
    return run()
  } catch (error) {
    throw toStorageError(error, files.directory)
  } finally {
    lock.release()
  }
}
