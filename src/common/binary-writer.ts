/** The longest varint of 64 bits. */
const VARINT_BYTES_MAX = 10
/** Numbers whose zigzag encoding, twice their value, is an exact double. */
const TWO_TO_52 = 2 ** 52
const TWO_TO_32 = 2 ** 32

/**
 * Writes binary data into a buffer that grows: numbers in big-endian order unless the method says otherwise, and varints
 * (LEB128). Results are cut from chunks that they share, so that a result costs neither a buffer of its own nor a copy.
 */
export class BinaryWriter {
  readonly #chunkBytes: number
  #bytes: Buffer
  #start = 0
  #at = 0

  constructor(chunkBytes = 1_024) {
    this.#chunkBytes = chunkBytes
    this.#bytes = Buffer.allocUnsafe(chunkBytes)
  }

  /** The number of bytes written since the last `take`. */
  get length(): number {
    return this.#at - this.#start
  }

  /** What was written since the last `take`: a view, valid until the next write. */
  get bytes(): Buffer {
    return this.#bytes.subarray(this.#start, this.#at)
  }

  /** Returns what was written since the last call. */
  take(): Buffer {
    const taken = this.bytes
    this.#start = this.#at
    return taken
  }

  /** Removes what was written since `length` had this value. */
  truncate(length: number): void {
    this.#at = this.#start + length
  }

  int8(value: number): this {
    this.#reserve(1)
    this.#at = this.#bytes.writeInt8(value, this.#at)
    return this
  }

  /** The low eight bits of an integer. */
  uint8(value: number): this {
    this.#reserve(1)
    this.#bytes[this.#at++] = value
    return this
  }

  int16(value: number): this {
    this.#reserve(2)
    this.#at = this.#bytes.writeInt16BE(value, this.#at)
    return this
  }

  int32(value: number): this {
    this.#reserve(4)
    this.#at = this.#bytes.writeInt32BE(value, this.#at)
    return this
  }

  int64(value: number | bigint): this {
    this.#reserve(8)
    if (typeof value === 'bigint' || !Number.isSafeInteger(value)) {
      this.#at = this.#bytes.writeBigInt64BE(BigInt(value), this.#at)
      return this
    }
    const high = Math.floor(value / TWO_TO_32)
    this.#at = this.#bytes.writeInt32BE(high, this.#at)
    this.#at = this.#bytes.writeUInt32BE(value - high * TWO_TO_32, this.#at)
    return this
  }

  float32(value: number): this {
    this.#reserve(4)
    this.#at = this.#bytes.writeFloatBE(value, this.#at)
    return this
  }

  float64(value: number): this {
    this.#reserve(8)
    this.#at = this.#bytes.writeDoubleBE(value, this.#at)
    return this
  }

  float32LE(value: number): this {
    this.#reserve(4)
    this.#at = this.#bytes.writeFloatLE(value, this.#at)
    return this
  }

  float64LE(value: number): this {
    this.#reserve(8)
    this.#at = this.#bytes.writeDoubleLE(value, this.#at)
    return this
  }

  /** An unsigned varint of a number up to 2^53. */
  varint(value: number): this {
    this.#reserve(VARINT_BYTES_MAX)
    let left = value
    for (; left > 0x7fffffff; left = Math.floor(left / 128)) this.#bytes[this.#at++] = (left % 128) | 128
    for (; left > 127; left >>>= 7) this.#bytes[this.#at++] = (left & 127) | 128
    this.#bytes[this.#at++] = left
    return this
  }

  /** A zigzag varint of at most 64 bits. A number must be an integer. */
  zigzag(value: number | bigint): this {
    if (typeof value === 'bigint' || value >= TWO_TO_52 || value <= -TWO_TO_52) return this.#wideZigzag(BigInt(value))
    return this.varint(value < 0 ? -2 * value - 1 : 2 * value)
  }

  /** These bytes, or a part of them, without their length. */
  raw(bytes: Uint8Array, start = 0, end = bytes.length): this {
    const length = end - start
    this.#reserve(length)
    this.#bytes.set(length === bytes.length ? bytes : bytes.subarray(start, end), this.#at)
    this.#at += length
    return this
  }

  /** A text without its length. */
  utf8(text: string): this {
    // A UTF-16 code unit has at most three bytes in UTF-8.
    this.#reserve(3 * text.length)
    this.#at += this.#bytes.write(text, this.#at)
    return this
  }

  /** A text after its length in bytes, as an unsigned varint. */
  varintText(text: string): this {
    return this.#text(text, 1)
  }

  /** A text after its length in bytes, as a zigzag varint. */
  zigzagText(text: string): this {
    return this.#text(text, 2)
  }

  /** A text after its length in bytes, as an integer of 32 bits. */
  int32Text(text: string): this {
    this.#reserve(4 + 3 * text.length)
    const length = this.#bytes.write(text, this.#at + 4)
    this.#bytes.writeInt32BE(length, this.#at)
    this.#at += 4 + length
    return this
  }

  #text(text: string, factor: 1 | 2): this {
    // The length of a short text takes one byte, whatever it is.
    if (3 * text.length * factor > 127) return this.varint(factor * Buffer.byteLength(text)).utf8(text)
    this.#reserve(1 + 3 * text.length)
    const length = this.#bytes.write(text, this.#at + 1)
    this.#bytes[this.#at] = factor * length
    this.#at += 1 + length
    return this
  }

  #wideZigzag(value: bigint): this {
    this.#reserve(VARINT_BYTES_MAX)
    let left = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n))
    for (; left > 127n; left >>= 7n) this.#bytes[this.#at++] = Number(left & 127n) | 128
    this.#bytes[this.#at++] = Number(left)
    return this
  }

  /** Continues in a larger buffer if the current one does not have room for `count` more bytes. */
  #reserve(count: number): void {
    if (this.#at + count <= this.#bytes.length) return
    const written = this.length
    const larger = Buffer.allocUnsafe(Math.max(this.#chunkBytes, 2 * (written + count)))
    this.#bytes.copy(larger, 0, this.#start, this.#at)
    this.#bytes = larger
    this.#start = 0
    this.#at = written
  }
}
