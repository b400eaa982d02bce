import { BrokerError } from '../../broker-error.ts'
import { findDamageIn } from '../data-directory.ts'
import { type DataFiles, dataFilesOf } from '../data-files.ts'
import { type DirectoryState, readDirectoryState } from '../directory-state.ts'
import { type Damage, findDamage, NO_LIMIT } from '../find-damage.ts'
import { readDatabase } from '../read-database.ts'
import { withDirectoryLock } from './with-directory-lock.ts'

/** `isInUse`: a program uses the directory. */
export type VerifyReport = Damage & { readonly directory: string; readonly isInUse: boolean }

/**
 * Compares a data directory with its checksums, also while a program uses it. Changes nothing.
 * Throws `invalid_config` for a directory without data, and `data_newer`.
 */
export function verifyDirectory(directory: string): VerifyReport {
  const files = dataFilesOf(directory)
  const found = withDirectoryLock(files, () => {
    const state = readDirectoryState(files)
    if (state.kind === 'new') throw unusable(files, state)
    return findDamageIn(files, state, NO_LIMIT)
  })
  return found === 'in use'
    ? { directory, isInUse: true, ...damageInUse(files) }
    : { directory, isInUse: false, ...found }
}

/** The record is read before the database, which may have later commits then, but no earlier ones. */
function damageInUse(files: DataFiles): Damage {
  const state = readDirectoryState(files)
  if (state.kind === 'damaged') return state.damage
  if (state.kind !== 'current') throw unusable(files, state)
  return readDatabase(files, false, (sqlite) => {
    sqlite.exec('begin')
    return findDamage(sqlite, files, state.record, NO_LIMIT)
  })
}

/** The error of a directory that cannot be verified or backed up. */
export function unusable({ directory }: DataFiles, { kind }: DirectoryState): BrokerError {
  if (kind === 'damaged')
    return new BrokerError('data_corrupt', `${directory} is damaged: run weir data verify ${directory} for details`)
  return new BrokerError(
    'invalid_config',
    kind === 'new'
      ? `${directory} is not a data directory: it contains no data`
      : `${directory} has the format of an older version: start this version on it once`,
  )
}
