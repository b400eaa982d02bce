import { readSync } from 'node:fs'
import { endianness } from 'node:os'
import { crc32 } from '@node-rs/crc32'
import { PAGE_BYTES } from './schema.ts'

/*
 * SQLite's write-ahead log, as https://www.sqlite.org/fileformat2.html#walformat describes it: a header, then frames,
 * each a header and one page of the database. The checksum of a frame continues that of the frame before it, so SQLite
 * takes a damaged frame for the end of the log. What follows tells a damaged end from the real one.
 */

const WAL_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES
const FRAMES_AT_ONCE = 64

const MAGIC = 0x377f0682
/** Chosen anew whenever the log is restarted: frames with other salts are left from before. */
export type Salts = { readonly first: number; readonly second: number }

export type Frame = {
  /** Where the frame begins in the file. */
  readonly at: number
  readonly page: number
  /** Pages of the database after the commit that this frame ends; 0 when it does not end one. */
  readonly commitPages: number
  /** Whether salts and checksum are right, given what the frame before it has written as its own. */
  readonly isSound: boolean
  /** Valid until the next frame is read. */
  readonly content: Buffer
}

/** What SQLite would recover from the log. */
export type WalContent = {
  /** Undefined: no log, or a header that is no log's. */
  readonly salts: Salts | undefined
  /** End of the last commit before the first frame that is not sound. */
  readonly committedBytes: number
  readonly commits: number
  /** Pages that have a committed version in the log. */
  readonly pages: ReadonlySet<number>
  /** Pages of the database after the last commit; undefined without one. */
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

/** Every frame, sound or not: one that is damaged does not keep those behind it from being read. */
export function* readFrames(file: number): Generator<Frame> {
  const header = readHeader(file)
  if (header !== undefined) yield* framesOf(file, header, Number.POSITIVE_INFINITY)
}

export function readSalts(file: number): Salts | undefined {
  return readHeader(file)?.salts
}

/** Checksums of the pages in the log's first `endBytes`, the last version of each. For a log that was just written. */
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

/** The first salt of the log that follows in the same connection: SQLite counts it up. */
export function nextSalt({ first }: Salts): number {
  return (first + 1) >>> 0
}

/** Checksum of a page; never 0, which stands for a page that has none. */
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
  // The lowest bit says whose byte order the checksums are in.
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

/** Whole frames. The memory is used again for those that follow. */
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
