import type { Duplex } from 'node:stream'
import { MysqlProtocolError } from './mysql-reader.ts'

/** The longest part of a packet; a part of this length continues in the next one. */
const PART_BYTES_MAX = 0xff_ff_ff
const HEADER_BYTES = 4

/**
 * The packets of MySQL's protocol on a connection. Data is read from the socket only when a packet is requested, so that a server
 * waits for a slow reader.
 */
export class PacketStream {
  #stream: Duplex
  readonly #packetBytesMax: number
  #chunks: Buffer[] = []
  #length = 0
  #sequence = 0
  #failure: Error | undefined
  #wake: (() => void) | undefined
  #isInterrupted = false

  constructor(stream: Duplex, packetBytesMax: number) {
    this.#stream = stream
    this.#packetBytesMax = packetBytesMax
    this.#listen()
  }

  get stream(): Duplex {
    return this.#stream
  }

  /**
   * Continues on another stream, which encrypts the first one. Throws if data came before: it is not encrypted, and anybody could have
   * written it.
   */
  replaceStream<Encrypted extends Duplex>(encrypt: (plain: Duplex) => Encrypted): Encrypted {
    if (this.#length > 0 || this.#stream.readableLength > 0) {
      throw new MysqlProtocolError('the server sent data before the connection was encrypted')
    }
    this.#stream.off('readable', this.#onReadable)
    const encrypted = encrypt(this.#stream)
    this.#stream = encrypted
    this.#listen()
    return encrypted
  }

  /** The number of the next packet of a command. */
  resetSequence(): void {
    this.#sequence = 0
  }

  write(payload: Uint8Array): void {
    const header = Buffer.alloc(HEADER_BYTES)
    header.writeUIntLE(payload.length, 0, 3)
    header[3] = this.#sequence
    this.#sequence = (this.#sequence + 1) & 0xff
    this.#stream.write(Buffer.concat([header, payload]))
  }

  /** The next packet. Rejects when the connection ends before. */
  async read(): Promise<Buffer> {
    for (;;) {
      const packet = this.tryRead()
      if (packet !== undefined) return packet
      await this.#more()
    }
  }

  /** The next packet; undefined if `interrupt` was called and none was received before. */
  async readUntilInterrupt(): Promise<Buffer | undefined> {
    for (;;) {
      const packet = this.tryRead()
      if (packet !== undefined || this.#isInterrupted) {
        this.#isInterrupted = false
        return packet
      }
      await this.#more()
    }
  }

  /** Ends the waiting of `readUntilInterrupt`, now or when it is called. */
  interrupt(): void {
    this.#isInterrupted = true
    this.#wake?.()
  }

  /** The next packet if it was received completely. */
  tryRead(): Buffer | undefined {
    for (;;) {
      const packet = this.#take()
      if (packet !== undefined) return packet
      const chunk = this.#stream.read() as Buffer | null
      if (chunk === null) return undefined
      this.#chunks.push(chunk)
      this.#length += chunk.length
    }
  }

  /** Takes a packet from what was read. */
  #take(): Buffer | undefined {
    const parts: Buffer[] = []
    let at = 0
    let bytes = 0
    let sequence = 0
    for (let length = PART_BYTES_MAX; length === PART_BYTES_MAX; ) {
      if (this.#length < at + HEADER_BYTES) return undefined
      const header = this.#peek(at, HEADER_BYTES)
      length = header.readUIntLE(0, 3)
      sequence = header[3]!
      bytes += length
      if (bytes > this.#packetBytesMax) {
        throw new MysqlProtocolError(`the server sent a packet of more than ${this.#packetBytesMax} bytes`)
      }
      if (this.#length < at + HEADER_BYTES + length) return undefined
      parts.push(this.#peek(at + HEADER_BYTES, length))
      at += HEADER_BYTES + length
    }
    this.#drop(at)
    this.#sequence = (sequence + 1) & 0xff
    return parts.length === 1 ? parts[0] : Buffer.concat(parts)
  }

  readonly #onReadable = (): void => {
    this.#wake?.()
  }

  #listen(): void {
    const fail = (error: Error) => {
      this.#failure ??= error
      this.#wake?.()
    }
    this.#stream.on('readable', this.#onReadable)
    this.#stream.on('error', fail)
    this.#stream.on('close', () => fail(new Error('the connection was closed')))
    this.#stream.on('end', () => fail(new Error('the connection was closed by the server')))
  }

  async #more(): Promise<void> {
    if (this.#stream.readableLength > 0) return
    if (this.#failure !== undefined) throw this.#failure
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#wake = undefined
  }

  #peek(start: number, length: number): Buffer {
    if (this.#chunks.length > 1 && (this.#chunks[0]?.length ?? 0) < start + length) {
      this.#chunks = [Buffer.concat(this.#chunks)]
    }
    return this.#chunks[0]!.subarray(start, start + length)
  }

  #drop(length: number): void {
    const [first] = this.#chunks
    if (first === undefined) return
    this.#length -= length
    if (first.length > length) this.#chunks[0] = first.subarray(length)
    else this.#chunks.shift()
  }
}
