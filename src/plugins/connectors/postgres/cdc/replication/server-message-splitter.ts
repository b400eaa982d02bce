import { ReplicationProtocolError } from './protocol-error.ts'

/** One message of the server: its type, an ASCII code, and its content. */
export type ServerMessage = { readonly type: string; readonly body: Buffer }

/** Type and length. The length includes itself, but not the type. */
const HEADER_BYTES = 5

/**
 * Splits the bytes of a connection into messages. A message that arrives in several chunks is copied once, when it is
 * complete. Throws a `ReplicationProtocolError` for a message of more than `bytesMax` bytes, before it is read.
 */
export class ServerMessageSplitter {
  readonly #bytesMax: number
  #pending: Buffer[] = []
  #pendingBytes = 0
  /** Number of pending bytes at which the next message can be parsed. */
  #wantedBytes = HEADER_BYTES

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Returns the messages that are complete with this chunk. They share its memory. */
  push(chunk: Buffer): readonly ServerMessage[] {
    this.#pending.push(chunk)
    this.#pendingBytes += chunk.length
    if (this.#pendingBytes < this.#wantedBytes) return []
    const bytes = this.#pending.length === 1 ? chunk : Buffer.concat(this.#pending, this.#pendingBytes)
    const frames: ServerMessage[] = []
    let at = 0
    while (bytes.length - at >= HEADER_BYTES) {
      const end = at + this.#lengthAt(bytes, at)
      if (end > bytes.length) break
      frames.push({ type: String.fromCharCode(bytes[at]!), body: bytes.subarray(at + HEADER_BYTES, end) })
      at = end
    }
    const rest = bytes.subarray(at)
    this.#pending = rest.length === 0 ? [] : [rest]
    this.#pendingBytes = rest.length
    this.#wantedBytes = rest.length < HEADER_BYTES ? HEADER_BYTES : this.#lengthAt(rest, 0)
    return frames
  }

  /** The length of a message with its header. */
  #lengthAt(bytes: Buffer, at: number): number {
    const length = bytes.readUInt32BE(at + 1)
    const type = String.fromCharCode(bytes[at]!)
    if (length < HEADER_BYTES - 1) {
      throw new ReplicationProtocolError(
        `the server sent a message of type '${type}' with the invalid length ${length}`,
      )
    }
    if (length > this.#bytesMax) {
      throw new ReplicationProtocolError(
        `the server sent a message of type '${type}' with ${length} bytes; at most ${this.#bytesMax} bytes can be read. ` +
          'Exclude the table or column with such large values from the publication',
      )
    }
    return length + 1
  }
}
