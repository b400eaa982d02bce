import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { BrokerError } from '../../error.ts'
import { type DamagedRange, findDamagedRanges, readPartitionNames, toDamagedRange } from '../damage.ts'
import { openDataDirectory } from '../data-directory.ts'
import { dataFilesOf } from '../files.ts'
import { inspectDataDirectory } from '../inspection.ts'
import { findDamage } from '../verification.ts'
import { copyOnline, type OnProgress } from './online-copy.ts'
import { withDirectoryLock } from './with-directory-lock.ts'

export type VerifyReport = {
  readonly directory: string
  /** A program has the directory: each page was compared with its checksum, records were not decoded. */
  readonly isInUse: boolean
  readonly faults: readonly { readonly file: string; readonly message: string }[]
  readonly damaged: readonly DamagedRange[]
}

const FAULTS_MAX = 100

/**
 * Compares everything in a data directory with its checksums, each batch with its own as well unless a program has the
 * directory. Nothing is changed, but a write-ahead log that a killed process left is recovered as at any start.
 * Throws `data_newer`, and `data_corrupt` for a directory in use that is damaged.
 */
export async function verifyDirectory(directory: string, onProgress: OnProgress): Promise<VerifyReport> {
  const files = dataFilesOf(directory)
  const found = withDirectoryLock(files, () =>
    inspectDataDirectory(files, { pages: Number.POSITIVE_INFINITY, faults: FAULTS_MAX }),
  )
  if (found === 'in use') {
    await copyOnline(files, undefined, onProgress)
    return { directory, isInUse: true, faults: [], damaged: [] }
  }
  const report = { directory, isInUse: false }
  if (found.kind === 'new') throw new BrokerError('invalid_config', `${directory} is no data directory: it has no data`)
  if (found.kind === 'damaged') return { ...report, faults: found.faults, damaged: findDamagedRanges(files, found) }
  const needsRecovery = found.kind === 'unchecked' || found.hasLog
  // Opening it makes the log part of the database; without one the file can be read as it is.
  if (needsRecovery) openDataDirectory(directory, { nowMs: Date.now(), fsync: 'checkpoint' }).close()
  return { ...report, ...(await verifyDatabase(directory)) }
}

/** Decodes everything in a database without a log. */
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
