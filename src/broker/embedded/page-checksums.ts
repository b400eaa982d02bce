import { readSync } from 'node:fs'
import type { ChecksumFile } from './checksum-file.ts'
import { PAGE_BYTES } from './database-format.ts'
import { pageChecksum } from './sqlite-wal.ts'

const PAGES_AT_ONCE = 64

export type PageRange = {
  readonly from: number
  /** Inclusive. */
  readonly to: number
  /** Pages to skip, because their current version is in the write-ahead log. */
  readonly except: ReadonlySet<number>
}

/**
 * Yields the pages of the database file that do not match their checksum. A page without a checksum is skipped: it was
 * never written, because SQLite allocated and freed it between two checkpoints.
 */
export function* findDamagedPages(database: number, check: ChecksumFile, range: PageRange): Generator<number> {
  const chunk = Buffer.alloc(PAGES_AT_ONCE * PAGE_BYTES)
  for (let first = range.from; first <= range.to; first += PAGES_AT_ONCE) {
    const count = Math.min(PAGES_AT_ONCE, range.to - first + 1)
    const length = readSync(database, chunk, 0, count * PAGE_BYTES, (first - 1) * PAGE_BYTES)
    const sums = check.readSums(first, count)
    for (let index = 0; index < count; index++) {
      if (sums[index] === 0 || range.except.has(first + index)) continue
      const end = (index + 1) * PAGE_BYTES
      if (end > length || pageChecksum(chunk.subarray(end - PAGE_BYTES, end)) !== sums[index]) yield first + index
    }
  }
}

/** Computes the checksums of all pages of a database file. */
export function pageChecksums(database: number, pages: number): Uint32Array {
  const sums = new Uint32Array(pages)
  const chunk = Buffer.alloc(PAGES_AT_ONCE * PAGE_BYTES)
  for (let first = 0; first < pages; first += PAGES_AT_ONCE) {
    const count = Math.min(PAGES_AT_ONCE, pages - first)
    readSync(database, chunk, 0, count * PAGE_BYTES, first * PAGE_BYTES)
    for (let index = 0; index < count; index++) {
      sums[first + index] = pageChecksum(chunk.subarray(index * PAGE_BYTES, (index + 1) * PAGE_BYTES))
    }
  }
  return sums
}
