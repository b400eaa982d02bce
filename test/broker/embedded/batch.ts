import { crc32c } from '@node-rs/crc32'

/** Encodes a small uncompressed record batch, as a client would send it. */
export type BatchOptions = {
  readonly producerId?: bigint
  readonly epoch?: number
  readonly sequence?: number
  readonly transactional?: boolean
  readonly timestampMs?: number
}
export type PlainRecord = { readonly key?: string | null; readonly value: string | null; readonly timestampMs?: number }

export function batchOf(records: readonly (string | PlainRecord)[], options: BatchOptions = {}): Buffer {
  const { producerId = -1n, epoch = -1, sequence = -1, transactional = false, timestampMs = 1_000 } = options
  const plain = records.map((record) => (typeof record === 'string' ? { value: record } : record))
  const times = plain.map((record) => record.timestampMs ?? timestampMs)
  const payload = Buffer.concat(plain.map((record, index) => recordOf(record, index, times[index]! - times[0]!)))
  const header = Buffer.alloc(61)
  header.writeInt32BE(49 + payload.length, 8)
  header.writeInt32BE(-1, 12)
  header.writeInt8(2, 16)
  header.writeInt16BE(transactional ? 0x10 : 0, 21)
  header.writeInt32BE(records.length - 1, 23)
  header.writeBigInt64BE(BigInt(times[0] ?? -1), 27)
  header.writeBigInt64BE(BigInt(Math.max(...times)), 35)
  header.writeBigInt64BE(producerId, 43)
  header.writeInt16BE(epoch, 51)
  header.writeInt32BE(sequence, 53)
  header.writeInt32BE(records.length, 57)
  header.writeUInt32BE(crc32c(Buffer.concat([header.subarray(21), payload])), 17)
  return Buffer.concat([header, payload])
}

/** Offsets and values of all records in fetched bytes. */
export function recordsOf(bytes: Uint8Array): { offset: number; key: string | null; value: string | null }[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const records: { offset: number; key: string | null; value: string | null }[] = []
  for (let at = 0; at < buffer.length; at += buffer.readInt32BE(at + 8) + 12) {
    const reader = { buffer, at: at + 61 }
    const base = Number(buffer.readBigInt64BE(at))
    for (let left = buffer.readInt32BE(at + 57); left > 0; left--) {
      const end = readVarint(reader) + reader.at
      reader.at += 1
      readVarint(reader)
      records.push({ offset: base + readVarint(reader), key: readText(reader), value: readText(reader) })
      reader.at = end
    }
  }
  return records
}

/** The offset at which to continue reading after these bytes. */
export function nextOffsetOf(bytes: Uint8Array): number | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  let next: number | undefined
  for (let at = 0; at < buffer.length; at += buffer.readInt32BE(at + 8) + 12) {
    next = Number(buffer.readBigInt64BE(at)) + buffer.readInt32BE(at + 23) + 1
  }
  return next
}

function recordOf(record: PlainRecord, index: number, timestampDelta: number): Buffer {
  const body = Buffer.concat([
    Buffer.from([0]),
    varint(timestampDelta),
    varint(index),
    field(record.key ?? null),
    field(record.value),
    varint(0),
  ])
  return Buffer.concat([varint(body.length), body])
}

function field(text: string | null): Buffer {
  if (text === null) return varint(-1)
  const bytes = Buffer.from(text)
  return Buffer.concat([varint(bytes.length), bytes])
}

function varint(value: number): Buffer {
  let left = value < 0 ? -2 * value - 1 : 2 * value
  const bytes: number[] = []
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left % 128) + 128)
  return Buffer.from([...bytes, left])
}

function readVarint(reader: { buffer: Buffer; at: number }): number {
  let value = 0
  for (let factor = 1; ; factor *= 128) {
    const byte = reader.buffer[reader.at++]!
    value += (byte % 128) * factor
    if (byte < 128) break
  }
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2
}

function readText(reader: { buffer: Buffer; at: number }): string | null {
  const length = readVarint(reader)
  if (length < 0) return null
  reader.at += length
  return reader.buffer.toString('utf8', reader.at - length, reader.at)
}
