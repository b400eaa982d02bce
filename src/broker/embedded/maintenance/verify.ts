import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { BrokerError } from '../../broker-error.ts'
import { type DamagedRange, findDamagedRanges, readPartitionNames, toDamagedRange } from '../damage-error.ts'
import { openDataDirectory } from '../data-directory.ts'
import { checkDataDirectory } from '../data-directory-check.ts'
import { dataFilesOf } from '../data-files.ts'
import { findDamage } from '../find-damage.ts'
import { copyOnline, type OnProgress } from './online-copy.ts'
import { withDirectoryLock } from './with-directory-lock.ts'

export type VerifyReport = {
  readonly directory: string
  /** True: a program uses the directory, so only the page checksums were verified, not the batches. */
  readonly isInUse: boolean
  readonly faults: readonly { readonly file: string; readonly message: string }[]
  readonly damaged: readonly DamagedRange[]
}

const FAULTS_MAX = 100

/**
 * Verifies all page checksums of a data directory and, unless a program uses it, all batches. Changes nothing, except
 * that the write-ahead log of a killed process is recovered as at a start.
 * Throws `invalid_config` for a directory without data, `data_newer`, and `data_corrupt` for damage to a directory that
 * is in use; other damage is in the report.
 */
export async function verifyDirectory(directory: string, nowMs: number, onProgress: OnProgress): Promise<VerifyReport> {
  const files = dataFilesOf(directory)
  const found = withDirectoryLock(files, () =>
    checkDataDirectory(files, { pages: Number.POSITIVE_INFINITY, faults: FAULTS_MAX }),
  )
  if (found === 'in use') {
    await copyOnline(files, undefined, onProgress)
    return { directory, isInUse: true, faults: [], damaged: [] }
  }
  const report = { directory, isInUse: false }
  if (found.kind === 'new')
    throw new BrokerError('invalid_config', `${directory} is not a data directory: it contains no data`)
  if (found.kind === 'damaged') return { ...report, faults: found.faults, damaged: findDamagedRanges(files, found) }
  const needsRecovery = found.kind === 'without-checksums' || found.usesWal
  // Opening it moves the log into the database, so that the database file can be read on its own.
  if (needsRecovery) openDataDirectory(directory, { nowMs, fsync: 'checkpoint' }).close()
  return { ...report, ...(await verifyDatabase(directory)) }
}

/** Verifies all batches of a database that has no write-ahead log. Reports at most `FAULTS_MAX` faults. */
export async function verifyDatabase(directory: string): Promise<Pick<VerifyReport, 'faults' | 'damaged'>> {
  const files = dataFilesOf(directory)
  const sqlite = new DatabaseSync(new URL(`${pathToFileURL(files.database)}?immutable=1`), { readOnly: true })
  try {
    const names = readPartitionNames(sqlite)
    const faults: { file: string; message: string }[] = []
    const damaged: DamagedRange[] = []
    for (const { message, partitionId, batch } of findDamage(sqlite)) {
      if (faults.length >= FAULTS_MAX) break
      faults.push({ file: files.database, message })
      if (batch !== undefined && partitionId !== undefined) {
        damaged.push(toDamagedRange(names, partitionId, batch.baseOffset, batch.lastOffset))
      }
    }
    return { faults, damaged }
  } finally {
    sqlite.close()
  }
}
