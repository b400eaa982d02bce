import { gunzipSync, gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { crc32c, HEADER_BYTES } from './batch-header.ts'
import type { RecordSpan } from './batch-records.ts'

/** A batch taken apart, to leave out records. */
export type BatchParts = {
  readonly bytes: Buffer
  readonly offset: number
  readonly timestampMs: number
  readonly recordCount: number
  /** Decompressed. */
  readonly payload: Buffer
}

export function splitBatch(bytes: Buffer): BatchParts {
  return {
    bytes,
    offset: Number(bytes.readBigInt64BE(0)),
    timestampMs: Number(bytes.readBigInt64BE(27)),
    recordCount: bytes.readInt32BE(57),
    payload: decompress(bytes.readInt16BE(21) & 7, bytes.subarray(HEADER_BYTES)),
  }
}

/** The batch with these records only, in its place: first and last offset, times and producer stay. */
export function joinBatch({ bytes, payload }: BatchParts, kept: readonly RecordSpan[]): Buffer {
  const records = Buffer.concat(kept.map(({ from, to }) => payload.subarray(from, to)))
  const batch = Buffer.concat([bytes.subarray(0, HEADER_BYTES), compress(bytes.readInt16BE(21) & 7, records)])
  batch.writeInt32BE(batch.length - 12, 8)
  batch.writeInt32BE(kept.length, 57)
  batch.writeUInt32BE(crc32c(batch.subarray(21)), 17)
  return batch
}

function decompress(codec: number, bytes: Buffer): Buffer {
  if (codec === 1) return gunzipSync(bytes)
  if (codec === 4) return zstdDecompressSync(bytes)
  return bytes
}

function compress(codec: number, bytes: Buffer): Buffer {
  if (codec === 1) return gzipSync(bytes)
  if (codec === 4) return zstdCompressSync(bytes)
  return bytes
}
