import { crc32c } from '@node-rs/crc32'
import {
  ATTRIBUTES_AT,
  BASE_OFFSET_AT,
  BASE_SEQUENCE_AT,
  COMPRESSION_MASK,
  CONTROL,
  COUNT_AT,
  CRC_AT,
  FIRST_TIMESTAMP_AT,
  HEADER_BYTES,
  LAST_OFFSET_DELTA_AT,
  LEADER_EPOCH_AT,
  LENGTH_AT,
  LOG_APPEND_TIME,
  MAGIC_AT,
  MAX_TIMESTAMP_AT,
  PREFIX_BYTES,
  PRODUCER_EPOCH_AT,
  PRODUCER_ID_AT,
  TRANSACTIONAL,
} from './batch-layout.ts'
import type { Compression, Header, StoredRecord } from './broker.ts'
import { compress, compressionNumber, decompress } from './compression.ts'
import { BrokerError } from './error.ts'

/** Bound of a record's own bytes beside key, value and headers: five varints of at most ten bytes, and one byte. */
const RECORD_OVERHEAD_BYTES = 31
const NO_HEADERS: readonly Header[] = []

export type BatchRecord = {
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly headers?: readonly Header[]
  readonly timestampMs?: number
}

export type BatchOptions = {
  /** Stamp of records that have none. */
  readonly nowMs: number
  readonly compression?: Compression
  readonly producer?: { readonly producerId: bigint; readonly epoch: number; readonly baseSequence: number }
  readonly transactional?: boolean
}

/** Upper bound of what a record takes in a batch, in bytes before compression. */
export function recordBytesMax(record: BatchRecord): number {
  let bytes = RECORD_OVERHEAD_BYTES + (record.key?.length ?? 0) + (record.value?.length ?? 0)
  if (record.headers) for (const [name, value] of record.headers) bytes += 10 + 3 * name.length + (value?.length ?? 0)
  return bytes
}

/** One batch of at least one record. Base offset 0: the log sets it. */
export async function encodeBatch(records: readonly BatchRecord[], options: BatchOptions): Promise<Buffer> {
  const { nowMs, compression = 'none', producer, transactional = false } = options
  let bytesMax = HEADER_BYTES
  for (const record of records) bytesMax += recordBytesMax(record)
  const writer = new Writer(bytesMax)
  const firstTimestampMs = records[0]?.timestampMs ?? nowMs
  let maxTimestampMs = firstTimestampMs
  for (let index = 0; index < records.length; index++) {
    const record = records[index]!
    const timestampMs = record.timestampMs ?? nowMs
    if (timestampMs > maxTimestampMs) maxTimestampMs = timestampMs
    writer.record(record, timestampMs - firstTimestampMs, index)
  }
  const batch = compression === 'none' ? writer.bytes() : await compressed(writer.bytes(), compression)
  batch.writeInt32BE(batch.length - PREFIX_BYTES, LENGTH_AT)
  batch.writeInt32BE(-1, LEADER_EPOCH_AT)
  batch.writeInt8(2, MAGIC_AT)
  batch.writeInt16BE(compressionNumber(compression) | (transactional ? TRANSACTIONAL : 0), ATTRIBUTES_AT)
  batch.writeInt32BE(records.length - 1, LAST_OFFSET_DELTA_AT)
  batch.writeBigInt64BE(BigInt(firstTimestampMs), FIRST_TIMESTAMP_AT)
  batch.writeBigInt64BE(BigInt(maxTimestampMs), MAX_TIMESTAMP_AT)
  batch.writeBigInt64BE(producer?.producerId ?? -1n, PRODUCER_ID_AT)
  batch.writeInt16BE(producer?.epoch ?? -1, PRODUCER_EPOCH_AT)
  batch.writeInt32BE(producer?.baseSequence ?? -1, BASE_SEQUENCE_AT)
  batch.writeInt32BE(records.length, COUNT_AT)
  batch.writeUInt32BE(crc32c(batch.subarray(ATTRIBUTES_AT)), CRC_AT)
  return batch
}

async function compressed(plain: Buffer, compression: Compression): Promise<Buffer> {
  const payload = await compress(compression, plain.subarray(HEADER_BYTES))
  const batch = Buffer.allocUnsafe(HEADER_BYTES + payload.length)
  batch.fill(0, 0, HEADER_BYTES)
  payload.copy(batch, HEADER_BYTES)
  return batch
}

/** Writes records behind the place of the header, in one buffer that is large enough. */
class Writer {
  readonly #bytes: Buffer
  #at = HEADER_BYTES

  constructor(bytesMax: number) {
    this.#bytes = Buffer.allocUnsafe(bytesMax)
    this.#bytes.fill(0, 0, HEADER_BYTES)
  }

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#at)
  }

  record(record: BatchRecord, timestampDelta: number, offsetDelta: number): void {
    const { key, value, headers = NO_HEADERS } = record
    const length =
      1 +
      varintBytes(timestampDelta) +
      varintBytes(offsetDelta) +
      fieldBytes(key) +
      fieldBytes(value) +
      varintBytes(headers.length) +
      (headers.length === 0 ? 0 : headersBytes(headers))
    this.#varint(length)
    this.#bytes[this.#at++] = 0
    this.#varint(timestampDelta)
    this.#varint(offsetDelta)
    this.#field(key)
    this.#field(value)
    this.#varint(headers.length)
    for (const [name, content] of headers) {
      const size = Buffer.byteLength(name)
      this.#varint(size)
      this.#at += this.#bytes.write(name, this.#at)
      this.#field(content)
    }
  }

  #field(bytes: Uint8Array | null): void {
    this.#varint(bytes === null ? -1 : bytes.length)
    if (bytes === null) return
    this.#bytes.set(bytes, this.#at)
    this.#at += bytes.length
  }

  /** Zigzag. Small values are the rule; the long way is exact up to 2^53. */
  #varint(value: number): void {
    const bytes = this.#bytes
    if (value >= -64 && value < 64) {
      bytes[this.#at++] = value < 0 ? -2 * value - 1 : 2 * value
      return
    }
    let left = value < 0 ? -2 * value - 1 : 2 * value
    for (; left > 0x7fffffff; left = Math.floor(left / 128)) bytes[this.#at++] = (left % 128) | 0x80
    for (; left > 127; left >>>= 7) bytes[this.#at++] = (left & 0x7f) | 0x80
    bytes[this.#at++] = left
  }
}

function varintBytes(value: number): number {
  let left = value < 0 ? -2 * value - 1 : 2 * value
  let bytes = 1
  for (; left > 127; left = Math.floor(left / 128)) bytes += 1
  return bytes
}

function fieldBytes(bytes: Uint8Array | null): number {
  return bytes === null ? 1 : varintBytes(bytes.length) + bytes.length
}

function headersBytes(headers: readonly Header[]): number {
  let bytes = 0
  for (const [name, value] of headers) {
    const size = Buffer.byteLength(name)
    bytes += varintBytes(size) + size + fieldBytes(value)
  }
  return bytes
}

/** One batch inside fetched bytes, header read, records not yet. */
export type Batch = {
  readonly baseOffset: number
  /** Where reading goes on after it, whatever records are left in it. */
  readonly nextOffset: number
  readonly producerId: bigint
  readonly isTransactional: boolean
  readonly isControl: boolean
  readonly bytes: Buffer
}

/** The whole batches in `bytes`; an incomplete one at the end is left out. Throws `corrupt_batch`, `unsupported`. */
export function* batchesOf(bytes: Uint8Array): Generator<Batch, void> {
  const buffer = asBuffer(bytes)
  for (let at = 0; at + HEADER_BYTES <= buffer.length; ) {
    const end = at + PREFIX_BYTES + buffer.readInt32BE(at + LENGTH_AT)
    if (end > buffer.length) return
    if (end < at + HEADER_BYTES) throw new BrokerError('corrupt_batch', `a record batch says it has ${end - at} bytes`)
    const magic = buffer.readInt8(at + MAGIC_AT)
    if (magic !== 2)
      throw new BrokerError('unsupported', `record format v${magic} is older than Kafka 0.11 and not read`)
    const attributes = buffer.readInt16BE(at + ATTRIBUTES_AT)
    const baseOffset = Number(buffer.readBigInt64BE(at + BASE_OFFSET_AT))
    yield {
      baseOffset,
      nextOffset: baseOffset + buffer.readInt32BE(at + LAST_OFFSET_DELTA_AT) + 1,
      producerId: buffer.readBigInt64BE(at + PRODUCER_ID_AT),
      isTransactional: (attributes & TRANSACTIONAL) !== 0,
      isControl: (attributes & CONTROL) !== 0,
      bytes: buffer.subarray(at, end),
    }
    at = end
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Throws `corrupt_batch` when the checksum is not that of the bytes. */
export function checkBatch({ bytes }: Batch): void {
  if (bytes.readUInt32BE(CRC_AT) !== crc32c(bytes.subarray(ATTRIBUTES_AT))) {
    throw new BrokerError('corrupt_batch', 'the checksum of a record batch does not fit its bytes')
  }
}

/** The records of a batch from offset `from` on. Keys and values are views into its bytes (or the decompressed ones). */
export async function recordsOf(batch: Batch, from = 0): Promise<StoredRecord[]> {
  const codec = batch.bytes.readInt16BE(ATTRIBUTES_AT) & COMPRESSION_MASK
  const payload = codec === 0 ? batch.bytes : await decompress(codec, batch.bytes.subarray(HEADER_BYTES))
  return decodeRecords(batch, payload, codec === 0 ? HEADER_BYTES : 0, from)
}

function decodeRecords(batch: Batch, payload: Buffer, start: number, from: number): StoredRecord[] {
  const { bytes, baseOffset } = batch
  const count = bytes.readInt32BE(COUNT_AT)
  const firstTimestampMs = Number(bytes.readBigInt64BE(FIRST_TIMESTAMP_AT))
  const logAppendTime = (bytes.readInt16BE(ATTRIBUTES_AT) & LOG_APPEND_TIME) !== 0
  const appendedMs = logAppendTime ? Number(bytes.readBigInt64BE(MAX_TIMESTAMP_AT)) : undefined
  const records: StoredRecord[] = []
  const reader = new Reader(payload, start)
  for (let left = count; left > 0; left--) {
    const length = reader.varint()
    const end = reader.at + length
    if (length < 0 || end > payload.length)
      throw new BrokerError('corrupt_batch', `a record at offset ${baseOffset} ends outside its batch`)
    reader.at += 1
    const timestampMs = firstTimestampMs + reader.varint()
    const offset = baseOffset + reader.varint()
    const key = reader.field()
    const value = reader.field()
    const headerCount = reader.varint()
    const headers = headerCount === 0 ? NO_HEADERS : reader.headers(headerCount)
    if (offset >= from) records.push({ offset, timestampMs: appendedMs ?? timestampMs, key, value, headers })
    reader.at = end
  }
  return records
}

class Reader {
  readonly #bytes: Buffer
  at: number

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes
    this.at = at
  }

  varint(): number {
    const bytes = this.#bytes
    let byte = bytes[this.at++]!
    if (byte < 128) return (byte >>> 1) ^ -(byte & 1)
    let value = byte & 0x7f
    for (let factor = 128; byte > 127; factor *= 128) {
      byte = bytes[this.at++] ?? 0
      value += (byte & 0x7f) * factor
    }
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  field(): Buffer | null {
    const length = this.varint()
    if (length < 0) return null
    const start = this.at
    this.at += length
    return this.#bytes.subarray(start, this.at)
  }

  headers(count: number): readonly Header[] {
    const headers: Header[] = []
    for (let left = count; left > 0; left--) {
      const name = this.field()?.toString('utf8') ?? ''
      headers.push([name, this.field()])
    }
    return headers
  }
}
