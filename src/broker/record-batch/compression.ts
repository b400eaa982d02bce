import { promisify } from 'node:util'
import { gunzip, gzip, zstdCompress, zstdDecompress } from 'node:zlib'
import type { Compression } from '../broker.ts'
import { BrokerError } from '../broker-error.ts'

/** Codecs by their number in a batch's attributes. */
const NAMES: readonly Compression[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd']

/** Maximum size of a decompressed batch: a larger one is an attack or damage. Checked before memory is allocated. */
const DECOMPRESSED_BYTES_MAX = 256 * 1024 * 1024

export function compressionNumber(name: Compression): number {
  return NAMES.indexOf(name)
}

/** Throws `unsupported` for an unknown codec. */
export function compressionName(number: number): Compression {
  const name = NAMES[number]
  if (name === undefined) throw new BrokerError('unsupported', `compression codec ${number} is unknown`)
  return name
}

type Codec = { compress(bytes: Buffer): Promise<Buffer>; decompress(bytes: Buffer): Promise<Buffer> }

const zlibGzip = promisify(gzip)
const zlibGunzip = promisify(gunzip)
const zlibZstd = promisify(zstdCompress)
const zlibUnzstd = promisify(zstdDecompress)

const CODECS: Readonly<Record<Exclude<Compression, 'none'>, Codec>> = {
  gzip: {
    compress: (bytes) => zlibGzip(bytes),
    decompress: (bytes) => zlibGunzip(bytes, { maxOutputLength: DECOMPRESSED_BYTES_MAX }),
  },
  zstd: {
    compress: (bytes) => zlibZstd(bytes),
    decompress: (bytes) => zlibUnzstd(bytes, { maxOutputLength: DECOMPRESSED_BYTES_MAX }),
  },
  // Native modules, loaded on first use because few topics need them.
  lz4: {
    compress: async (bytes) => (await import('lz4-napi')).compressFrame(bytes),
    decompress: async (bytes) => {
      checkSize(lz4BytesMax(bytes))
      return (await import('lz4-napi')).decompressFrame(bytes)
    },
  },
  snappy: {
    compress: async (bytes) => xerialBlock(await (await import('snappy')).compress(bytes)),
    decompress: decompressSnappy,
  },
}

export async function compress(name: Compression, bytes: Buffer): Promise<Buffer> {
  return name === 'none' ? bytes : CODECS[name].compress(bytes)
}

/** Throws `corrupt_batch` if the bytes are not valid for the codec, `unsupported` for an unknown codec. */
export async function decompress(number: number, bytes: Buffer): Promise<Buffer> {
  const name = compressionName(number)
  if (name === 'none') return bytes
  try {
    return await CODECS[name].decompress(bytes)
  } catch (error) {
    throw new BrokerError(
      'corrupt_batch',
      `a batch compressed with ${name} cannot be decompressed: ${(error as Error).message}`,
      { cause: error },
    )
  }
}

// Java's snappy library frames blocks (xerial format): magic, two version numbers, then length and block, repeated.
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00])
const XERIAL_HEADER_BYTES = 16

function xerialBlock(block: Buffer): Buffer {
  const head = Buffer.alloc(XERIAL_HEADER_BYTES + 4)
  XERIAL_MAGIC.copy(head)
  head.writeInt32BE(1, 8)
  head.writeInt32BE(1, 12)
  head.writeInt32BE(block.length, XERIAL_HEADER_BYTES)
  return Buffer.concat([head, block])
}

async function decompressSnappy(bytes: Buffer): Promise<Buffer> {
  const { uncompress } = await import('snappy')
  const raw = async (block: Buffer) => (await uncompress(block, { asBuffer: true })) as Buffer
  if (!bytes.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC)) {
    checkSize(snappyBytes(bytes))
    return raw(bytes)
  }
  const blocks: Buffer[] = []
  let size = 0
  for (let at = XERIAL_HEADER_BYTES; at < bytes.length; ) {
    const length = bytes.readInt32BE(at)
    const end = at + 4 + length
    if (length <= 0 || end > bytes.length)
      throw new RangeError(`a block of ${length} bytes at ${at} exceeds the payload`)
    const block = bytes.subarray(at + 4, end)
    size += snappyBytes(block)
    checkSize(size)
    blocks.push(await raw(block))
    at = end
  }
  return Buffer.concat(blocks)
}

function checkSize(bytes: number): void {
  if (bytes > DECOMPRESSED_BYTES_MAX)
    throw new RangeError(`the decompressed size exceeds ${DECOMPRESSED_BYTES_MAX} bytes`)
}

const SNAPPY_LENGTH_BYTES_MAX = 5

/** The decompressed size that a snappy block declares: an unsigned varint at its start. */
function snappyBytes(block: Buffer): number {
  let value = 0
  for (let at = 0; at < SNAPPY_LENGTH_BYTES_MAX; at++) {
    const byte = block.readUInt8(at)
    value += (byte & 0x7f) * 128 ** at
    if (byte < 128) return value
  }
  throw new RangeError('its declared length is not a 32-bit number')
}

const LZ4_MAGIC = 0x184d2204
const LZ4_UNCOMPRESSED = 0x80000000
const LZ4_BLOCK_CHECKSUM = 0x10
const LZ4_CONTENT_SIZE = 0x08
const LZ4_CONTENT_CHECKSUM = 0x04
const LZ4_DICTIONARY = 0x01

/** Maximum compression ratio of an LZ4 block. */
const LZ4_RATIO_MAX = 256

/**
 * Upper bound of the decompressed size of LZ4 frames: each block counts with the block size of its frame, or with what
 * the compression ratio allows.
 */
function lz4BytesMax(bytes: Buffer): number {
  let size = 0
  for (let at = 0; at < bytes.length; ) {
    if (bytes.readUInt32LE(at) !== LZ4_MAGIC) throw new RangeError('it does not start with an LZ4 frame')
    const flags = bytes.readUInt8(at + 4)
    const blockBytesMax = 1 << (8 + 2 * ((bytes.readUInt8(at + 5) >> 4) & 0x07))
    // Magic number, flags, block size and the checksum of the header.
    at += 7 + ((flags & LZ4_CONTENT_SIZE) === 0 ? 0 : 8) + ((flags & LZ4_DICTIONARY) === 0 ? 0 : 4)
    const checksumBytes = (flags & LZ4_BLOCK_CHECKSUM) === 0 ? 0 : 4
    for (let length = bytes.readUInt32LE(at); length !== 0; length = bytes.readUInt32LE(at)) {
      const blockBytes = length & ~LZ4_UNCOMPRESSED
      at += 4 + blockBytes + checksumBytes
      size += Math.min(blockBytesMax, blockBytes * LZ4_RATIO_MAX)
    }
    at += 4 + ((flags & LZ4_CONTENT_CHECKSUM) === 0 ? 0 : 4)
  }
  return size
}
