import { existsSync } from 'node:fs'
import { BrokerError } from '../error.ts'
import { BOOT, CheckFile, type CheckHeader } from './check-file.ts'
import { type DataFiles, fileSize, readDatabaseHeader, withFile } from './files.ts'
import { findDamagedPages } from './page-check.ts'
import { APPLICATION_ID, FORMAT, FORMAT_WITHOUT_CHECK_FILE, PAGE_BYTES } from './schema.ts'
import { EMPTY_WAL, nextSalt, readWal, type WalContent } from './wal.ts'

/** Something that is wrong with a file. */
export type FileFault = {
  readonly file: string
  /** What is wrong, as the end of a sentence that begins with the file. */
  readonly message: string
  /** Of the database file. */
  readonly page?: number
}

export type Inspection =
  /** There is no data yet, or a database that SQLite has to judge: none of Weir's, or only half made. */
  | { readonly kind: 'new' }
  /** Written before there was a check file. */
  | { readonly kind: 'unchecked' }
  | {
      readonly kind: 'checked'
      readonly header: CheckHeader
      readonly wal: WalContent
      /** Pages of the database, with what is in the log. */
      readonly pages: number
      /** Whether the log is to be recovered. Else nothing in it was acknowledged, and it has to go. */
      readonly hasLog: boolean
      /** Pages up to this one were compared with their checksums. */
      readonly pagesChecked: number
    }
  | { readonly kind: 'damaged'; readonly faults: readonly FileFault[]; readonly header: CheckHeader | undefined }

/** Bounds the work: no more pages are compared, no more faults are listed. */
export type InspectionLimit = { readonly pages: number; readonly faults: number }

/**
 * Compares the files of a data directory with each other. Changes nothing, and has to come before SQLite opens the
 * database: recovery takes a damaged log for a shorter one, and closing removes it. Throws `data_newer`.
 */
export function inspectDataDirectory(files: DataFiles, limit: InspectionLimit): Inspection {
  const damaged = (message: string, file = files.database): Inspection => ({
    kind: 'damaged',
    faults: [{ file, message }],
    header: undefined,
  })
  if (fileSize(files.database) === 0) {
    const left = [files.check, files.wal, files.holder].find((file) => fileSize(file) > 0)
    return left === undefined ? { kind: 'new' } : damaged(`is missing or empty, but ${left} is there`)
  }
  const database = withFile(files.database, readDatabaseHeader)!
  const hasCheckFile = existsSync(files.check)
  if (!database.isSqlite) return damaged('does not begin as a database does')
  if (database.applicationId === APPLICATION_ID && database.format > FORMAT)
    throw newerFormatError(files, database.format)
  if (hasCheckFile) {
    return database.applicationId === APPLICATION_ID
      ? inspectChecked(files, limit)
      : damaged('is a database, but not the one of broker.check')
  }
  if (database.applicationId !== APPLICATION_ID) return { kind: 'new' }
  if (database.format <= FORMAT_WITHOUT_CHECK_FILE) return { kind: 'unchecked' }
  return damaged('is missing: it says what broker.db and its log have to hold', files.check)
}

export function newerFormatError(files: DataFiles, format: number): BrokerError {
  return new BrokerError(
    'data_newer',
    `data directory ${files.directory} has format ${format}, this Weir reads up to ${FORMAT}: use the newer Weir`,
  )
}

function inspectChecked(files: DataFiles, limit: InspectionLimit): Inspection {
  const check = CheckFile.open(files.check, 'r')
  try {
    const header = check.readHeader()
    if (header === undefined) return { kind: 'damaged', faults: [damagedCheckFile(files)], header }
    const wal = withFile(files.wal, readWal) ?? EMPTY_WAL
    // The first commit after a clean shutdown happens before any write is acknowledged.
    const isObsolete = header.state === 'clean' && wal.commits <= 1
    const walFault = isObsolete ? undefined : faultOfWal(files, header, wal)
    const hasLog = wal.commits > 0 && !isObsolete && walFault === undefined
    const pages = hasLog ? wal.databasePages! : header.pages
    const faults: FileFault[] = walFault === undefined ? [] : [walFault]
    if (!check.holds(header.pages)) faults.push({ file: files.check, message: 'is cut off' })
    // That the checkpoint was finished is shown by all pages, not by some.
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
  if (header.state === 'clean') return fault('is not the one that this directory was closed with')
  if (header.walBytes === 0) {
    return isEmpty || wal.salts?.first === header.salts.first
      ? undefined
      : fault('is of another time than broker.check')
  }
  // The checkpoint was made and the log removed: then all pages match.
  const isNext = isEmpty ? fileSize(files.wal) === 0 : wal.salts?.first === nextSalt(header.salts)
  if (header.state === 'checkpointing' && isNext) return undefined
  if (!existsSync(files.wal)) return fault(`is missing, with ${header.walBytes} bytes that were acknowledged`)
  if (wal.salts === undefined) return fault('is cut off or damaged at its beginning')
  if (wal.salts.first !== header.salts.first || wal.salts.second !== header.salts.second) {
    return fault('is of another time than broker.check')
  }
  if (wal.committedBytes >= header.walBytes) return undefined
  const lost = `${header.walBytes} bytes were acknowledged, and it can be read up to byte ${wal.committedBytes}`
  const isCrash = header.boot !== BOOT
  return fault(
    isCrash
      ? `lost its end when this machine stopped, as in a power cut without --data-fsync commit: ${lost}`
      : `is cut off or damaged: ${lost}`,
  )
}

function damagedCheckFile(files: DataFiles): FileFault {
  return { file: files.check, message: 'is damaged' }
}

export function pageFault(files: DataFiles, page: number): FileFault {
  const at = (page - 1) * PAGE_BYTES
  return { file: files.database, page, message: `does not match its checksum in bytes ${at} to ${at + PAGE_BYTES - 1}` }
}
