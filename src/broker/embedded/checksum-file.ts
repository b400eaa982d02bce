import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { crc32 } from '../record-batch/checksums.ts'
import type { Salts } from './sqlite-wal.ts'

/**
 * Header of `broker.check`. That file is separate from the data, so that damage to the data is detected. It contains:
 * - the header, in the first 4096 bytes: the acknowledged length of the write-ahead log, and the end offsets of the
 *   partitions that changed since the last checkpoint. It is overwritten in place after each commit, before the commit
 *   is acknowledged;
 * - the checksum of each page of the database file as of the last checkpoint.
 */
export type ChecksumFileHeader = {
  /**
   * `clean`: the write-ahead log has no acknowledged data. `running`: its first `walBytes` bytes are acknowledged.
   * `checkpointing`: the checksums already are those after the checkpoint; if all pages match, the log may be missing.
   */
  readonly state: 'clean' | 'running' | 'checkpointing'
  /** Incremented by each checkpoint. */
  readonly generation: number
  readonly walBytes: number
  /**
   * Salts of the write-ahead log. Between a checkpoint and the next commit, `first` is the salt that SQLite will use
   * next, and `second` is unknown (0).
   */
  readonly salts: Salts
  /** Size of the database in pages after the last checkpoint, or after the current one while `checkpointing`. */
  readonly pages: number
  /** Boot id of the machine when the header was written. A different current id means that the machine restarted. */
  readonly boot: string
  /** End offset by partition id, for the `ENDS_MAX` partitions that changed last in this generation. */
  readonly ends: ReadonlyMap<number, number>
}

const MAGIC = Buffer.from('WEIRCHK1')
const STATES = ['clean', 'running', 'checkpointing'] as const
const SUM_AT = 76
const ENDS_AT = 80
const END_BYTES = 16
const SUMS_AT = 4096
export const ENDS_MAX = Math.floor((SUMS_AT - ENDS_AT) / END_BYTES)
/** The file grows in steps that hold the checksums of 256 MB of pages. */
const GROWTH_BYTES = 65_536

/** An open `broker.check`. */
export class ChecksumFile {
  readonly #file: number
  #sizeBytes: number

  private constructor(file: number) {
    this.#file = file
    this.#sizeBytes = fstatSync(file).size
  }

  static open(path: string, mode: 'r' | 'r+' = 'r+'): ChecksumFile {
    return new ChecksumFile(openSync(path, mode))
  }

  /** Creates or replaces the file atomically. */
  static create(path: string, header: ChecksumFileHeader, sums: Uint32Array): ChecksumFile {
    const temporary = `${path}.new`
    const checksumFile = new ChecksumFile(openSync(temporary, 'w+'))
    checksumFile.reserve(sums.length)
    checksumFile.writeHeader(header)
    writeSync(
      checksumFile.#file,
      Buffer.from(sums.buffer, sums.byteOffset, sums.byteLength),
      0,
      sums.byteLength,
      SUMS_AT,
    )
    checksumFile.sync()
    renameSync(temporary, path)
    syncDirectory(dirname(path))
    return checksumFile
  }

  /** Undefined if the header is damaged. */
  readHeader(): ChecksumFileHeader | undefined {
    const bytes = Buffer.alloc(SUMS_AT)
    return readSync(this.#file, bytes, 0, SUMS_AT, 0) < SUMS_AT ? undefined : decode(bytes)
  }

  /** A single write within one memory page: if the process is killed, the file has either the old or the new header. */
  writeHeader(header: ChecksumFileHeader): void {
    const bytes = encode(header)
    writeSync(this.#file, bytes, 0, bytes.length, 0)
  }

  /** Checksums of `count` pages starting at page `first` (pages count from 1); 0 for a page without a checksum. */
  readSums(first: number, count: number): Uint32Array {
    const sums = new Uint32Array(count)
    const at = SUMS_AT + (first - 1) * 4
    readSync(this.#file, Buffer.from(sums.buffer), 0, sums.byteLength, at)
    return sums
  }

  /** Whether the file is long enough for the checksums of `pages` pages. False if it was truncated. */
  holds(pages: number): boolean {
    return this.#sizeBytes >= SUMS_AT + pages * 4
  }

  /** Allocates space for the checksums of `pages` pages. Throws if the disk is full. */
  reserve(pages: number): void {
    const needed = SUMS_AT + pages * 4
    if (needed <= this.#sizeBytes) return
    const end = Math.ceil(needed / GROWTH_BYTES) * GROWTH_BYTES
    // Writes zeros instead of only extending the file, so that the space is available when the disk is full.
    writeSync(this.#file, Buffer.alloc(end - this.#sizeBytes), 0, end - this.#sizeBytes, this.#sizeBytes)
    this.#sizeBytes = end
  }

  writeSums(sums: ReadonlyMap<number, number>): void {
    const pages = [...sums.keys()].sort((a, b) => a - b)
    for (let from = 0; from < pages.length; ) {
      let to = from + 1
      while (to < pages.length && pages[to] === pages[to - 1]! + 1) to += 1
      const run = Uint32Array.from(pages.slice(from, to), (page) => sums.get(page)!)
      writeSync(this.#file, Buffer.from(run.buffer), 0, run.byteLength, SUMS_AT + (pages[from]! - 1) * 4)
      from = to
    }
  }

  sync(): void {
    fdatasyncSync(this.#file)
  }

  close(): void {
    closeSync(this.#file)
  }
}

export function syncDirectory(directory: string): void {
  const file = openSync(directory, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Identifies the current boot of the machine; on platforms other than Linux, only the current process. */
export const BOOT = bootId()

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return randomUUID()
  }
}

function encode(header: ChecksumFileHeader): Buffer {
  const bytes = Buffer.alloc(ENDS_AT + header.ends.size * END_BYTES)
  MAGIC.copy(bytes)
  bytes.writeUInt32LE(STATES.indexOf(header.state), 8)
  bytes.writeUInt32LE(header.ends.size, 12)
  bytes.writeDoubleLE(header.generation, 16)
  bytes.writeDoubleLE(header.walBytes, 24)
  bytes.writeUInt32LE(header.salts.first, 32)
  bytes.writeUInt32LE(header.salts.second, 36)
  bytes.writeUInt32LE(header.pages, 40)
  Buffer.from(header.boot.replaceAll('-', ''), 'hex').copy(bytes, 44)
  let at = ENDS_AT
  for (const [partition, end] of header.ends) {
    bytes.writeUInt32LE(partition, at)
    bytes.writeDoubleLE(end, at + 8)
    at += END_BYTES
  }
  bytes.writeUInt32LE(sumOf(bytes), SUM_AT)
  return bytes
}

function decode(bytes: Buffer): ChecksumFileHeader | undefined {
  const state = STATES[bytes.readUInt32LE(8)]
  const count = bytes.readUInt32LE(12)
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC) || state === undefined || count > ENDS_MAX) return undefined
  if (bytes.readUInt32LE(SUM_AT) !== sumOf(bytes.subarray(0, ENDS_AT + count * END_BYTES))) return undefined
  const ends = Array.from({ length: count }, (_, index): [number, number] => {
    const at = ENDS_AT + index * END_BYTES
    return [bytes.readUInt32LE(at), bytes.readDoubleLE(at + 8)]
  })
  const boot = bytes.toString('hex', 44, 60)
  return {
    state,
    generation: bytes.readDoubleLE(16),
    walBytes: bytes.readDoubleLE(24),
    salts: { first: bytes.readUInt32LE(32), second: bytes.readUInt32LE(36) },
    pages: bytes.readUInt32LE(40),
    boot: boot.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
    ends: new Map(ends),
  }
}

function sumOf(bytes: Buffer): number {
  return crc32(bytes.subarray(ENDS_AT), crc32(bytes.subarray(0, SUM_AT)))
}
