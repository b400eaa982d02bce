import { closeSync, fstatSync, openSync, truncateSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { BOOT, ChecksumFile, type ChecksumFileHeader, ENDS_MAX } from './checksum-file.ts'
import type { DataDirectoryCheck } from './data-directory-check.ts'
import { type DataFiles, fileSize } from './data-files.ts'
import { findDamagedPages, pageChecksums } from './page-checksums.ts'
import { checksumWalPages, nextSalt, readSalts, readWal } from './sqlite-wal.ts'

/** Size of the write-ahead log that triggers a checkpoint. */
const CHECKPOINT_BYTES = 16 * 1024 * 1024

/**
 * A database with its checksum file `broker.check`. After each commit, before the commit is acknowledged, the end of the
 * write-ahead log is recorded there; before each checkpoint, the checksums of the pages that it will write. So whenever
 * the process is killed, each page either is in the acknowledged part of the log or matches its checksum.
 */
export class ChecksummedDatabase {
  readonly #sqlite: DatabaseSync
  readonly #files: DataFiles
  /** Kept open: closing any descriptor of the file would release SQLite's lock on it. */
  readonly #database: number
  readonly #check: ChecksumFile
  #wal: number | undefined
  #header: ChecksumFileHeader
  /** Whether the log file ends with its last commit. False after a failed write, until the log is restarted. */
  #isWalExact = true

  private constructor(
    sqlite: DatabaseSync,
    files: DataFiles,
    database: number,
    check: ChecksumFile,
    header: ChecksumFileHeader,
  ) {
    this.#sqlite = sqlite
    this.#files = files
    this.#database = database
    this.#check = check
    this.#header = header
  }

  /** Creates the checksum file of a database that has none. The current pages are taken as valid. */
  static create(sqlite: DatabaseSync, files: DataFiles): ChecksummedDatabase {
    checkpoint(sqlite)
    const pages = Number(sqlite.prepare('pragma page_count').get()!['page_count'])
    const database = openSync(files.database, 'r')
    const header: ChecksumFileHeader = {
      state: 'clean',
      generation: 1,
      walBytes: 0,
      salts: { first: 0, second: 0 },
      pages,
      boot: BOOT,
      ends: new Map(),
    }
    const check = ChecksumFile.create(files.check, header, pageChecksums(database, pages))
    return new ChecksummedDatabase(sqlite, files, database, check, header)
  }

  /** Opens the checksum file of a database that was inspected and then opened. */
  static resume(
    sqlite: DatabaseSync,
    files: DataFiles,
    { header, wal, usesWal }: Extract<DataDirectoryCheck, { kind: 'with-checksums' }>,
  ): ChecksummedDatabase {
    const now = usesWal
      ? { ...header, state: 'running' as const, walBytes: wal.committedBytes, salts: wal.salts!, boot: BOOT }
      : { ...header, state: 'clean' as const, walBytes: 0, ends: new Map(), boot: BOOT }
    const database = new ChecksummedDatabase(
      sqlite,
      files,
      openSync(files.database, 'r'),
      ChecksumFile.open(files.check),
      now,
    )
    database.#isWalExact = !usesWal
    database.#check.writeHeader(now)
    return database
  }

  /** Whether the header identifies the current log by its salts: recovered at open, or committed to since. */
  get isStarted(): boolean {
    return this.#header.state !== 'clean'
  }

  /** Whether the log has reached `CHECKPOINT_BYTES`, or its end is uncertain. */
  get isCheckpointDue(): boolean {
    return this.#header.walBytes >= CHECKPOINT_BYTES || (!this.#isWalExact && this.#header.walBytes > 0)
  }

  get pages(): number {
    return this.#header.pages
  }

  /**
   * Records a commit in the checksum file. `ends`: the new end offset of each changed partition, by id. Must be called
   * before the commit becomes visible to any client or reader.
   */
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
    // Once per start: after a power failure, the checksum file must show that a log exists.
    if (before.state === 'clean') this.#check.sync()
  }

  /** Called after a failed commit, which may have left frames after the end of the log. */
  markWalUncertain(): void {
    this.#isWalExact = false
  }

  /** Moves the log into the database. If it throws, no acknowledged data is lost and it can be retried. */
  checkpoint(): void {
    this.acknowledge(new Map())
    const { walBytes, pages: pagesBefore } = this.#header
    if (walBytes === 0) return
    const pages = Number(this.#sqlite.prepare('pragma page_count').get()!['page_count'])
    const sums = new Map([...checksumWalPages(this.#wal!, walBytes)].filter(([page]) => page <= pages))
    // Clears the checksums of pages that were cut off: if SQLite allocates them later, it may never write them.
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

  /** Pages of the database file from `from` to `to` (inclusive) that do not match their checksum. */
  damagedPages(from: number, to: number): readonly number[] {
    // After a failed checkpoint some pages are already written, so checksums cannot be compared.
    if (!this.#isWalExact) return []
    const range = { from, to: Math.min(to, this.#header.pages), except: new Set<number>() }
    return [...findDamagedPages(this.#database, this.#check, range)]
  }

  /**
   * Checkpoints the log and closes the database. If the checkpoint fails, for example on a full disk, throws and keeps
   * everything open until the process exits: closing would make SQLite move the log without checksums.
   */
  close(): void {
    try {
      this.checkpoint()
      if (this.#header.walBytes > 0) throw new Error('the write-ahead log cannot be moved into the database')
      this.#note({ ...this.#header, state: 'clean', walBytes: 0 })
    } catch (error) {
      leaveOpen(this)
      throw error
    }
    this.#sqlite.close()
    this.abandon()
  }

  /** Closes the file descriptors without a checkpoint. SQLite must be closed first. */
  abandon(): void {
    if (this.#wal !== undefined) closeSync(this.#wal)
    this.#wal = undefined
    closeSync(this.#database)
    this.#check.close()
  }

  /** Writes and syncs the header, so that a power failure cannot reorder it with the writes before and after. */
  #note(header: ChecksumFileHeader): void {
    this.#check.writeHeader(header)
    this.#header = header
    this.#check.sync()
  }

  #openWal(): number | undefined {
    if (this.#wal === undefined && fileSize(this.#files.wal) > 0) this.#wal = openSync(this.#files.wal, 'r')
    return this.#wal
  }
}

/** Truncates a log without acknowledged data, before SQLite would recover it. */
export function discardWal(files: DataFiles): void {
  if (fileSize(files.wal) > 0) truncateSync(files.wal)
}

function checkpoint(sqlite: DatabaseSync): void {
  sqlite.prepare('pragma wal_checkpoint(truncate)').get()
}

/** Most recent last; drops the oldest beyond `ENDS_MAX`. */
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

const leftOpen = new Set<ChecksummedDatabase>()

/** Keeps the database open. The exit handler calls `process.exit`, because Node closes databases on a normal exit. */
function leaveOpen(database: ChecksummedDatabase): void {
  if (leftOpen.size === 0) process.on('exit', (code) => process.exit(code))
  leftOpen.add(database)
}
