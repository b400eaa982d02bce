import { closeSync, fdatasync, fdatasyncSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'

/**
 * Content of `broker.check`: what the database must contain at least. It is a file of its own, so that it contradicts a
 * database that lost its write-ahead log or was replaced by another one.
 */
export type CheckRecord = {
  /** Identifies the data directory. The database has the same id. */
  readonly directoryId: string
  /** Number of the last acknowledged commit. 0: the database is being created or upgraded. */
  readonly commit: number
  /** Whether the directory was closed, so that the database file has all commits. */
  readonly closed: boolean
  /** Boot id of the machine when this was written. A different current id means that the machine restarted. */
  readonly boot: string
  /** End offset by partition id, for the `ENDS_MAX` partitions that changed last. */
  readonly ends: ReadonlyMap<number, number>
}

/** Within one memory page, so that a killed process leaves either the old or the new record. */
const FILE_BYTES = 4096
/**
 * The record without the ends is in the first sector, which a disk writes completely or not at all: after a power cut it is
 * either the old or the new one. The ends only make the message about a loss more precise.
 */
const SECTOR_BYTES = 512
const SUM_CHARACTERS = 8
/** A partition id and an end offset have up to 24 characters. */
const ENDS_MAX = 140

/**
 * An open `broker.check`: JSON after its checksum, the record in the first sector and the ends in the others. It is overwritten
 * after each commit, before the commit is acknowledged.
 */
export class CheckFile {
  readonly #file: number
  #record: CheckRecord
  #isDirty = false
  #isSyncing = false
  #isClosed = false

  private constructor(file: number, record: CheckRecord) {
    this.#file = file
    this.#record = record
  }

  static open(path: string, record: CheckRecord): CheckFile {
    return new CheckFile(openSync(path, 'r+'), record)
  }

  /** Creates or replaces the file atomically. */
  static create(path: string, record: CheckRecord): CheckFile {
    const temporary = `${path}.new`
    const check = new CheckFile(openSync(temporary, 'w+'), record)
    check.#write(record)
    fdatasyncSync(check.#file)
    renameSync(temporary, path)
    syncDirectory(dirname(path))
    return check
  }

  /** Records a commit. `ends`: the new end offset of each changed partition. Must be called before the commit becomes visible. */
  acknowledge(commit: number, ends: ReadonlyMap<number, number>): void {
    const { directoryId } = this.#record
    this.#write({ directoryId, commit, closed: false, boot: BOOT, ends: withEnds(this.#record.ends, ends) })
  }

  /** Records that the database file has all commits. Syncs it, as the database is. */
  noteClosed(): void {
    this.#write({ ...this.#record, closed: true, boot: BOOT })
    fdatasyncSync(this.#file)
  }

  /** Syncs what was written since the last call, in the background: after a power cut, the file must not be older than the database. */
  sync(): void {
    if (!this.#isDirty || this.#isSyncing) return
    this.#isDirty = false
    this.#isSyncing = true
    fdatasync(this.#file, (error) => {
      this.#isSyncing = false
      if (error) this.#isDirty = true
      if (this.#isClosed) closeSync(this.#file)
    })
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    if (!this.#isSyncing) closeSync(this.#file)
  }

  #write(record: CheckRecord): void {
    const { ends, ...first } = record
    const bytes = Buffer.alloc(FILE_BYTES, ' ')
    bytes.write(withSum(JSON.stringify(first)), 0, 'latin1')
    bytes.write(withSum(JSON.stringify([...ends])), SECTOR_BYTES, 'latin1')
    writeSync(this.#file, bytes, 0, FILE_BYTES, 0)
    this.#record = record
    this.#isDirty = true
  }
}

/** Undefined if the content is damaged. Earlier versions wrote the record and its ends as one. */
export function readCheckFile(path: string): CheckRecord | undefined {
  const text = readFileSync(path, 'latin1')
  if (text.length !== FILE_BYTES) return undefined
  const record = parse(text.slice(0, SECTOR_BYTES)) ?? parse(text)
  if (record === undefined) return undefined
  return { ...record, ends: new Map(record.ends ?? parse(text.slice(SECTOR_BYTES))) }
}

/** Undefined if the content does not have its checksum. */
function parse(text: string) {
  const json = text.slice(SUM_CHARACTERS + 1).trimEnd()
  return text.trimEnd() === withSum(json) ? JSON.parse(json) : undefined
}

function withSum(json: string): string {
  return `${crc32(json).toString(16).padStart(SUM_CHARACTERS, '0')} ${json}`
}

/** Most recent last; drops the oldest beyond `ENDS_MAX`. */
function withEnds(before: ReadonlyMap<number, number>, added: ReadonlyMap<number, number>): CheckRecord['ends'] {
  if (added.size === 0) return before
  const ends = new Map(before)
  for (const [partition, end] of added) {
    ends.delete(partition)
    ends.set(partition, end)
  }
  return ends.size > ENDS_MAX ? new Map([...ends].slice(-ENDS_MAX)) : ends
}

export function syncDirectory(directory: string): void {
  const file = openSync(directory, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Identifies the current boot of the machine; elsewhere than on Linux, all boots look the same. */
export const BOOT = bootId()

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return ''
  }
}
