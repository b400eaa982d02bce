import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createDirectories } from '../../../common/create-directories.ts'
import { BrokerError } from '../../broker-error.ts'
import { syncDirectory } from '../check-file.ts'
import { toStorageError } from '../data-directory.ts'
import { type DataFiles, dataFilesOf } from '../data-files.ts'
import { hasEntries } from './backup.ts'
import { type VerifyReport, verifyDirectory } from './verify.ts'
import { withDirectoryLock } from './with-directory-lock.ts'

export type RestoreReport = {
  readonly directory: string
  readonly backup: string
  /** Directory with the replaced files; undefined if there were none. */
  readonly replaced: string | undefined
}

/**
 * Restores `backup` to `directory`. The backup is verified completely before anything is changed. Existing data files
 * are moved into a subdirectory, never deleted; this requires `replaces`.
 *
 * Throws `data_corrupt` for a damaged backup, `data_locked` if a program uses either directory, and `invalid_config` if
 * `directory` is not empty and `replaces` is false.
 */
export function restore(
  backup: string,
  directory: string,
  { replaces, nowMs }: { readonly replaces: boolean; readonly nowMs: number },
): RestoreReport {
  const report = verifyDirectory(backup)
  if (report.isInUse) throw new BrokerError('data_locked', `${backup} is in use by a program, so it is not a backup`)
  if (report.faults.length > 0) throw damagedBackup(report)
  const isReplacing = hasEntries(directory)
  if (isReplacing && !replaces) {
    throw new BrokerError(
      'invalid_config',
      `${directory} is not empty: with --replace, its files are moved to a subdirectory`,
    )
  }
  createDirectories(directory)
  const files = dataFilesOf(directory)
  const restored = withDirectoryLock(files, () => {
    const temporary = join(directory, 'restore.tmp')
    rmSync(temporary, { recursive: true, force: true })
    mkdirSync(temporary)
    copyFiles(dataFilesOf(backup), dataFilesOf(temporary))
    const replaced = isReplacing ? moveAside(files, 'replaced', nowMs) : undefined
    moveInto(dataFilesOf(temporary), files)
    rmSync(temporary, { recursive: true })
    return { directory, backup, replaced }
  })
  if (restored === 'in use') throw new BrokerError('data_locked', `${directory} is in use by a program: stop it first`)
  return restored
}

function damagedBackup({ directory, faults }: VerifyReport): BrokerError {
  return new BrokerError(
    'data_corrupt',
    `the backup ${directory} is damaged: ${faults.map(({ file, message }) => `${file} ${message}`).join('; ')}`,
  )
}

function copyFiles(from: DataFiles, to: DataFiles): void {
  for (const name of ['database', 'wal', 'check'] as const)
    if (existsSync(from[name])) copyFileSync(from[name], to[name])
}

/** Moves the data files into a new subdirectory and returns its path; undefined if there are no data files. */
export function moveAside(files: DataFiles, name: 'replaced' | 'damaged', nowMs: number): string | undefined {
  const present = [files.database, files.wal, files.check].filter((file) => existsSync(file))
  if (present.length === 0) return undefined
  const stamp = new Date(nowMs).toISOString().replaceAll(':', '').replace(/\..*/, 'Z')
  const aside = dataFilesOf(join(files.directory, `${name}-${stamp}`))
  mkdirSync(aside.directory)
  // The database is moved last: if this is interrupted, the next start detects the missing files.
  for (const name of ['check', 'wal', 'database'] as const) {
    if (existsSync(files[name])) renameSync(files[name], aside[name])
  }
  return aside.directory
}

/** Moves the checksum file last: if this is interrupted, the next start fails because the checksum file is missing. */
export function moveInto(from: DataFiles, to: DataFiles): void {
  try {
    renameSync(from.database, to.database)
    if (existsSync(from.wal)) renameSync(from.wal, to.wal)
    renameSync(from.check, to.check)
    syncDirectory(to.directory)
  } catch (error) {
    throw toStorageError(error, to.directory)
  }
}
