import { BrokerError } from '../error.ts'

/** Fields of a record batch (Kafka's format v2) that stand at fixed places. */
export type BatchHeader = {
  readonly lastOffsetDelta: number
  readonly maxTimestampMs: number
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly baseSequence: number
  readonly recordCount: number
  readonly transactional: boolean
}

export const HEADER_BYTES = 61
export const NO_PRODUCER = -1n

const LENGTH_AT = 8
const MAGIC_AT = 16
const TRANSACTIONAL = 0x10

/** Throws `corrupt_batch` unless `bytes` are one whole batch of format v2. */
export function parseHeader(bytes: Uint8Array): BatchHeader {
  const view = viewOf(bytes)
  if (bytes.length < HEADER_BYTES || view.getInt8(MAGIC_AT) !== 2) {
    throw new BrokerError('corrupt_batch', 'not a record batch of format v2')
  }
  if (view.getInt32(LENGTH_AT) + LENGTH_AT + 4 !== bytes.length) {
    throw new BrokerError('corrupt_batch', `record batch of ${bytes.length} bytes says another length`)
  }
  return {
    lastOffsetDelta: view.getInt32(23),
    maxTimestampMs: Number(view.getBigInt64(35)),
    producerId: view.getBigInt64(43),
    producerEpoch: view.getInt16(51),
    baseSequence: view.getInt32(53),
    recordCount: view.getInt32(57),
    transactional: (view.getInt16(21) & TRANSACTIONAL) !== 0,
  }
}

/** In place: the checksum does not cover it. */
export function writeBaseOffset(bytes: Uint8Array, offset: number): void {
  viewOf(bytes).setBigInt64(0, BigInt(offset))
}

/**
 * A batch without records over the offsets from `from` up to `to`, which are gone. Kafka leaves such batches behind
 * when it compacts, so every reader moves over them.
 */
export function gapBatch(from: number, to: number): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES)
  const view = viewOf(bytes)
  view.setBigInt64(0, BigInt(from))
  view.setInt32(LENGTH_AT, HEADER_BYTES - LENGTH_AT - 4)
  view.setInt32(12, -1)
  view.setInt8(MAGIC_AT, 2)
  view.setInt32(23, Math.min(to - from, 2 ** 31) - 1)
  view.setBigInt64(27, -1n)
  view.setBigInt64(35, -1n)
  view.setBigInt64(43, NO_PRODUCER)
  view.setInt16(51, -1)
  view.setInt32(53, -1)
  view.setUint32(17, crc32c(bytes.subarray(21)))
  return bytes
}

export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0)
  }
  return ~crc >>> 0
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
