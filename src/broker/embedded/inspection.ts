import { existsSync } from 'node:fs'
import { BrokerError } from '../error.ts'
import { BOOT, CheckFile, type CheckHeader } from './check-file.ts'
import { type DataFiles, fileSize, readDatabaseHeader, withFile } from './files.ts'
import { findDamagedPages } from './page-check.ts'
import { APPLICATION_ID, FORMAT, FORMAT_WITHOUT_CHECK_FILE, PAGE_BYTES } from './schema.ts'
import { EMPTY_WAL, nextSalt, readWal, type WalContent } from './wal.ts'

/** A fault of a file. */
export type FileFault = {
  readonly file: string
  /** A predicate that completes a sentence whose subject is the file. */
  readonly message: string
  /** Number of the page, for the database file. */
  readonly page?: number
}

export type Inspection =
  /** There is no data, or a database that was not created completely or is not Weir's; opening it decides. */
  | { readonly kind: 'new' }
  /** A directory of format 1, which has no check file. */
  | { readonly kind: 'unchecked' }
  | {
      readonly kind: 'checked'
      readonly header: CheckHeader
      readonly wal: WalContent
      /** Number of pages of the database, including those in the log. */
      readonly pages: number
      /** Whether the log is recovered. If not, none of it was acknowledged and it must be discarded. */
      readonly hasLog: boolean
      /** Pages up to this one were verified. */
      readonly pagesChecked: number
    }
  | { readonly kind: 'damaged'; readonly faults: readonly FileFault[]; readonly header: CheckHeader | undefined }

/** Maximum number of pages to verify and of faults to report. */
export type InspectionLimit = { readonly pages: number; readonly faults: number }

/**
 * Checks the files of a data directory against each other without changing them. Must run before SQLite opens the
 * database, because SQLite's recovery silently drops the log from the first damaged frame on, and closing removes the
 * log. Throws `data_newer`.
 */
export function inspectDataDirectory(files: DataFiles, limit: InspectionLimit): Inspection {
  const damaged = (message: string, file = files.database): Inspection => ({
    kind: 'damaged',
    faults: [{ file, message }],
    header: undefined,
  })
  if (fileSize(files.database) === 0) {
    const left = [files.check, files.wal, files.holder].find((file) => fileSize(file) > 0)
    return left === undefined ? { kind: 'new' } : damaged(`is missing or empty, but ${left} exists`)
  }
  const database = withFile(files.database, readDatabaseHeader)!
  const hasCheckFile = existsSync(files.check)
  if (!database.isSqlite) return damaged('does not begin with the header of a database')
  if (database.applicationId === APPLICATION_ID && database.format > FORMAT)
    throw newerFormatError(files, database.format)
  if (hasCheckFile) {
    return database.applicationId === APPLICATION_ID
      ? inspectChecked(files, limit)
      : damaged('is a database, but not the one of broker.check')
  }
  if (database.applicationId !== APPLICATION_ID) return { kind: 'new' }
  if (database.format <= FORMAT_WITHOUT_CHECK_FILE) return { kind: 'unchecked' }
  return damaged('is missing: it contains the checksums of broker.db and its write-ahead log', files.check)
}

export function newerFormatError(files: DataFiles, format: number): BrokerError {
  return new BrokerError(
    'data_newer',
    `data directory ${files.directory} has format ${format}, this version of Weir reads formats up to ${FORMAT}: use a newer version`,
  )
}

function inspectChecked(files: DataFiles, limit: InspectionLimit): Inspection {
  const check = CheckFile.open(files.check, 'r')
  try {
    const header = check.readHeader()
    if (header === undefined) return { kind: 'damaged', faults: [damagedCheckFile(files)], header }
    const wal = withFile(files.wal, readWal) ?? EMPTY_WAL
    // The first commit after a start marks it as running. A log with only that commit has no acknowledged data.
    const isObsolete = header.state === 'clean' && wal.commits <= 1
    const walFault = isObsolete ? undefined : faultOfWal(files, header, wal)
    const hasLog = wal.commits > 0 && !isObsolete && walFault === undefined
    const pages = hasLog ? wal.databasePages! : header.pages
    const faults: FileFault[] = walFault === undefined ? [] : [walFault]
    if (!check.holds(header.pages)) faults.push({ file: files.check, message: 'is truncated' })
    // Only a match of all pages proves that the checkpoint was completed.
    const pagesMax = header.state === 'checkpointing' ? pages : limit.pages
    const except = hasLog ? wal.pages : new Set<number>()
    const range = { from: 1, to: Math.min(pages, header.pages, pagesMax), except }
    withFile(files.database, (database) => {
      for (const page of findDamagedPages(database, check, range)) {
        if (faults.length >= limit.faults) return
        faults.push(pageFault(files, page))
      }
    })
    if (faults.length > 0) return { kind: 'damaged', faults, header }
    return { kind: 'checked', header, wal, pages, hasLog, pagesChecked: range.to }
  } finally {
    check.close()
  }
}

function faultOfWal(files: DataFiles, header: CheckHeader, wal: WalContent): FileFault | undefined {
  const fault = (message: string): FileFault => ({ file: files.wal, message })
  const isEmpty = wal.commits === 0
  if (header.state === 'clean') return fault('is not the version that this directory was closed with')
  if (header.walBytes === 0) {
    return isEmpty || wal.salts?.first === header.salts.first
      ? undefined
      : fault('does not belong to the state in broker.check')
  }
  // The checkpoint was completed and the log restarted. The verification of all pages confirms it.
  const isNext = isEmpty ? fileSize(files.wal) === 0 : wal.salts?.first === nextSalt(header.salts)
  if (header.state === 'checkpointing' && isNext) return undefined
  if (!existsSync(files.wal)) return fault(`is missing, which had ${header.walBytes} acknowledged bytes`)
  if (wal.salts === undefined) return fault('is truncated or damaged at its beginning')
  if (wal.salts.first !== header.salts.first || wal.salts.second !== header.salts.second) {
    return fault('does not belong to the state in broker.check')
  }
  if (wal.committedBytes >= header.walBytes) return undefined
  const message = `${header.walBytes} bytes were acknowledged, but only ${wal.committedBytes} bytes are readable`
  const isCrash = header.boot !== BOOT
  return fault(
    isCrash
      ? `lost its end when this machine stopped, as in a power cut without --data-fsync commit: ${message}`
      : `is truncated or damaged: ${message}`,
  )
}

function damagedCheckFile(files: DataFiles): FileFault {
  return { file: files.check, message: 'is damaged' }
}

export function pageFault(files: DataFiles, page: number): FileFault {
  const at = (page - 1) * PAGE_BYTES
  return { file: files.database, page, message: `does not match its checksum in bytes ${at} to ${at + PAGE_BYTES - 1}` }
}
