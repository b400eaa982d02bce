import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { gzip, zstdCompress } from 'node:zlib'

export const COMPRESSION_TYPES = ['none', 'gzip', 'snappy', 'zstd'] as const
export type CompressionType = (typeof COMPRESSION_TYPES)[number]

/** Compresses a file piece by piece. The same pieces make the same bytes, and no state of a compressor is held between them. */
export type FileCompression = {
  /** Such as `.gz`. */
  readonly extension: string
  compress(piece: Buffer, isFirst: boolean): Promise<Buffer>
}

/** `level`: of gzip; -1 for its default. Returns undefined for `none`. */
export function compressionOf(type: CompressionType, level = -1): FileCompression | undefined {
  switch (type) {
    case 'none':
      return undefined
    case 'gzip':
      return { extension: '.gz', compress: (piece) => gzipAsync(piece, { level }) }
    case 'snappy':
      return { extension: '.snappy', compress: snappyStream }
    case 'zstd':
      return { extension: '.zst', compress: (piece) => zstdAsync(piece) }
  }
}

const gzipAsync = promisify(gzip)
const zstdAsync = promisify(zstdCompress)

/** The stream format of Java's library: a magic number and two versions, then blocks, each after its length. */
const SNAPPY_HEADER = Buffer.from([0x82, ...Buffer.from('SNAPPY'), 0, 0, 0, 0, 1, 0, 0, 0, 1])
const SNAPPY_BLOCK_BYTES = 32_768

async function snappyStream(piece: Buffer, isFirst: boolean): Promise<Buffer> {
  snappy ??= createRequire(import.meta.url)('snappy') as typeof import('snappy')
  const parts: Buffer[] = isFirst ? [SNAPPY_HEADER] : []
  for (let at = 0; at < piece.length; at += SNAPPY_BLOCK_BYTES) {
    const block = await snappy.compress(piece.subarray(at, at + SNAPPY_BLOCK_BYTES))
    const length = Buffer.alloc(4)
    length.writeUInt32BE(block.length)
    parts.push(length, block)
  }
  return Buffer.concat(parts)
}

/** Loaded with the first piece, because it is native code. */
let snappy: typeof import('snappy') | undefined
