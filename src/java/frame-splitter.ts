import { MessageSplitter } from '../common/message-splitter.ts'
import { ProtocolError } from './host-protocol.ts'

/** Type of a frame. */
export const FRAME = {
  hello: 0,
  request: 1,
  response: 2,
  failure: 3,
  event: 4,
  schema: 5,
  forgetSchemas: 6,
} as const

export type HostFrame = { readonly type: number; readonly id: number; readonly body: Buffer }

/** Bytes of the length, which does not include itself. */
const LENGTH_BYTES = 4
/** Bytes of type and id. */
const PREFIX_BYTES = 5
export const FRAME_HEADER_BYTES = LENGTH_BYTES + PREFIX_BYTES

export function frameHeader(type: number, id: number, bodyBytes: number): Buffer {
  const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES)
  header.writeInt32BE(PREFIX_BYTES + bodyBytes, 0)
  header.writeUInt8(type, LENGTH_BYTES)
  header.writeInt32BE(id, LENGTH_BYTES + 1)
  return header
}

/** Splits a stream of bytes into frames: length (4 bytes), type (1), id (4) and a body. */
export class FrameSplitter {
  readonly #splitter: MessageSplitter

  constructor(bytesMax: number) {
    const invalid = (length: number) =>
      new ProtocolError(`a frame claims to have ${length} bytes; ${PREFIX_BYTES} to ${bytesMax} are possible`)
    this.#splitter = new MessageSplitter({ min: PREFIX_BYTES, max: bytesMax }, invalid)
  }

  /** Returns the frames that are complete now. Throws a `ProtocolError` for an impossible length. */
  *push(chunk: Buffer): Generator<HostFrame> {
    for (const frame of this.#splitter.push(chunk))
      yield { type: frame.readUInt8(0), id: frame.readInt32BE(1), body: frame.subarray(PREFIX_BYTES) }
  }
}
