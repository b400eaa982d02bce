import { BrokerError } from '../broker-error.ts'
import { crc32c } from '../record-batch/checksums.ts'
import {
  ATTRIBUTES_AT,
  BASE_OFFSET_AT,
  BASE_SEQUENCE_AT,
  COUNT_AT,
  CRC_AT,
  FIRST_TIMESTAMP_AT,
  HEADER_BYTES,
  LAST_OFFSET_DELTA_AT,
  LEADER_EPOCH_AT,
  LENGTH_AT,
  MAGIC_AT,
  MAX_TIMESTAMP_AT,
  PREFIX_BYTES,
  PRODUCER_EPOCH_AT,
  PRODUCER_ID_AT,
  TRANSACTIONAL,
} from '../record-batch/record-batch-layout.ts'

/** The fields of a record batch header (Kafka's format v2) that this broker uses. */
export type BatchHeader = {
  readonly lastOffsetDelta: number
  readonly maxTimestampMs: number
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly baseSequence: number
  readonly recordCount: number
  readonly transactional: boolean
}

export const NO_PRODUCER = -1n

/** Throws `corrupt_batch` unless `bytes` is exactly one complete batch of format v2. */
export function parseHeader(bytes: Uint8Array): BatchHeader {
  const view = viewOf(bytes)
  if (bytes.length < HEADER_BYTES || view.getInt8(MAGIC_AT) !== 2) {
    throw new BrokerError('corrupt_batch', 'not a record batch of format v2')
  }
  if (view.getInt32(LENGTH_AT) + PREFIX_BYTES !== bytes.length) {
    throw new BrokerError(
      'corrupt_batch',
      `the length in the header of a record batch of ${bytes.length} bytes does not match`,
    )
  }
  return {
    lastOffsetDelta: view.getInt32(LAST_OFFSET_DELTA_AT),
    maxTimestampMs: Number(view.getBigInt64(MAX_TIMESTAMP_AT)),
    producerId: view.getBigInt64(PRODUCER_ID_AT),
    producerEpoch: view.getInt16(PRODUCER_EPOCH_AT),
    baseSequence: view.getInt32(BASE_SEQUENCE_AT),
    recordCount: view.getInt32(COUNT_AT),
    transactional: (view.getInt16(ATTRIBUTES_AT) & TRANSACTIONAL) !== 0,
  }
}

/** Changes `bytes` in place. The checksum does not cover the base offset, so it stays valid. */
export function writeBaseOffset(bytes: Uint8Array, offset: number): void {
  viewOf(bytes).setBigInt64(BASE_OFFSET_AT, BigInt(offset))
}

/**
 * A batch without records that covers the removed offsets from `from` (inclusive) to `to` (exclusive). Kafka keeps such
 * batches after compaction, so every consumer skips them.
 */
export function gapBatch(from: number, to: number): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES)
  const view = viewOf(bytes)
  view.setBigInt64(BASE_OFFSET_AT, BigInt(from))
  view.setInt32(LENGTH_AT, HEADER_BYTES - PREFIX_BYTES)
  view.setInt32(LEADER_EPOCH_AT, -1)
  view.setInt8(MAGIC_AT, 2)
  view.setInt32(LAST_OFFSET_DELTA_AT, Math.min(to - from, 2 ** 31) - 1)
  view.setBigInt64(FIRST_TIMESTAMP_AT, -1n)
  view.setBigInt64(MAX_TIMESTAMP_AT, -1n)
  view.setBigInt64(PRODUCER_ID_AT, NO_PRODUCER)
  view.setInt16(PRODUCER_EPOCH_AT, -1)
  view.setInt32(BASE_SEQUENCE_AT, -1)
  view.setUint32(CRC_AT, crc32c(bytes.subarray(ATTRIBUTES_AT)))
  return bytes
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
