import { BrokerError } from '../broker-error.ts'
import { type CheckRecord, readCheckFile } from './check-file.ts'
import { type DataFiles, fileSize, readBytes } from './data-files.ts'
import { APPLICATION_ID, FORMAT } from './database-format.ts'
import type { Damage } from './find-damage.ts'

export type DirectoryState =
  /** There is no data, or a database that was not created completely or is not Weir's; opening it decides. */
  | { readonly kind: 'new' }
  /** A directory of an earlier format, or one whose upgrade was interrupted. */
  | { readonly kind: 'earlier' }
  | { readonly kind: 'current'; readonly record: CheckRecord }
  | { readonly kind: 'damaged'; readonly damage: Damage }

const DATABASE_HEADER_BYTES = 100
const MAGIC = 'SQLite format 3\0'

/** Looks at the files without opening the database, which SQLite would create or change. Throws `data_newer`. */
export function readDirectoryState(files: DataFiles): DirectoryState {
  if (fileSize(files.database) === 0) return stateWithoutDatabase(files)
  const header = readBytes(files.database, DATABASE_HEADER_BYTES)
  if (!isDatabase(header)) return damaged(files.database, 'does not begin with the header of a database')
  const hasCheck = fileSize(files.check) > 0
  if (header.readUInt32BE(68) !== APPLICATION_ID)
    return hasCheck ? damaged(files.database, 'is a database, but not the one of broker.check') : { kind: 'new' }
  const format = header.readUInt32BE(60)
  if (format > FORMAT) throw newerFormatError(files, format)
  if (!hasCheck && format > 1) return damaged(files.check, 'is missing: it says what broker.db must contain')
  const record = hasCheck ? readCheckFile(files.check) : undefined
  if (format === FORMAT) return record === undefined ? damaged(files.check, 'is damaged') : { kind: 'current', record }
  return record !== undefined && record.commit > 0
    ? damaged(files.database, 'is older than broker.check')
    : { kind: 'earlier' }
}

function stateWithoutDatabase(files: DataFiles): DirectoryState {
  const left = [files.check, files.wal, files.holder].find((file) => fileSize(file) > 0)
  return left === undefined ? { kind: 'new' } : damaged(files.database, `is missing or empty, but ${left} exists`)
}

function isDatabase(header: Buffer): boolean {
  // The versions of the file format for writing and reading: 1, or 2 with a write-ahead log.
  const [writeVersion, readVersion] = header.subarray(18, 20)
  return header.toString('latin1', 0, MAGIC.length) === MAGIC && writeVersion === readVersion && writeVersion! <= 2
}

export function newerFormatError(files: DataFiles, format: number): BrokerError {
  return new BrokerError(
    'data_newer',
    `data directory ${files.directory} has format ${format}, this version of Weir reads formats up to ${FORMAT}: use a newer version`,
  )
}

function damaged(file: string, message: string): DirectoryState {
  return { kind: 'damaged', damage: { faults: [{ file, message }], ranges: [] } }
}
