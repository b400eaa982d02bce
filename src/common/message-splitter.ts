const LENGTH_BYTES = 4

export type MessageLengths = { readonly min: number; readonly max: number }

/** Splits a stream of bytes into messages. Each follows its length: 4 bytes, which do not include themselves. */
export class MessageSplitter {
  readonly #lengths: MessageLengths
  readonly #invalid: (length: number) => Error
  #chunks: Buffer[] = []
  #bytes = 0
  /** Bytes that the first message needs with its length; those of the length while it has not arrived. */
  #needed = LENGTH_BYTES

  /** `invalid` makes the error of a length that is not possible. */
  constructor(lengths: MessageLengths, invalid: (length: number) => Error) {
    this.#lengths = lengths
    this.#invalid = invalid
  }

  /** Returns the messages that are complete now. Throws the error of a length that is not possible. */
  *push(chunk: Buffer): Generator<Buffer> {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    while (this.#bytes >= this.#needed) {
      const bytes = this.#joined()
      const length = bytes.readInt32BE(0)
      if (length < this.#lengths.min || length > this.#lengths.max) throw this.#invalid(length)
      this.#needed = LENGTH_BYTES + length
      if (this.#bytes < this.#needed) return
      const message = bytes.subarray(LENGTH_BYTES, this.#needed)
      this.#keep(bytes.subarray(this.#needed))
      yield message
    }
  }

  /** Forgets the beginning of a message that is not complete. */
  clear(): void {
    this.#keep(Buffer.alloc(0))
  }

  /** Joins the chunks. Not called before a message is complete, so that a large message is copied once. */
  #joined(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks, this.#bytes)]
    return this.#chunks[0] as Buffer
  }

  #keep(rest: Buffer): void {
    this.#chunks = rest.length === 0 ? [] : [rest]
    this.#bytes = rest.length
    this.#needed = LENGTH_BYTES
  }
}

/** A message after its length, as `MessageSplitter` reads it. */
export function withLength(message: Uint8Array): Buffer {
  const length = Buffer.allocUnsafe(LENGTH_BYTES)
  length.writeInt32BE(message.length)
  return Buffer.concat([length, message])
}
