import { crc32c } from '../record-batch/checksums.ts'
import { compress, compressionName, decompress } from '../record-batch/compression.ts'
import {
  ATTRIBUTES_AT,
  BASE_OFFSET_AT,
  COMPRESSION_MASK,
  COUNT_AT,
  CRC_AT,
  FIRST_TIMESTAMP_AT,
  HEADER_BYTES,
  LENGTH_AT,
  PREFIX_BYTES,
} from '../record-batch/record-batch-layout.ts'
import type { RecordSpan } from './batch-records.ts'

/** A decompressed batch from which records can be removed. */
export type BatchParts = {
  readonly bytes: Buffer
  readonly offset: number
  readonly timestampMs: number
  readonly recordCount: number
  /** The decompressed records. */
  readonly payload: Buffer
}

export async function splitBatch(bytes: Buffer): Promise<BatchParts> {
  return {
    bytes,
    offset: Number(bytes.readBigInt64BE(BASE_OFFSET_AT)),
    timestampMs: Number(bytes.readBigInt64BE(FIRST_TIMESTAMP_AT)),
    recordCount: bytes.readInt32BE(COUNT_AT),
    payload: await decompress(codecOf(bytes), bytes.subarray(HEADER_BYTES)),
  }
}

/** Rebuilds the batch with the `kept` records only. First and last offset, timestamps and producer stay the same. */
export async function joinBatch({ bytes, payload }: BatchParts, kept: readonly RecordSpan[]): Promise<Buffer> {
  const records = Buffer.concat(kept.map(({ from, to }) => payload.subarray(from, to)))
  const batch = Buffer.concat([
    bytes.subarray(0, HEADER_BYTES),
    await compress(compressionName(codecOf(bytes)), records),
  ])
  batch.writeInt32BE(batch.length - PREFIX_BYTES, LENGTH_AT)
  batch.writeInt32BE(kept.length, COUNT_AT)
  batch.writeUInt32BE(crc32c(batch.subarray(ATTRIBUTES_AT)), CRC_AT)
  return batch
}

function codecOf(bytes: Buffer): number {
  return bytes.readInt16BE(ATTRIBUTES_AT) & COMPRESSION_MASK
}
