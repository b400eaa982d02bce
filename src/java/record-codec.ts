import { defineMember } from '../formats/define-member.ts'
import type { ConnectRecord, Position, RecordHeader, SinkRecord, SourceRecord } from '../sdk/index.ts'
import type { FrameReader } from './frame-reader.ts'
import type { FrameWriter } from './frame-writer.ts'

// Records as they cross the boundary, in the layout of `RecordCodec.java`.

/** Ordinal of `TimestampType.CREATE_TIME` and of `NO_TIMESTAMP_TYPE`, as Java's frames have them. */
const CREATE_TIME = 1
const NO_TIMESTAMP = 0

const NO_HEADERS: readonly RecordHeader[] = []

export function readSourceRecord(body: FrameReader): SourceRecord {
  const { partition, ...record } = readConnectRecord(body)
  const sourcePartition = toPosition(body.readValue())
  const sourceOffset = toPosition(body.readValue())
  return { ...record, ...(partition !== undefined && { partition }), sourcePartition, sourceOffset }
}

/** Reads the source partitions of which a plugin requests the offsets. */
export function readPartitions(body: FrameReader): readonly Position[] {
  return (body.readValue() as readonly unknown[]).map(toPosition)
}

/** A source partition or offset. Bytes become base64, as Kafka Connect stores them. */
function toPosition(value: unknown): Position {
  const members = (value ?? {}) as Record<string, unknown>
  for (const [name, value] of Object.entries(members)) {
    if (Buffer.isBuffer(value)) defineMember(members, name, value.toString('base64'))
  }
  return members as Position
}

export function readConnectRecord(body: FrameReader): ConnectRecord {
  const topic = body.readValue() as string
  const partition = body.readValue() as number | null
  const timestampMs = body.readValue() as number | null
  const keySchema = body.readSchema()
  const key = body.readValue(keySchema)
  const valueSchema = body.readSchema()
  const value = body.readValue(valueSchema)
  const headers = readHeaders(body)
  return { topic, ...(partition !== null && { partition }), key, keySchema, value, valueSchema, headers, timestampMs }
}

export function readHeaders(body: FrameReader): readonly RecordHeader[] {
  let count = body.readCount()
  if (count === 0) return NO_HEADERS
  const headers: RecordHeader[] = []
  for (; count > 0; count--) {
    const key = body.readString()
    const schema = body.readSchema()
    headers.push({ key, schema, value: body.readValue(schema) })
  }
  return headers
}

export function writeConnectRecord(body: FrameWriter, record: ConnectRecord): void {
  body.writeValue(null, record.topic)
  body.writeInt32(record.partition)
  if (record.timestampMs === null) body.writeByte(0)
  else body.writeValue(null, Math.trunc(record.timestampMs))
  body.writeSchema(record.keySchema)
  body.writeValue(record.keySchema, record.key)
  body.writeSchema(record.valueSchema)
  body.writeValue(record.valueSchema, record.value)
  writeHeaders(body, record.headers)
}

export function writeHeaders(body: FrameWriter, headers: readonly RecordHeader[]): void {
  body.writeVarint(headers.length)
  for (const { key, schema, value } of headers) {
    body.writeString(key)
    body.writeSchema(schema)
    body.writeValue(schema, value)
  }
}

/** Limits of a frame of sink records: records, and about the bytes. One record may exceed the latter. */
const FRAME_RECORDS_MAX = 500
const FRAME_BYTES_MAX = 4 * 1024 * 1024

/** Writes as many of the records as one frame may have, and returns their count. */
export function writeSinkRecords(body: FrameWriter, records: readonly SinkRecord[]): number {
  let count = 0
  for (const record of records) {
    if (count >= FRAME_RECORDS_MAX || body.length > FRAME_BYTES_MAX) break
    body.writeByte(1)
    writeSinkRecord(body, record)
    count += 1
  }
  body.writeByte(0)
  return count
}

function writeSinkRecord(body: FrameWriter, record: SinkRecord): void {
  const { origin, offset, timestampMs } = record
  writeConnectRecord(body, record)
  body.writeByte(timestampMs === null ? NO_TIMESTAMP : CREATE_TIME)
  body.writeInt64(offset)
  body.writeString(origin.topic)
  body.writeVarint(origin.partition)
  body.writeInt64(origin.offset)
}
