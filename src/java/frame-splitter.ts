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
  readonly #bytesMax: number
  #chunks: Buffer[] = []
  #bytes = 0
  /** Bytes that the first frame needs with its length; 0 if its length has not arrived. */
  #needed = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Returns the frames that are complete now. Throws a `ProtocolError` for an impossible length. */
  *push(chunk: Buffer): Generator<HostFrame> {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    while (this.#bytes >= Math.max(LENGTH_BYTES, this.#needed)) {
      const bytes = this.#joined()
      const length = bytes.readInt32BE(0)
      if (length < PREFIX_BYTES || length > this.#bytesMax) {
        throw new ProtocolError(
          `a frame claims to have ${length} bytes; ${PREFIX_BYTES} to ${this.#bytesMax} are possible`,
        )
      }
      this.#needed = LENGTH_BYTES + length
      if (this.#bytes < this.#needed) return
      const frame = bytes.subarray(0, this.#needed)
      this.#keep(bytes.subarray(this.#needed))
      yield {
        type: frame.readUInt8(LENGTH_BYTES),
        id: frame.readInt32BE(LENGTH_BYTES + 1),
        body: frame.subarray(FRAME_HEADER_BYTES),
      }
    }
  }

  /** Joins the chunks. Not called before a frame is complete, so that a large frame is copied once. */
  #joined(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks, this.#bytes)]
    return this.#chunks[0] as Buffer
  }

  #keep(rest: Buffer): void {
    this.#chunks = rest.length === 0 ? [] : [rest]
    this.#bytes = rest.length
    this.#needed = 0
  }
}
