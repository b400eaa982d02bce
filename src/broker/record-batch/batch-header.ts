import { crc32c } from '@node-rs/crc32'
import { BrokerError } from '../broker-error.ts'

/**
 * Layout of Kafka's record batch, format v2 (KIP-98). The checksum does not cover base offset and leader epoch, so a
 * broker can set them.
 */
export const BASE_OFFSET_AT = 0
export const LENGTH_AT = 8
export const LEADER_EPOCH_AT = 12
export const MAGIC_AT = 16
export const CRC_AT = 17
export const ATTRIBUTES_AT = 21
export const LAST_OFFSET_DELTA_AT = 23
export const FIRST_TIMESTAMP_AT = 27
export const MAX_TIMESTAMP_AT = 35
export const PRODUCER_ID_AT = 43
export const PRODUCER_EPOCH_AT = 51
export const BASE_SEQUENCE_AT = 53
export const COUNT_AT = 57
export const HEADER_BYTES = 61

/** Bytes that the length field does not count. */
export const PREFIX_BYTES = 12
export const COMPRESSION_MASK = 0x07
export const LOG_APPEND_TIME = 0x08
export const TRANSACTIONAL = 0x10
export const CONTROL = 0x20

export const NO_PRODUCER = -1n

/** A record batch with its header decoded. */
export type Batch = {
  readonly baseOffset: number
  /** The offset after the batch, whatever records compaction left in it. */
  readonly nextOffset: number
  readonly recordCount: number
  readonly maxTimestampMs: number
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly baseSequence: number
  readonly isTransactional: boolean
  readonly isControl: boolean
  readonly bytes: Buffer
}

/**
 * Yields the complete batches in `bytes`. An incomplete batch at the end is normal (brokers cut a response at the
 * requested size) and is omitted. Throws `corrupt_batch` or `unsupported` after the last valid batch.
 */
export function* batchesOf(bytes: Uint8Array): Generator<Batch, void> {
  const buffer = asBuffer(bytes)
  for (let at = 0; at + HEADER_BYTES <= buffer.length; ) {
    const end = at + PREFIX_BYTES + buffer.readInt32BE(at + LENGTH_AT)
    if (end < at + HEADER_BYTES) throw corrupt(`its header has a length of ${end - at} bytes`)
    // Checked before completeness: a corrupt header may declare any length.
    checkFormat(buffer.readInt8(at + MAGIC_AT))
    if (end > buffer.length) return
    yield readHeader(buffer.subarray(at, end))
    at = end
  }
}

/** Throws `corrupt_batch` or `unsupported` unless `bytes` is exactly one complete batch. */
export function singleBatch(bytes: Uint8Array): Batch {
  const [batch] = batchesOf(bytes)
  if (batch?.bytes.length === bytes.length) return batch
  throw corrupt(`its header does not have its length of ${bytes.length} bytes`)
}

function checkFormat(magic: number): void {
  if (magic === 2) return
  if (magic === 0 || magic === 1)
    throw new BrokerError('unsupported', `its record format v${magic} is older than Kafka 0.11 and not supported`)
  throw corrupt(`its header has the unknown record format v${magic}`)
}

function readHeader(bytes: Buffer): Batch {
  const attributes = bytes.readInt16BE(ATTRIBUTES_AT)
  const baseOffset = Number(bytes.readBigInt64BE(BASE_OFFSET_AT))
  const lastOffsetDelta = bytes.readInt32BE(LAST_OFFSET_DELTA_AT)
  const recordCount = bytes.readInt32BE(COUNT_AT)
  if (baseOffset < 0 || !Number.isSafeInteger(baseOffset)) throw corrupt(`its first offset is ${baseOffset}`)
  if (lastOffsetDelta < 0 || recordCount < 0 || recordCount > lastOffsetDelta + 1)
    throw corrupt(`its header has ${recordCount} records for ${lastOffsetDelta + 1} offsets`)
  return {
    baseOffset,
    nextOffset: baseOffset + lastOffsetDelta + 1,
    recordCount,
    maxTimestampMs: Number(bytes.readBigInt64BE(MAX_TIMESTAMP_AT)),
    producerId: bytes.readBigInt64BE(PRODUCER_ID_AT),
    producerEpoch: bytes.readInt16BE(PRODUCER_EPOCH_AT),
    baseSequence: bytes.readInt32BE(BASE_SEQUENCE_AT),
    isTransactional: (attributes & TRANSACTIONAL) !== 0,
    isControl: (attributes & CONTROL) !== 0,
    bytes,
  }
}

/** Throws `corrupt_batch` if the checksum does not match. It covers everything after the checksum field. */
export function checkBatch({ bytes }: Pick<Batch, 'bytes'>): void {
  if (bytes.readUInt32BE(CRC_AT) !== crc32c(bytes.subarray(ATTRIBUTES_AT))) throw corrupt('its checksum does not match')
}

/** Completes the header of a batch whose attributes, offsets and times are written: its length, format and checksum. */
export function sealBatch(batch: Buffer, recordCount: number): void {
  batch.writeInt32BE(batch.length - PREFIX_BYTES, LENGTH_AT)
  batch.writeInt8(2, MAGIC_AT)
  batch.writeInt32BE(recordCount, COUNT_AT)
  batch.writeUInt32BE(crc32c(batch.subarray(ATTRIBUTES_AT)), CRC_AT)
}

/** Changes `bytes` in place. The checksum does not cover the base offset, so it stays valid. */
export function writeBaseOffset(bytes: Uint8Array, offset: number): void {
  asBuffer(bytes).writeBigInt64BE(BigInt(offset), BASE_OFFSET_AT)
}

/**
 * A batch without records that covers the removed offsets from `from` (inclusive) to `to` (exclusive). Kafka keeps such
 * batches after compaction, so every consumer skips them.
 */
export function gapBatch(from: number, to: number): Buffer {
  const batch = Buffer.alloc(HEADER_BYTES)
  batch.writeBigInt64BE(BigInt(from), BASE_OFFSET_AT)
  batch.writeInt32BE(-1, LEADER_EPOCH_AT)
  batch.writeInt32BE(Math.min(to - from, 2 ** 31) - 1, LAST_OFFSET_DELTA_AT)
  batch.writeBigInt64BE(-1n, FIRST_TIMESTAMP_AT)
  batch.writeBigInt64BE(-1n, MAX_TIMESTAMP_AT)
  batch.writeBigInt64BE(NO_PRODUCER, PRODUCER_ID_AT)
  batch.writeInt16BE(-1, PRODUCER_EPOCH_AT)
  batch.writeInt32BE(-1, BASE_SEQUENCE_AT)
  sealBatch(batch, 0)
  return batch
}

export function corrupt(reason: string): BrokerError {
  return new BrokerError('corrupt_batch', reason)
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
