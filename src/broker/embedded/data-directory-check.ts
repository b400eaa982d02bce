import { existsSync } from 'node:fs'
import { BrokerError } from '../broker-error.ts'
import { BOOT, ChecksumFile, type ChecksumFileHeader } from './checksum-file.ts'
import { type DataFiles, fileSize, readDatabaseHeader, withFile } from './data-files.ts'
import { APPLICATION_ID, FORMAT, FORMAT_WITHOUT_CHECKSUMS, PAGE_BYTES } from './database-format.ts'
import { findDamagedPages } from './page-checksums.ts'
import { EMPTY_WAL, nextSalt, readWal, type WalContent } from './sqlite-wal.ts'

/** Damage to a file. */
export type FileDamage = {
  readonly file: string
  /** A predicate that completes a sentence whose subject is the file. */
  readonly message: string
  /** Number of the page, for the database file. */
  readonly page?: number
}

export type DataDirectoryCheck =
  /** There is no data, or a database that was not created completely or is not Weir's; opening it decides. */
  | { readonly kind: 'new' }
  /** A directory of format 1, which has no `broker.check`. */
  | { readonly kind: 'without-checksums' }
  | {
      readonly kind: 'with-checksums'
      readonly header: ChecksumFileHeader
      readonly wal: WalContent
      /** Number of pages of the database, including those in the log. */
      readonly pages: number
      /**
       * Whether SQLite must recover the write-ahead log. If false, the log holds no acknowledged data and must be
       * deleted.
       */
      readonly usesWal: boolean
      /** Pages up to this one were verified. */
      readonly pagesChecked: number
    }
  | {
      readonly kind: 'damaged'
      readonly faults: readonly FileDamage[]
      readonly header: ChecksumFileHeader | undefined
    }

/** Maximum number of pages to verify and of faults to report. */
export type CheckLimit = { readonly pages: number; readonly faults: number }

/**
 * Checks that the database, the write-ahead log and `broker.check` are consistent. Changes nothing. Must run before SQLite
 * opens the database, because SQLite's recovery silently drops the log from the first damaged frame on, and closing
 * removes the log. Throws `data_newer`.
 */
export function checkDataDirectory(files: DataFiles, limit: CheckLimit): DataDirectoryCheck {
  const damaged = (message: string, file = files.database): DataDirectoryCheck => ({
    kind: 'damaged',
    faults: [{ file, message }],
    header: undefined,
  })
  if (fileSize(files.database) === 0) {
    const left = [files.check, files.wal, files.holder].find((file) => fileSize(file) > 0)
    return left === undefined ? { kind: 'new' } : damaged(`is missing or empty, but ${left} exists`)
  }
  const database = withFile(files.database, readDatabaseHeader)!
  const hasChecksums = existsSync(files.check)
  if (!database.isSqlite) return damaged('does not begin with the header of a database')
  if (database.applicationId === APPLICATION_ID && database.format > FORMAT)
    throw newerFormatError(files, database.format)
  if (hasChecksums) {
    return database.applicationId === APPLICATION_ID
      ? checkFiles(files, limit)
      : damaged('is a database, but not the one of broker.check')
  }
  if (database.applicationId !== APPLICATION_ID) return { kind: 'new' }
  if (database.format <= FORMAT_WITHOUT_CHECKSUMS) return { kind: 'without-checksums' }
  return damaged('is missing: it contains the checksums of broker.db and its write-ahead log', files.check)
}

export function newerFormatError(files: DataFiles, format: number): BrokerError {
  return new BrokerError(
    'data_newer',
    `data directory ${files.directory} has format ${format}, this version of Weir reads formats up to ${FORMAT}: use a newer version`,
  )
}

function checkFiles(files: DataFiles, limit: CheckLimit): DataDirectoryCheck {
  const check = ChecksumFile.open(files.check, 'r')
  try {
    const header = check.readHeader()
    if (header === undefined) return { kind: 'damaged', faults: [damagedChecksumFile(files)], header }
    const wal = withFile(files.wal, readWal) ?? EMPTY_WAL
    // The first commit after a start sets the state in `broker.check` to `running`. A log with only that commit has no
    // acknowledged data.
    const isObsolete = header.state === 'clean' && wal.commits <= 1
    const walFault = isObsolete ? undefined : faultOfWal(files, header, wal)
    const usesWal = wal.commits > 0 && !isObsolete && walFault === undefined
    const pages = usesWal ? wal.databasePages! : header.pages
    const faults: FileDamage[] = walFault === undefined ? [] : [walFault]
    if (!check.holds(header.pages)) faults.push({ file: files.check, message: 'is truncated' })
    // Only a match of all pages proves that the checkpoint was completed.
    const pagesMax = header.state === 'checkpointing' ? pages : limit.pages
    const except = usesWal ? wal.pages : new Set<number>()
    const range = { from: 1, to: Math.min(pages, header.pages, pagesMax), except }
    withFile(files.database, (database) => {
      for (const page of findDamagedPages(database, check, range)) {
        if (faults.length >= limit.faults) return
        faults.push(pageFault(files, page))
      }
    })
    if (faults.length > 0) return { kind: 'damaged', faults, header }
    return { kind: 'with-checksums', header, wal, pages, usesWal, pagesChecked: range.to }
  } finally {
    check.close()
  }
}

/** The log's salts differ from those in `broker.check`. */
const FOREIGN = 'is from another state of the directory than broker.check (different salts)'

function faultOfWal(files: DataFiles, header: ChecksumFileHeader, wal: WalContent): FileDamage | undefined {
  const fault = (message: string): FileDamage => ({ file: files.wal, message })
  const isEmpty = wal.commits === 0
  if (header.state === 'clean')
    return fault('was changed after the directory was closed: restore the log that belongs to it')
  if (header.walBytes === 0) {
    return isEmpty || wal.salts?.first === header.salts.first ? undefined : fault(FOREIGN)
  }
  // If the salts are the next ones, the checkpoint completed and the log was restarted. Verifying all pages confirms this.
  const isNext = isEmpty ? fileSize(files.wal) === 0 : wal.salts?.first === nextSalt(header.salts)
  if (header.state === 'checkpointing' && isNext) return undefined
  if (!existsSync(files.wal)) return fault(`is missing, which had ${header.walBytes} acknowledged bytes`)
  if (wal.salts === undefined) return fault('is truncated or damaged at its beginning')
  if (wal.salts.first !== header.salts.first || wal.salts.second !== header.salts.second) {
    return fault(FOREIGN)
  }
  if (wal.committedBytes >= header.walBytes) return undefined
  const message = `${header.walBytes} bytes were acknowledged, but only ${wal.committedBytes} bytes are readable`
  const isCrash = header.boot !== BOOT
  return fault(
    isCrash
      ? `lost its last records when this machine stopped: ${message}. --data-fsync commit prevents this`
      : `is truncated or damaged: ${message}`,
  )
}

function damagedChecksumFile(files: DataFiles): FileDamage {
  return { file: files.check, message: 'is damaged' }
}

export function pageFault(files: DataFiles, page: number): FileDamage {
  const at = (page - 1) * PAGE_BYTES
  return { file: files.database, page, message: `does not match its checksum in bytes ${at} to ${at + PAGE_BYTES - 1}` }
}
