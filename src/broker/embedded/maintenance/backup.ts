import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { backup as copyDatabase, DatabaseSync } from 'node:sqlite'
import { createDirectories } from '../../../common/create-directories.ts'
import { BrokerError } from '../../broker-error.ts'
import { BOOT, CheckFile, type CheckRecord, syncDirectory } from '../check-file.ts'
import { damageError } from '../damage-error.ts'
import { toStorageError } from '../data-directory.ts'
import { type DataFiles, dataFilesOf } from '../data-files.ts'
import { readDirectoryState } from '../directory-state.ts'
import { findDamage, NO_LIMIT } from '../find-damage.ts'
import { installChecksums, readChecksums } from '../row-checksums.ts'
import { unusable } from './verify.ts'

/** Reports the progress of a step: `done` of `all` parts. */
export type OnProgress = (phase: string, done: number, total: number) => void

export type BackupReport = { readonly directory: string; readonly backup: string; readonly bytes: number }

const PAGES_AT_ONCE = 256

/**
 * Copies a consistent state of `directory` to the new data directory `backup`. A program may use `directory` at the
 * same time. The copy is verified completely before this returns; an incomplete copy is removed.
 *
 * Throws `invalid_config` for a directory without data or of an older format, or for a `backup` that is not empty, and
 * `data_corrupt` if the copy is damaged.
 */
export async function backUp(directory: string, backup: string, onProgress: OnProgress): Promise<BackupReport> {
  const [from, to] = [dataFilesOf(directory), dataFilesOf(backup)]
  const state = readDirectoryState(from)
  if (state.kind !== 'current') throw unusable(from, state)
  if (hasEntries(backup))
    throw new BrokerError('invalid_config', `${backup} is not empty: a backup needs a new directory`)
  createDirectories(backup)
  try {
    await copySnapshot(from, to, onProgress)
    onProgress('verifying', 0, 1)
    finish(from, to, state.record)
    onProgress('verifying', 1, 1)
    return { directory, backup, bytes: statSync(to.database).size }
  } catch (error) {
    for (const name of readdirSync(backup)) rmSync(join(backup, name), { recursive: true, force: true })
    throw toStorageError(error, backup)
  }
}

async function copySnapshot(from: DataFiles, to: DataFiles, onProgress: OnProgress): Promise<void> {
  const isInUse = existsSync(`${from.database}-shm`)
  const source = new DatabaseSync(from.database, { readOnly: true })
  try {
    // The copy would begin again with each commit of another process, if this did not hold the state at its beginning.
    source.exec('begin')
    source.prepare('select 1 from sqlite_schema').get()
    const progress = ({ totalPages, remainingPages }: { totalPages: number; remainingPages: number }) =>
      onProgress('copying', totalPages - remainingPages, totalPages)
    await copyDatabase(source, to.database, { rate: PAGES_AT_ONCE, progress })
  } finally {
    source.close()
    if (!isInUse) rmSync(`${from.database}-shm`, { force: true })
  }
}

/** Verifies the copy, and gives it an id of its own, so that its files cannot be mixed with those of the original. */
function finish(from: DataFiles, to: DataFiles, record: CheckRecord): void {
  const sqlite = new DatabaseSync(to.database)
  try {
    const damage = findDamage(sqlite, from, record, NO_LIMIT)
    if (damage.faults.length > 0) throw damageError(from, damage)
    installChecksums(sqlite)
    const directoryId = randomUUID()
    sqlite.prepare("update checksums set value = ? where name = 'directory'").run(directoryId)
    const { commit } = readChecksums(sqlite)
    CheckFile.create(to.check, { directoryId, commit, closed: true, boot: BOOT, ends: record.ends }).close()
  } finally {
    sqlite.close()
  }
  syncDirectory(to.directory)
}

export function hasEntries(directory: string): boolean {
  try {
    return readdirSync(directory).length > 0
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw toStorageError(error, directory)
  }
}
