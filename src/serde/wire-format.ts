import { BinaryReader } from '../common/binary-reader.ts'
import { BinaryWriter } from '../common/binary-writer.ts'
import { SerdeError } from './serde-error.ts'

// The data is preceded by a zero byte and the schema id (4 bytes, big-endian), or by a one and the schema's GUID (16
// bytes).
const HEAD_BYTES = 5
const GUID_HEAD_BYTES = 17
/** Names of the record headers that may contain the schema id instead, for keys and values. */
const HEADERS = { key: '__key_schema_id', value: '__value_schema_id' } as const

/** A numeric id within one registry, or a GUID (string) that identifies the schema in all registries. */
export type SchemaId = number | string
/** Headers of a record, in the form that Kafka clients provide. */
export type RecordHeaders = Readonly<Record<string, HeaderValue | readonly HeaderValue[]>>
type HeaderValue = Uint8Array | string | null | undefined

/** Maximum nesting of a message. A longer index path indicates that the bytes are other data. */
const DEPTH_MAX = 64

export function frame(id: number, ...parts: readonly Uint8Array[]): Buffer {
  const framed = Buffer.allocUnsafe(parts.reduce((bytes, { length }) => bytes + length, HEAD_BYTES))
  framed[0] = 0
  framed.writeInt32BE(id, 1)
  let at = HEAD_BYTES
  for (const part of parts) {
    framed.set(part, at)
    at += part.length
  }
  return framed
}

/** Splits the schema id from the data. Throws a `SerdeError` with the code `not_framed`. */
export function unframe(bytes: Uint8Array): { readonly id: SchemaId; readonly data: Buffer } {
  const buffer = bufferOf(bytes)
  const { id, start } = schemaIdOf(buffer)
  return { id, data: buffer.subarray(start) }
}

/** Returns the schema id and the index of the data after it. Throws a `SerdeError` with the code `not_framed`. */
export function schemaIdOf(buffer: Buffer): { readonly id: SchemaId; readonly start: number } {
  if (buffer[0] === 0 && buffer.length >= HEAD_BYTES) return { id: buffer.readInt32BE(1), start: HEAD_BYTES }
  if (buffer[0] === 1 && buffer.length >= GUID_HEAD_BYTES) {
    const guid = buffer.toString('hex', 1, GUID_HEAD_BYTES).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    return { id: guid, start: GUID_HEAD_BYTES }
  }
  throw new SerdeError(
    'not_framed',
    `Unknown magic byte! Expected 0 and a schema id, or 1 and a guid, got ${buffer.toString('hex', 0, HEAD_BYTES)}`,
  )
}

/**
 * Parses the schema id in a record's header. Returns undefined if there is no such header. Throws a `SerdeError` with
 * the code `not_framed`.
 */
export function unframeHeader(headers: RecordHeaders, isKey: boolean): ReturnType<typeof unframe> | undefined {
  const value = [headers[HEADERS[isKey ? 'key' : 'value']]].flat().at(-1)
  if (value === undefined || value === null) return undefined
  return unframe(typeof value === 'string' ? Buffer.from(value, 'latin1') : value)
}

/**
 * Splits the schema id from the data of a record, whose headers take precedence. Then the bytes have no prefix, and the header also
 * contains the message index. Throws a `SerdeError` with the code `not_framed`.
 */
export function unframeRecord(bytes: Uint8Array, headers: RecordHeaders, isKey: boolean): ReturnType<typeof unframe> {
  const head = unframeHeader(headers, isKey)
  return head ? { id: head.id, data: Buffer.concat([head.data, bytes]) } : unframe(bytes)
}

export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/**
 * Encodes the index path of a Protobuf message: the number of indexes and each index as zigzag varints. `[0]` is
 * encoded as one zero byte.
 */
export function frameIndexes(indexes: readonly number[]): Buffer {
  if (indexes.length === 1 && indexes[0] === 0) return Buffer.of(0)
  const writer = new BinaryWriter(8).zigzag(indexes.length)
  for (const index of indexes) writer.zigzag(index)
  return writer.bytes
}

/** Throws a `SerdeError` with the code `not_framed`. */
export function unframeIndexes(bytes: Buffer): { readonly indexes: readonly number[]; readonly data: Buffer } {
  const noIndexes = () =>
    new SerdeError('not_framed', `expected the indexes of a Protobuf message, got ${bytes.toString('hex', 0, 8)}`)
  const reader = new BinaryReader(bytes, noIndexes)
  const count = reader.zigzag32()
  if (count < 0 || count > DEPTH_MAX) throw noIndexes()
  const indexes = Array.from({ length: count }, () => reader.zigzag32())
  return { indexes: count === 0 ? [0] : indexes, data: reader.view(reader.remaining) }
}
