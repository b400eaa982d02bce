import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { BrokerError } from '../../broker-error.ts'
import { ChecksumFile, syncDirectory } from '../checksum-file.ts'
import { openDataDirectory, toStorageError } from '../data-directory.ts'
import { checkDataDirectory } from '../data-directory-check.ts'
import { dataFilesOf } from '../data-files.ts'
import { copyOnline, type OnProgress } from './online-copy.ts'
import { verifyDatabase } from './verify.ts'

export type BackupReport = { readonly directory: string; readonly backup: string; readonly bytes: number }

/**
 * Copies a consistent state of `directory` to the new data directory `backup`. A program may use `directory` at the
 * same time. The copy is verified completely before this returns; an incomplete copy is removed.
 *
 * Throws `invalid_config` for a directory without data or of an older format, or for a `backup` that is not empty; else
 * as `copyOnline` does.
 */
export async function backUp(
  directory: string,
  backup: string,
  nowMs: number,
  onProgress: OnProgress,
): Promise<BackupReport> {
  const [from, to] = [dataFilesOf(directory), dataFilesOf(backup)]
  const found = existsSync(from.check) ? undefined : checkDataDirectory(from, { pages: 0, faults: 1 })
  if (found !== undefined) throw uncheckedError(directory, found.kind)
  if (hasEntries(backup))
    throw new BrokerError('invalid_config', `${backup} is not empty: a backup needs a new directory`)
  mkdirSync(backup, { recursive: true })
  try {
    const database = openSync(to.database, 'wx+')
    try {
      const { header, sums } = await copyOnline(from, { files: to, database }, onProgress)
      ChecksumFile.create(to.check, header, sums).close()
    } finally {
      closeSync(database)
    }
    // Opening it checks its files and moves the log into the database.
    openDataDirectory(backup, { nowMs, fsync: 'checkpoint' }).close()
    onProgress('verifying', 0, 1)
    const [fault] = (await verifyDatabase(backup)).faults
    if (fault !== undefined) throw new BrokerError('data_corrupt', `${directory} is damaged: ${fault.message}`)
    onProgress('verifying', 1, 1)
    for (const file of [to.lock, to.holder]) rmSync(file, { force: true })
    syncDirectory(backup)
    return { directory, backup, bytes: statSync(to.database).size }
  } catch (error) {
    for (const name of readdirSync(backup)) rmSync(join(backup, name), { recursive: true, force: true })
    throw toStorageError(error, backup)
  }
}

export function hasEntries(directory: string): boolean {
  try {
    return readdirSync(directory).length > 0
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw toStorageError(error, directory)
  }
}

function uncheckedError(directory: string, kind: string): BrokerError {
  if (kind === 'new')
    return new BrokerError('invalid_config', `${directory} is not a data directory: it contains no data`)
  return kind === 'without-checksums'
    ? new BrokerError(
        'invalid_config',
        `${directory} has the format of an older version: start this version on it once, or run weir data verify ${directory}`,
      )
    : new BrokerError('data_corrupt', `${directory} is damaged: run weir data verify ${directory} for details`)
}
