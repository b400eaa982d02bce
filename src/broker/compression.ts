import { promisify } from 'node:util'
import { gunzip, gzip, zstdCompress, zstdDecompress } from 'node:zlib'
import type { Compression } from './broker.ts'
import { BrokerError } from './error.ts'

/** Codecs by their number in a batch's attributes. */
const NAMES: readonly Compression[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd']

/** What a batch may grow to when it is decompressed: more is an attack or damage. */
const DECOMPRESSED_BYTES_MAX = 256 * 1024 * 1024

export function compressionNumber(name: Compression): number {
  return NAMES.indexOf(name)
}

/** Throws `unsupported` when nobody knows the codec. */
export function compressionName(number: number): Compression {
  const name = NAMES[number]
  if (name === undefined) throw new BrokerError('unsupported', `compression codec ${number} is not known`)
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
  // Loaded when first needed: native parts that most topics never ask for.
  lz4: {
    compress: async (bytes) => (await import('lz4-napi')).compressFrame(bytes),
    decompress: async (bytes) => (await import('lz4-napi')).decompressFrame(bytes),
  },
  snappy: {
    compress: async (bytes) => xerialBlock(await (await import('snappy')).compress(bytes)),
    decompress: decompressSnappy,
  },
}

export async function compress(name: Compression, bytes: Buffer): Promise<Buffer> {
  return name === 'none' ? bytes : CODECS[name].compress(bytes)
}

/** Throws `corrupt_batch` when the bytes are not what the codec wrote, `unsupported` when nobody knows the codec. */
export async function decompress(number: number, bytes: Buffer): Promise<Buffer> {
  const name = compressionName(number)
  if (name === 'none') return bytes
  try {
    return await CODECS[name].decompress(bytes)
  } catch (error) {
    throw new BrokerError(
      'corrupt_batch',
      `a batch compressed with ${name} can't be read: ${(error as Error).message}`,
      { cause: error },
    )
  }
}

// Java's snappy writes blocks behind a header of its own (xerial): magic, two versions, then length and block in turn.
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
  if (!bytes.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC)) return raw(bytes)
  const blocks: Buffer[] = []
  let size = 0
  for (let at = XERIAL_HEADER_BYTES; at < bytes.length; ) {
    const length = bytes.readInt32BE(at)
    const block = await raw(bytes.subarray(at + 4, at + 4 + length))
    size += block.length
    if (size > DECOMPRESSED_BYTES_MAX) throw new RangeError(`it grows beyond ${DECOMPRESSED_BYTES_MAX} bytes`)
    blocks.push(block)
    at += 4 + length
  }
  return Buffer.concat(blocks)
}
