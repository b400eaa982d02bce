import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { BrokerError } from '../../broker-error.ts'
import { readCheckFile } from '../check-file.ts'
import { openDataDirectory } from '../data-directory.ts'
import { type DataFiles, dataFilesOf, fileSize } from '../data-files.ts'
import { type DamagedRange, isReadError } from '../find-damage.ts'
import { readDatabase } from '../read-database.ts'
import type { OnProgress } from './backup.ts'
import { moveAside, moveInto } from './restore.ts'
import { type Salvaged, salvage } from './salvage.ts'
import { verifyDirectory } from './verify.ts'
import { withDirectoryLock } from './with-directory-lock.ts'

export type RepairReport = {
  readonly directory: string
  /** True: no damage was found, and nothing was changed. */
  readonly isSound: boolean
  /** Directory with the original files. */
  readonly damaged: string | undefined
  readonly batches: number
  /** Offsets that could not be recovered. May include offsets that compaction had already removed. */
  readonly lost: readonly DamagedRange[]
  /** Messages about other data that is or may be wrong or missing. */
  readonly notes: readonly string[]
}

/**
 * Replaces a damaged data directory by one with the data that is intact. The damaged files are moved into a
 * subdirectory. End offsets stay at their acknowledged values as far as known, so that no offset is assigned twice.
 *
 * Throws `data_locked` if a program uses the directory, and `data_corrupt` if the database cannot be opened.
 */
export function repair(directory: string, nowMs: number, onProgress: OnProgress): RepairReport {
  const report = verifyDirectory(directory)
  if (report.isInUse) throw new BrokerError('data_locked', `${directory} is in use by a program: stop it first`)
  if (report.faults.length === 0)
    return { directory, isSound: true, damaged: undefined, batches: 0, lost: [], notes: [] }
  const files = dataFilesOf(directory)
  const repaired = withDirectoryLock(files, () => repairLocked(files, nowMs, onProgress))
  if (repaired === 'in use') throw new BrokerError('data_locked', `${directory} is in use by a program: stop it first`)
  return repaired
}

function repairLocked(files: DataFiles, nowMs: number, onProgress: OnProgress): RepairReport {
  if (fileSize(files.database) === 0) throw unrepairable(files, 'is missing')
  const temporary = join(files.directory, 'repair.tmp')
  rmSync(temporary, { recursive: true, force: true })
  mkdirSync(temporary)
  const rebuilt = dataFilesOf(join(temporary, 'data'))
  try {
    const ends = (fileSize(files.check) > 0 ? readCheckFile(files.check)?.ends : undefined) ?? new Map()
    const data = openDataDirectory(rebuilt.directory, { nowMs, fsync: 'checkpoint' })
    let salvaged: Salvaged
    try {
      salvaged = readDatabase(files, true, (source) =>
        salvage(checkReadable(source, files), data.sqlite, ends, onProgress),
      )
    } finally {
      data.close()
    }
    const damaged = moveAside(files, 'damaged', nowMs)
    moveInto(rebuilt, files)
    return { directory: files.directory, isSound: false, damaged, ...salvaged }
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

/** All data is found through the schema. */
function checkReadable(source: DatabaseSync, files: DataFiles): DatabaseSync {
  try {
    source.prepare('select 1 from batches where id = 0').get()
    return source
  } catch (error) {
    if (isReadError(error)) throw unrepairable(files, `cannot be read: ${error.message}`)
    throw error
  }
}

function unrepairable(files: DataFiles, reason: string): BrokerError {
  return new BrokerError('data_corrupt', `${files.database} ${reason}, so nothing can be repaired: restore a backup`)
}
