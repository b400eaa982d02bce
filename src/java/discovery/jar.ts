import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { crc32, inflateRawSync } from 'node:zlib'
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl'

/** Limit of the entries of one jar. The largest jars of connectors have some 60 000. */
const ENTRIES_MAX = 200_000
/**
 * Limits of what is inflated from one jar: a class file compresses to a half or a third, so only a zip bomb exceeds the
 * ratio.
 */
const INFLATED_RATIO_MAX = 30
const INFLATED_BYTES_MIN = 16 * 1_048_576

const STORED = 0
const DEFLATED = 8

/** A jar open for reading. Every error is a sentence without the path. */
export class Jar {
  /** Sorted as in the jar. Of entries with the same name, the first one counts. */
  readonly entries: ReadonlyMap<string, Entry>
  readonly #file: JarFile
  readonly #zip: ZipFile
  #inflatedBytes = 0

  private constructor(file: JarFile, zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#file = file
    this.#zip = zip
    this.entries = entries
  }

  /** Reads the directory of the jar. Rejects if it is not a jar, truncated, or has too many entries. */
  static async open(path: string): Promise<Jar> {
    const file = new JarFile(path)
    try {
      const zip = await openZip(file)
      const entries = new Map<string, Entry>()
      for await (const entry of zip.eachEntry()) if (!entries.has(entry.fileName)) entries.set(entry.fileName, entry)
      return new Jar(file, zip, entries)
    } catch (error) {
      file.closeNow()
      throw error
    }
  }

  /** The content of an entry. Rejects if it is damaged, or has more than `bytesMax` bytes. */
  async read(entry: Entry, bytesMax: number): Promise<Buffer> {
    const { compressedSize, uncompressedSize, fileName } = entry
    if (uncompressedSize > bytesMax || compressedSize > bytesMax) {
      throw new Error(`its entry ${fileName} has ${uncompressedSize} bytes, more than ${bytesMax}`)
    }
    this.#inflatedBytes += uncompressedSize
    const inflatedMax = Math.max(INFLATED_BYTES_MIN, this.#file.size * INFLATED_RATIO_MAX)
    if (this.#inflatedBytes > inflatedMax) throw new Error(`its classes have more than ${inflatedMax} bytes`)
    if (entry.isEncrypted()) throw new Error(`its entry ${fileName} is encrypted`)
    const { fileDataStart } = await this.#zip.readLocalFileHeaderPromise(entry, { minimal: true })
    const content = inflate(entry, this.#file.bytesAt(fileDataStart, compressedSize))
    if (content.length !== uncompressedSize || crc32(content) !== entry.crc32) {
      throw new Error(`its entry ${fileName} is damaged`)
    }
    return content
  }

  close(): void {
    this.#zip.close()
    this.#file.closeNow()
  }
}

async function openZip(file: JarFile): Promise<ZipFile> {
  if (file.size === 0) throw new Error('it is empty')
  const zip = await fromRandomAccessReaderPromise(file, file.size, { lazyEntries: true, autoClose: false })
  if (zip.entryCount > ENTRIES_MAX) throw new Error(`it has ${zip.entryCount} entries, more than ${ENTRIES_MAX}`)
  return zip
}

function inflate({ compressionMethod, uncompressedSize, fileName }: Entry, compressed: Buffer): Buffer {
  if (compressionMethod === STORED) return compressed
  if (compressionMethod !== DEFLATED) throw new Error(`its entry ${fileName} has an unknown compression method`)
  try {
    return inflateRawSync(compressed, { maxOutputLength: Math.max(1, uncompressedSize) })
  } catch {
    throw new Error(`its entry ${fileName} is damaged`)
  }
}

const WINDOW_BYTES = 65_536

/** Reads a file in windows: yauzl requests every header by itself. */
class JarFile extends RandomAccessReader {
  readonly size: number
  readonly #fd: number
  readonly #window = Buffer.allocUnsafe(WINDOW_BYTES)
  #windowStart = 0
  #windowLength = 0
  #isClosed = false

  constructor(path: string) {
    super()
    // Opening a named pipe would wait for a writer.
    this.#fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const stats = fstatSync(this.#fd)
    this.size = stats.size
    if (stats.isFile()) return
    this.closeNow()
    throw new Error('it is not a file')
  }

  bytesAt(position: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length)
    this.#copy(bytes, position)
    return bytes
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    try {
      this.#copy(buffer.subarray(offset, offset + length), position)
    } catch (error) {
      setImmediate(callback, error as Error)
      return
    }
    // In the same turn: a turn for each of 60 000 headers would take seconds.
    queueMicrotask(() => callback(null))
  }

  override close(callback: (error: Error | null) => void): void {
    this.closeNow()
    setImmediate(callback, null)
  }

  closeNow(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    closeSync(this.#fd)
  }

  #copy(target: Buffer, position: number): void {
    const within = position - this.#windowStart
    if (within >= 0 && within + target.length <= this.#windowLength) {
      this.#window.copy(target, 0, within, within + target.length)
      return
    }
    if (target.length > WINDOW_BYTES) {
      if (readSync(this.#fd, target, 0, target.length, position) < target.length) throw new Error('it is truncated')
      return
    }
    this.#windowStart = position
    this.#windowLength = readSync(this.#fd, this.#window, 0, WINDOW_BYTES, position)
    if (this.#windowLength < target.length) throw new Error('it is truncated')
    this.#window.copy(target, 0, 0, target.length)
  }
}
