import { readSync } from 'node:fs'
import { endianness } from 'node:os'
import { crc32 } from '../record-batch/checksums.ts'
import { PAGE_BYTES } from './database-format.ts'

/*
 * Reads SQLite's write-ahead log (https://www.sqlite.org/fileformat2.html#walformat): a header, then frames, each with
 * a header and one database page. The checksum of a frame includes that of the previous frame, so SQLite treats a
 * damaged frame as the end of the log. This module reports where the valid part ends.
 * `data-directory-check.ts` compares that with the acknowledged length in `broker.check`, and so distinguishes damage from
 * the end that a killed process leaves.
 */

const WAL_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES
const FRAMES_AT_ONCE = 64

const MAGIC = 0x377f0682
/** Changed whenever the log is restarted: frames with other salts are left over from earlier. */
export type Salts = { readonly first: number; readonly second: number }

export type Frame = {
  /** Position of the frame in the file, in bytes. */
  readonly at: number
  readonly page: number
  /** Number of database pages after the commit, if this is the last frame of a commit; else 0. */
  readonly commitPages: number
  /** Whether salts and checksum are valid, given the checksum stored in the previous frame. */
  readonly isSound: boolean
  /** Valid until the next frame is read. */
  readonly content: Buffer
}

/** The content that SQLite would recover from the log. */
export type WalContent = {
  /** Undefined if there is no log or its header is invalid. */
  readonly salts: Salts | undefined
  /** End of the last commit before the first invalid frame. */
  readonly committedBytes: number
  readonly commits: number
  /** Pages with a committed version in the log. */
  readonly pages: ReadonlySet<number>
  /** Number of database pages after the last commit; undefined if there is no commit. */
  readonly databasePages: number | undefined
}

export const EMPTY_WAL: WalContent = {
  salts: undefined,
  committedBytes: 0,
  commits: 0,
  pages: new Set(),
  databasePages: undefined,
}

export function readWal(file: number, endBytes = Number.POSITIVE_INFINITY): WalContent {
  const header = readHeader(file)
  if (header === undefined) return EMPTY_WAL
  const pages = new Set<number>()
  let uncommitted: number[] = []
  let committedBytes = WAL_HEADER_BYTES
  let commits = 0
  let databasePages: number | undefined
  for (const frame of framesOf(file, header, endBytes)) {
    if (!frame.isSound) break
    uncommitted.push(frame.page)
    if (frame.commitPages === 0) continue
    for (const page of uncommitted) pages.add(page)
    uncommitted = []
    committedBytes = frame.at + FRAME_BYTES
    databasePages = frame.commitPages
    commits += 1
  }
  return { salts: header.salts, committedBytes, commits, pages, databasePages }
}

/** Yields all frames, valid or not: frames after a damaged one are still readable. */
export function* readFrames(file: number): Generator<Frame> {
  const header = readHeader(file)
  if (header !== undefined) yield* framesOf(file, header, Number.POSITIVE_INFINITY)
}

export function readSalts(file: number): Salts | undefined {
  return readHeader(file)?.salts
}

/**
 * Checksums by page number, of the last version of each page in the first `endBytes` of the log. Does not validate the
 * frames, so it is for a log that this process has written.
 */
export function checksumWalPages(file: number, endBytes: number): ReadonlyMap<number, number> {
  const lastFrames = new Map<number, number>()
  const number = Buffer.alloc(4)
  for (let at = WAL_HEADER_BYTES; at + FRAME_BYTES <= endBytes; at += FRAME_BYTES) {
    readSync(file, number, 0, number.length, at)
    lastFrames.set(number.readUInt32BE(0), at)
  }
  const sums = new Map<number, number>()
  const content = Buffer.alloc(PAGE_BYTES)
  for (const [page, at] of lastFrames) {
    readSync(file, content, 0, PAGE_BYTES, at + FRAME_HEADER_BYTES)
    sums.set(page, pageChecksum(content))
  }
  return sums
}

/** The first salt of the next log in the same connection: SQLite increments it. */
export function nextSalt({ first }: Salts): number {
  return (first + 1) >>> 0
}

/** Checksum of a page. Never 0, which means that a page has no checksum. */
export function pageChecksum(content: Buffer): number {
  return crc32(content) || 1
}

type Header = { readonly salts: Salts; readonly isSwapped: boolean; readonly sum: Sum }
type Sum = readonly [number, number]

function readHeader(file: number): Header | undefined {
  const bytes = Buffer.alloc(WAL_HEADER_BYTES)
  if (readSync(file, bytes, 0, WAL_HEADER_BYTES, 0) < WAL_HEADER_BYTES) return undefined
  const magic = bytes.readUInt32BE(0)
  if ((magic & ~1) !== MAGIC || bytes.readUInt32BE(8) !== PAGE_BYTES) return undefined
  // The lowest bit is the byte order of the checksums: 1 is big-endian.
  const isSwapped = (magic & 1) !== (endianness() === 'BE' ? 1 : 0)
  const sum = addSum([0, 0], bytes.subarray(0, 24), isSwapped)
  if (!isWritten(sum, bytes, 24)) return undefined
  return { salts: { first: bytes.readUInt32BE(16), second: bytes.readUInt32BE(20) }, isSwapped, sum }
}

function* framesOf(file: number, { salts, isSwapped, sum: first }: Header, endBytes: number): Generator<Frame> {
  let before = first
  for (const { at, frame } of chunksOf(file, endBytes)) {
    const content = frame.subarray(FRAME_HEADER_BYTES)
    const sum = addSum(addSum(before, frame.subarray(0, 8), isSwapped), content, isSwapped)
    const hasSalts = frame.readUInt32BE(8) === salts.first && frame.readUInt32BE(12) === salts.second
    const isSound = hasSalts && isWritten(sum, frame, 16)
    yield { at, page: frame.readUInt32BE(0), commitPages: frame.readUInt32BE(4), isSound, content }
    before = [frame.readInt32BE(16), frame.readInt32BE(20)]
  }
}

/** Yields complete frames. The buffer is reused for the following frames. */
function* chunksOf(file: number, endBytes: number): Generator<{ readonly at: number; readonly frame: Buffer }> {
  const chunk = Buffer.alloc(FRAMES_AT_ONCE * FRAME_BYTES)
  for (let at = WAL_HEADER_BYTES; at < endBytes; ) {
    const length = readSync(file, chunk, 0, Math.min(chunk.length, endBytes - at), at)
    for (let from = 0; from + FRAME_BYTES <= length; from += FRAME_BYTES) {
      yield { at: at + from, frame: chunk.subarray(from, from + FRAME_BYTES) }
    }
    if (length < chunk.length) return
    at += length
  }
}

function addSum([first, second]: Sum, bytes: Buffer, isSwapped: boolean): Sum {
  const own = isSwapped ? Buffer.from(bytes).swap32() : bytes
  const words = new Int32Array(own.buffer, own.byteOffset, own.length / 4)
  let [a, b] = [first, second]
  for (let at = 0; at < words.length; at += 2) {
    a = (a + words[at]! + b) | 0
    b = (b + words[at + 1]! + a) | 0
  }
  return [a, b]
}

function isWritten([first, second]: Sum, bytes: Buffer, at: number): boolean {
  return bytes.readInt32BE(at) === first && bytes.readInt32BE(at + 4) === second
}
