import type { Compression, Header, StoredRecord } from '../broker.ts'
import { BrokerError } from '../broker-error.ts'
import { crc32c } from './checksums.ts'
import { compress, compressionNumber, decompress } from './compression.ts'
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
} from './record-batch-layout.ts'

/** Maximum overhead of a record besides key, value and headers: five varints of up to ten bytes, and the attributes. */
const RECORD_OVERHEAD_BYTES = 31
const NO_HEADERS: readonly Header[] = []

export type BatchRecord = {
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly headers?: readonly Header[]
  readonly timestampMs?: number
}

export type BatchOptions = {
  /** Timestamp of records without one. */
  readonly nowMs: number
  readonly compression?: Compression
  readonly producer?: { readonly producerId: bigint; readonly epoch: number; readonly baseSequence: number }
  readonly transactional?: boolean
}

/** Upper bound of the size of a record in a batch, in bytes before compression. */
export function recordBytesMax(record: BatchRecord): number {
  let bytes = RECORD_OVERHEAD_BYTES + (record.key?.length ?? 0) + (record.value?.length ?? 0)
  if (record.headers) for (const [name, value] of record.headers) bytes += 10 + 3 * name.length + (value?.length ?? 0)
  return bytes
}

/** Encodes one batch of at least one record. The broker sets the base offset. */
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

/** Writes records after the space for the header, into one buffer of sufficient size. */
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

  /** Zigzag varint. Small values are the common case; the general case is exact up to 2^53. */
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

/** One batch of a fetch response with its header decoded. */
export type Batch = {
  readonly baseOffset: number
  /** The offset after the batch, whatever records compaction left in it. */
  readonly nextOffset: number
  readonly producerId: bigint
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
  const count = bytes.readInt32BE(COUNT_AT)
  if (baseOffset < 0 || !Number.isSafeInteger(baseOffset)) throw corrupt(`its first offset is ${baseOffset}`)
  if (lastOffsetDelta < 0 || count < 0 || count > lastOffsetDelta + 1)
    throw corrupt(`its header has ${count} records for ${lastOffsetDelta + 1} offsets`)
  return {
    baseOffset,
    nextOffset: baseOffset + lastOffsetDelta + 1,
    producerId: bytes.readBigInt64BE(PRODUCER_ID_AT),
    isTransactional: (attributes & TRANSACTIONAL) !== 0,
    isControl: (attributes & CONTROL) !== 0,
    bytes,
  }
}

function corrupt(reason: string): BrokerError {
  return new BrokerError('corrupt_batch', reason)
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Throws `corrupt_batch` if the checksum does not match. It covers everything after the checksum field. */
export function checkBatch({ bytes }: Batch): void {
  if (bytes.readUInt32BE(CRC_AT) !== crc32c(bytes.subarray(ATTRIBUTES_AT))) throw corrupt('its checksum does not match')
}

/**
 * Decodes the records of a batch from offset `from` on. Keys and values are views of the (decompressed) bytes. Throws
 * `corrupt_batch` or `unsupported`. Every field is validated, because a producer can write any bytes with a matching
 * checksum.
 */
export async function recordsOf(batch: Batch, from = 0): Promise<StoredRecord[]> {
  const codec = batch.bytes.readInt16BE(ATTRIBUTES_AT) & COMPRESSION_MASK
  const payload = codec === 0 ? batch.bytes : await decompress(codec, batch.bytes.subarray(HEADER_BYTES))
  return decodeRecords(batch, payload, codec === 0 ? HEADER_BYTES : 0, from)
}

/** Length, attributes, two deltas, two sizes and the header count: at least one byte each. */
const RECORD_BYTES_MIN = 7

function decodeRecords(batch: Batch, payload: Buffer, start: number, from: number): StoredRecord[] {
  const { bytes, baseOffset } = batch
  const count = bytes.readInt32BE(COUNT_AT)
  if (count * RECORD_BYTES_MIN > payload.length - start)
    throw corrupt(`its header has ${count} records, but it contains ${payload.length - start} bytes`)
  const logAppendTime = (bytes.readInt16BE(ATTRIBUTES_AT) & LOG_APPEND_TIME) !== 0
  const times = {
    firstMs: Number(bytes.readBigInt64BE(FIRST_TIMESTAMP_AT)),
    appendedMs: logAppendTime ? Number(bytes.readBigInt64BE(MAX_TIMESTAMP_AT)) : undefined,
  }
  const records: StoredRecord[] = []
  const reader = new Reader(payload, start)
  for (let left = count, nextOffset = baseOffset; left > 0; left--) {
    const record = readRecord(reader, baseOffset, times)
    const { offset } = record
    if (offset < nextOffset || offset >= batch.nextOffset)
      throw corrupt(`it contains a record with offset ${offset}, expected ${nextOffset} to ${batch.nextOffset - 1}`)
    nextOffset = offset + 1
    if (offset >= from) records.push(record)
  }
  if (reader.at !== payload.length) throw corrupt(`bytes follow the last of its ${count} records`)
  return records
}

type BatchTimes = { readonly firstMs: number; readonly appendedMs: number | undefined }

function readRecord(reader: Reader, baseOffset: number, times: BatchTimes): StoredRecord {
  const length = reader.varint()
  const end = reader.at + length
  // The attributes of a record are unused.
  reader.at += 1
  const timestampMs = times.firstMs + reader.varlong()
  const offset = baseOffset + reader.varint()
  const key = reader.field()
  const value = reader.field()
  const headerCount = reader.varint()
  const headers = headerCount === 0 ? NO_HEADERS : reader.headers(headerCount)
  if (reader.at !== end)
    throw corrupt(`the record at offset ${offset} does not have the declared length of ${length} bytes`)
  return { offset, timestampMs: times.appendedMs ?? timestampMs, key, value, headers }
}

const INT32_MAX = 2 ** 31 - 1
const VARLONG_BYTES_MAX = 10

class Reader {
  readonly #bytes: Buffer
  at: number

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes
    this.at = at
  }

  /** A 32-bit zigzag varint. */
  varint(): number {
    const byte = this.#bytes[this.at]!
    if (byte < 128) {
      this.at += 1
      return (byte >>> 1) ^ -(byte & 1)
    }
    const value = this.varlong()
    if (value > INT32_MAX || value < -INT32_MAX - 1) throw corrupt(`a varint is out of range: ${value}`)
    return value
  }

  /** A 64-bit zigzag varint, exact up to 2^52: timestamps are arbitrary. */
  varlong(): number {
    const bytes = this.#bytes
    let value = 0
    let factor = 1
    for (let left = VARLONG_BYTES_MAX; left > 0; left--) {
      const byte = bytes[this.at++]
      if (byte === undefined) throw corrupt('it ends inside a record')
      value += (byte & 0x7f) * factor
      if (byte < 128) return value % 2 === 0 ? value / 2 : -(value + 1) / 2
      factor *= 128
    }
    throw corrupt(`a varint has more than ${VARLONG_BYTES_MAX} bytes`)
  }

  /** A length of -1 means null. */
  field(): Buffer | null {
    const length = this.varint()
    if (length === -1) return null
    if (length < 0) throw corrupt(`a field has the length ${length}`)
    const start = this.at
    this.at += length
    if (this.at > this.#bytes.length) throw corrupt('it ends inside a record')
    return this.#bytes.subarray(start, this.at)
  }

  headers(count: number): readonly Header[] {
    if (count < 0) throw corrupt(`a record has ${count} headers`)
    const headers: Header[] = []
    for (let left = count; left > 0; left--) {
      const name = this.field()
      if (name === null) throw corrupt('a header has no name')
      headers.push([name.toString('utf8'), this.field()])
    }
    return headers
  }
}
