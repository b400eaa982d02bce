import { ReplicationProtocolError } from './protocol-error.ts'

/** Reads one message from its beginning to its end. Methods throw a `ReplicationProtocolError` when bytes are missing. */
export class MessageReader {
  /** Names the message in errors. */
  readonly what: string
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer, what: string) {
    this.#bytes = bytes
    this.what = what
  }

  uint8(): number {
    return this.#bytes[this.#skip(1)]!
  }

  /** One ASCII character. */
  character(): string {
    return String.fromCharCode(this.uint8())
  }

  uint16(): number {
    return this.#bytes.readUInt16BE(this.#skip(2))
  }

  int32(): number {
    return this.#bytes.readInt32BE(this.#skip(4))
  }

  uint32(): number {
    return this.#bytes.readUInt32BE(this.#skip(4))
  }

  int64(): bigint {
    return this.#bytes.readBigInt64BE(this.#skip(8))
  }

  uint64(): bigint {
    return this.#bytes.readBigUInt64BE(this.#skip(8))
  }

  /** A text that ends with a zero byte. */
  text(): string {
    const end = this.#bytes.indexOf(0, this.#at)
    if (end < 0) throw this.#truncated('the end of a text')
    const text = this.#bytes.toString('utf8', this.#at, end)
    this.#at = end + 1
    return text
  }

  /** A text of a known length, in bytes. */
  textOf(length: number): string {
    const start = this.#skip(length)
    return this.#bytes.toString('utf8', start, start + length)
  }

  /** A copy of the next bytes, which does not keep the memory of the message. */
  bytes(length: number): Buffer {
    const start = this.#skip(length)
    return Buffer.from(this.#bytes.subarray(start, start + length))
  }

  /** Reads `count` items of at least `itemBytesMin` bytes each. Checks first that the message can contain them. */
  list<Item>(count: number, itemBytesMin: number, read: () => Item): readonly Item[] {
    if (count * itemBytesMin > this.#bytes.length - this.#at) throw this.#truncated(`${count} items`)
    const items: Item[] = new Array(count)
    for (let index = 0; index < count; index++) items[index] = read()
    return items
  }

  expectEnd(): void {
    const rest = this.#bytes.length - this.#at
    if (rest > 0) throw new ReplicationProtocolError(`the ${this.what} has ${rest} bytes after its end`)
  }

  #skip(length: number): number {
    const start = this.#at
    if (start + length > this.#bytes.length) throw this.#truncated(`${length} bytes`)
    this.#at = start + length
    return start
  }

  #truncated(expected: string): ReplicationProtocolError {
    return new ReplicationProtocolError(
      `the ${this.what} is truncated: expected ${expected} at byte ${this.#at} of ${this.#bytes.length}`,
    )
  }
}
