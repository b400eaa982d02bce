import { closeSync, fstatSync, openSync, truncateSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { BOOT, CheckFile, type CheckHeader, ENDS_MAX } from './check-file.ts'
import { type DataFiles, fileSize } from './files.ts'
import type { Inspection } from './inspection.ts'
import { findDamagedPages, pageChecksums } from './page-check.ts'
import { checksumWalPages, nextSalt, readSalts, readWal } from './wal.ts'

/** The write-ahead log is moved into the database when it is so long. */
const CHECKPOINT_BYTES = 16 * 1024 * 1024

/**
 * A database and what `broker.check` says about it. After each commit, and before its acknowledgement, the end of the
 * write-ahead log is noted there; before each checkpoint, the checksums of the pages that it is going to write. So at
 * any moment a page is either in the acknowledged part of the log or matches its checksum, whenever the process is killed.
 */
export class CheckedDatabase {
  readonly #sqlite: DatabaseSync
  readonly #files: DataFiles
  /** Kept open: closing any descriptor of the file would end SQLite's lock on it. */
  readonly #database: number
  readonly #check: CheckFile
  #wal: number | undefined
  #header: CheckHeader
  /** Whether the log's size is its end: not after a write that failed, nor before the log was restarted. */
  #isWalExact = true

  private constructor(sqlite: DatabaseSync, files: DataFiles, database: number, check: CheckFile, header: CheckHeader) {
    this.#sqlite = sqlite
    this.#files = files
    this.#database = database
    this.#check = check
    this.#header = header
  }

  /** Of a database that has no check file yet: takes it as it is. */
  static create(sqlite: DatabaseSync, files: DataFiles): CheckedDatabase {
    checkpoint(sqlite)
    const pages = Number(sqlite.prepare('pragma page_count').get()!['page_count'])
    const database = openSync(files.database, 'r')
    const header: CheckHeader = {
      state: 'clean',
      generation: 1,
      walBytes: 0,
      salts: { first: 0, second: 0 },
      pages,
      boot: BOOT,
      ends: new Map(),
    }
    const check = CheckFile.create(files.check, header, pageChecksums(database, pages))
    return new CheckedDatabase(sqlite, files, database, check, header)
  }

  /** Of a database that was inspected, and is open since. */
  static resume(
    sqlite: DatabaseSync,
    files: DataFiles,
    { header, wal, hasLog }: Extract<Inspection, { kind: 'checked' }>,
  ): CheckedDatabase {
    const now = hasLog
      ? { ...header, state: 'running' as const, walBytes: wal.committedBytes, salts: wal.salts!, boot: BOOT }
      : { ...header, state: 'clean' as const, walBytes: 0, ends: new Map(), boot: BOOT }
    const database = new CheckedDatabase(sqlite, files, openSync(files.database, 'r'), CheckFile.open(files.check), now)
    database.#isWalExact = !hasLog
    database.#check.writeHeader(now)
    return database
  }

  /** Whether something was committed since it was opened, so that the log in use is known by its salts. */
  get isStarted(): boolean {
    return this.#header.state !== 'clean'
  }

  /** The log is long enough, or its end is not known for certain. */
  get wantsCheckpoint(): boolean {
    return this.#header.walBytes >= CHECKPOINT_BYTES || (!this.#isWalExact && this.#header.walBytes > 0)
  }

  get pages(): number {
    return this.#header.pages
  }

  /** Notes what was committed, with the ends of partitions that it moved. Nobody may hear of it before. */
  acknowledge(ends: ReadonlyMap<number, number>): void {
    const wal = this.#openWal()
    if (wal === undefined) return
    const before = this.#header
    const isFirst = before.walBytes === 0
    const content = this.#isWalExact ? undefined : readWal(wal)
    const walBytes = content === undefined ? fstatSync(wal).size : content.committedBytes
    const salts = content?.salts ?? (isFirst ? readSalts(wal) : before.salts)
    if (salts === undefined || (walBytes === before.walBytes && salts.second === before.salts.second)) return
    this.#header = {
      ...before,
      state: 'running',
      walBytes,
      salts,
      ends: ends.size === 0 ? before.ends : withEnds(before.ends, ends),
    }
    this.#check.writeHeader(this.#header)
    // Once for each start: after a power cut it has to be known that there is a log.
    if (before.state === 'clean') this.#check.sync()
  }

  /** A commit failed: parts of it may be in the log, behind its end. */
  doubtWal(): void {
    this.#isWalExact = false
  }

  /** Moves the log into the database. What fails leaves everything as it was. */
  checkpoint(): void {
    this.acknowledge(new Map())
    const { walBytes, pages: pagesBefore } = this.#header
    if (walBytes === 0) return
    const pages = Number(this.#sqlite.prepare('pragma page_count').get()!['page_count'])
    const sums = new Map([...checksumWalPages(this.#wal!, walBytes)].filter(([page]) => page <= pages))
    // Pages that are taken again later may never be written.
    for (let page = pages + 1; page <= pagesBefore; page++) sums.set(page, 0)
    this.#check.reserve(pages)
    this.#check.writeSums(sums)
    this.#note({ ...this.#header, state: 'checkpointing', pages })
    this.#isWalExact = false
    checkpoint(this.#sqlite)
    if (fstatSync(this.#wal!).size > 0) return
    this.#isWalExact = true
    const { generation, salts } = this.#header
    const next = { first: nextSalt(salts), second: 0 }
    this.#note({
      ...this.#header,
      state: 'running',
      generation: generation + 1,
      walBytes: 0,
      salts: next,
      ends: new Map(),
    })
  }

  /** Pages of the file from `from` to `to` that do not match their checksum. */
  damagedPages(from: number, to: number): readonly number[] {
    // A checkpoint that failed has written some of the pages.
    if (!this.#isWalExact) return []
    const range = { from, to: Math.min(to, this.#header.pages), except: new Set<number>() }
    return [...findDamagedPages(this.#database, this.#check, range)]
  }

  /**
   * Leaves a database whose log is empty. When the log can't be moved, as on a full disk, everything stays open until
   * the process ends: SQLite would move it at closing, without checksums.
   */
  close(): void {
    try {
      this.checkpoint()
      if (this.#header.walBytes > 0) throw new Error('the write-ahead log can not be moved')
      this.#note({ ...this.#header, state: 'clean', walBytes: 0 })
    } catch (error) {
      leaveOpen(this)
      throw error
    }
    this.#sqlite.close()
    this.abandon()
  }

  /** Lets go of the files; SQLite has to be closed before. */
  abandon(): void {
    if (this.#wal !== undefined) closeSync(this.#wal)
    this.#wal = undefined
    closeSync(this.#database)
    this.#check.close()
  }

  /** In the order that a power cut must not change. */
  #note(header: CheckHeader): void {
    this.#check.writeHeader(header)
    this.#header = header
    this.#check.sync()
  }

  #openWal(): number | undefined {
    if (this.#wal === undefined && fileSize(this.#files.wal) > 0) this.#wal = openSync(this.#files.wal, 'r')
    return this.#wal
  }
}

/** Removes a log that holds nothing, before SQLite recovers it. */
export function discardWal(files: DataFiles): void {
  if (fileSize(files.wal) > 0) truncateSync(files.wal)
}

function checkpoint(sqlite: DatabaseSync): void {
  sqlite.prepare('pragma wal_checkpoint(truncate)').get()
}

/** The newest last; the oldest make room. */
function withEnds(
  before: ReadonlyMap<number, number>,
  added: ReadonlyMap<number, number>,
): ReadonlyMap<number, number> {
  const ends = new Map(before)
  for (const [partition, end] of added) {
    ends.delete(partition)
    ends.set(partition, end)
  }
  for (const partition of ends.keys()) {
    if (ends.size <= ENDS_MAX) break
    ends.delete(partition)
  }
  return ends
}

const leftOpen = new Set<CheckedDatabase>()

/** Until the process ends, which must not close the database either: Node does when it ends of itself. */
function leaveOpen(database: CheckedDatabase): void {
  if (leftOpen.size === 0) process.on('exit', (code) => process.exit(code))
  leftOpen.add(database)
}
