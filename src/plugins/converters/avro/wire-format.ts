import { DataError } from '../../../sdk/index.ts'
import { toBuffer } from '../../bytes.ts'

// Before the data stands a zero byte and the schema's id, four bytes, big-endian.
const HEAD_BYTES = 5

export function frame(id: number, data: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(HEAD_BYTES + data.length)
  framed[0] = 0
  framed.writeInt32BE(id, 1)
  framed.set(data, HEAD_BYTES)
  return framed
}

/** Throws a `DataError` when the bytes do not begin as they should. */
export function unframe(bytes: Uint8Array): { readonly id: number; readonly data: Buffer } {
  const buffer = toBuffer(bytes)
  if (buffer.length < HEAD_BYTES || buffer[0] !== 0) {
    throw new DataError(`Unknown magic byte! Expected 0 and a schema id, got ${buffer.subarray(0, 5).toString('hex')}`)
  }
  return { id: buffer.readInt32BE(1), data: buffer.subarray(HEAD_BYTES) }
}
