import { copyFileSync, ftruncateSync, readSync, truncateSync, writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { BrokerError } from '../../broker-error.ts'
import { ChecksumFile, type ChecksumFileHeader } from '../checksum-file.ts'
import { damageError } from '../damage-error.ts'
import { type FileDamage, pageFault } from '../data-directory-check.ts'
import { type DataFiles, fileSize, withFile } from '../data-files.ts'
import { PAGE_BYTES } from '../database-format.ts'
import { EMPTY_WAL, pageChecksum, readWal, type WalContent } from '../sqlite-wal.ts'

/** Reports the progress of a step: `done` of `all` parts. */
export type OnProgress = (phase: string, done: number, total: number) => void

/** A consistent, acknowledged state of a database that another process may continue to change. */
export type ConsistentCopy = {
  readonly header: ChecksumFileHeader
  /** Checksums of the first `header.pages` pages. */
  readonly sums: Uint32Array
}

type Range = { readonly header: ChecksumFileHeader; readonly wal: WalContent; readonly pages: number }

const PAGES_AT_ONCE = 64
const ATTEMPTS_MAX = 200
const WAIT_MS = 50
/** More faults than this without a checkpoint in between count as damage. */
const FAILURES_MAX = 10

/**
 * Copies a database and its write-ahead log without a lock; without `target`, only verifies them. The process that uses
 * the directory changes the database only in checkpoints, which increment the generation in `broker.check`. A copy is
 * consistent if the generation did not change during the copy and each page matches its checksum; otherwise the changed
 * pages are copied again. Throws `data_corrupt`, and `timeout` if checkpoints are too frequent.
 */
export async function copyOnline(
  from: DataFiles,
  target: CopyTarget | undefined,
  onProgress: OnProgress,
): Promise<ConsistentCopy> {
  const check = ChecksumFile.open(from.check, 'r')
  const source = { files: from, check, copied: new Map<number, number>() }
  let failures = 0
  let before: ChecksumFileHeader | undefined
  try {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const header = check.readHeader()
      const outcome = await copyOnce(source, header, target, onProgress)
      if ('sums' in outcome) return outcome
      if (outcome.fault !== undefined && isSameLog(before, header)) failures += 1
      if (outcome.fault !== undefined && failures > FAILURES_MAX)
        throw damageError(from, { faults: [outcome.fault], header })
      before = header
      await delay(WAIT_MS)
    }
  } finally {
    check.close()
  }
  throw new BrokerError('timeout', `data directory ${from.directory} changes too fast to be copied: try again later`)
}

type CopyTarget = { readonly files: DataFiles; readonly database: number }
type Source = { readonly files: DataFiles; readonly check: ChecksumFile; readonly copied: Map<number, number> }

/** One attempt. `fault` is undefined if the files changed during the copy. */
async function copyOnce(
  { files, check, copied }: Source,
  header: ChecksumFileHeader | undefined,
  target: CopyTarget | undefined,
  onProgress: OnProgress,
): Promise<ConsistentCopy | { readonly fault: FileDamage | undefined }> {
  const wal = header && copyWal(files, target?.files, header)
  if (header === undefined || wal === undefined) return { fault: logFault(files, header) }
  const range = { header, wal, pages: wal.databasePages ?? header.pages }
  await copyPages(files, target?.database, check, range, copied, onProgress)
  if (!isSameLog(header, check.readHeader())) return { fault: undefined }
  const mismatch = mismatching(check, range, copied)
  if (mismatch === undefined) return finish(range, target?.database, copied)
  copied.delete(mismatch)
  return { fault: pageFault(files, mismatch) }
}

function finish(
  { header, pages }: Range,
  target: number | undefined,
  copied: ReadonlyMap<number, number>,
): ConsistentCopy {
  if (target !== undefined) ftruncateSync(target, pages * PAGE_BYTES)
  return { header, sums: Uint32Array.from({ length: header.pages }, (_, index) => copied.get(index + 1) ?? 0) }
}

function logFault(files: DataFiles, header: ChecksumFileHeader | undefined): FileDamage {
  return header === undefined
    ? { file: files.check, message: 'is damaged' }
    : { file: files.wal, message: `is missing, truncated or damaged: ${header.walBytes} bytes were acknowledged` }
}

/** Undefined if the log does not match the header, because of a checkpoint in progress or damage. */
function copyWal(from: DataFiles, to: DataFiles | undefined, header: ChecksumFileHeader): WalContent | undefined {
  const isMoved = header.state === 'checkpointing' && fileSize(from.wal) === 0
  if (header.walBytes === 0 || isMoved) {
    if (to !== undefined) withFile(to.wal, () => truncateSync(to.wal))
    return EMPTY_WAL
  }
  if (to !== undefined) {
    if (fileSize(from.wal) < header.walBytes) return undefined
    copyFileSync(from.wal, to.wal)
    truncateSync(to.wal, header.walBytes)
  }
  const wal = withFile(to?.wal ?? from.wal, (file) => readWal(file, header.walBytes))
  const isWhole = wal?.committedBytes === header.walBytes && wal.salts?.second === header.salts.second
  return isWhole ? wal : undefined
}

/** Whether no checkpoint was started or completed between the two headers. */
function isSameLog(before: ChecksumFileHeader | undefined, after: ChecksumFileHeader | undefined): boolean {
  if (before === undefined || after === undefined) return before === after
  return (
    before.generation === after.generation && (after.state !== 'checkpointing' || after.walBytes === before.walBytes)
  )
}

async function copyPages(
  from: DataFiles,
  target: number | undefined,
  check: ChecksumFile,
  { wal, pages }: Range,
  copied: Map<number, number>,
  onProgress: OnProgress,
): Promise<void> {
  const chunk = Buffer.alloc(PAGES_AT_ONCE * PAGE_BYTES)
  for (let first = 1; first <= pages; first += PAGES_AT_ONCE) {
    const count = Math.min(PAGES_AT_ONCE, pages - first + 1)
    const sums = check.readSums(first, count)
    const isCopied = (index: number) => wal.pages.has(first + index) || copied.get(first + index) === sums[index]
    if (Array.from({ length: count }, (_, index) => index).every(isCopied)) continue
    chunk.fill(0)
    withFile(from.database, (database) => readSync(database, chunk, 0, count * PAGE_BYTES, (first - 1) * PAGE_BYTES))
    for (let index = 0; index < count; index++) {
      const sum = pageChecksum(chunk.subarray(index * PAGE_BYTES, (index + 1) * PAGE_BYTES))
      copied.set(first + index, sums[index] === 0 ? 0 : sum)
    }
    if (target !== undefined) writeSync(target, chunk, 0, count * PAGE_BYTES, (first - 1) * PAGE_BYTES)
    onProgress('reading', first + count - 1, pages)
    await delay(0)
  }
}

function mismatching(check: ChecksumFile, { header, wal, pages }: Range, copied: ReadonlyMap<number, number>) {
  const count = Math.min(pages, header.pages)
  const sums = check.readSums(1, count)
  for (let page = 1; page <= count; page++) {
    if (!wal.pages.has(page) && sums[page - 1] !== 0 && copied.get(page) !== sums[page - 1]) return page
  }
  return undefined
}
