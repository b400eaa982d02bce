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
  const sourcePartition = body.sourcePosition()
  const sourceOffset = body.sourcePosition()
  return { ...record, ...(partition !== undefined && { partition }), sourcePartition, sourceOffset }
}

/** Reads the source partitions of which a plugin requests the offsets. */
export function readPartitions(body: FrameReader): readonly Position[] {
  return Array.from({ length: body.varint() }, () => body.sourcePosition())
}

export function readConnectRecord(body: FrameReader): ConnectRecord {
  const topic = body.value() as string
  const partition = body.value() as number | null
  const timestampMs = body.value() as number | null
  const keySchema = body.schema()
  const key = body.value(keySchema)
  const valueSchema = body.schema()
  const value = body.value(valueSchema)
  const headers = readHeaders(body)
  return { topic, ...(partition !== null && { partition }), key, keySchema, value, valueSchema, headers, timestampMs }
}

export function readHeaders(body: FrameReader): readonly RecordHeader[] {
  let count = body.varint()
  if (count === 0) return NO_HEADERS
  const headers: RecordHeader[] = []
  for (; count > 0; count--) {
    const key = body.string()
    const schema = body.schema()
    headers.push({ key, schema, value: body.value(schema) })
  }
  return headers
}

export function writeConnectRecord(body: FrameWriter, record: ConnectRecord): void {
  body.value(null, record.topic)
  body.integer(record.partition)
  if (record.timestampMs === null) body.uint8(0)
  else body.value(null, Math.trunc(record.timestampMs))
  body.schema(record.keySchema)
  body.value(record.keySchema, record.key)
  body.schema(record.valueSchema)
  body.value(record.valueSchema, record.value)
  writeHeaders(body, record.headers)
}

export function writeHeaders(body: FrameWriter, headers: readonly RecordHeader[]): void {
  body.varint(headers.length)
  for (const { key, schema, value } of headers) {
    body.string(key)
    body.schema(schema)
    body.value(schema, value)
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
    body.uint8(1)
    writeSinkRecord(body, record)
    count += 1
  }
  body.uint8(0)
  return count
}

function writeSinkRecord(body: FrameWriter, record: SinkRecord): void {
  const { origin, offset, timestampMs } = record
  writeConnectRecord(body, record)
  body.uint8(timestampMs === null ? NO_TIMESTAMP : CREATE_TIME)
  body.int64(offset)
  body.string(origin.topic)
  body.varint(origin.partition)
  body.int64(origin.offset)
}
