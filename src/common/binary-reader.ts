/** The factors of the last possible bytes of varints of 32 and of 64 bits. */
const LAST_FACTOR_32 = 2 ** 28
const LAST_FACTOR_64 = 2 ** 63

/** Creates the error of a reader from the reason, which continues a sentence such as "the message …". */
export type BinaryFault = (reason: string) => Error

const defaultFault: BinaryFault = (reason) => new RangeError(`the data ${reason}`)

/**
 * Reads binary data from its beginning to its end: numbers in big-endian order unless the method says otherwise, and varints
 * (LEB128). Every method throws the error of `fault` if the data ends before the value does.
 */
export class BinaryReader {
  readonly #bytes: Buffer
  readonly #createFault: BinaryFault
  #at: number

  constructor(bytes: Buffer, fault: BinaryFault = defaultFault, start = 0) {
    this.#bytes = bytes
    this.#createFault = fault
    this.#at = start
  }

  get position(): number {
    return this.#at
  }

  /** The number of bytes that were not read. */
  get remaining(): number {
    return this.#bytes.length - this.#at
  }

  /** Creates an error of this reader. */
  fault(reason: string): Error {
    return this.#createFault(reason)
  }

  expectEnd(): void {
    if (this.remaining > 0) throw this.fault(`has ${this.remaining} bytes after its end`)
  }

  int8(): number {
    return this.#bytes.readInt8(this.skip(1))
  }

  uint8(): number {
    return this.#bytes[this.skip(1)]!
  }

  int16(): number {
    return this.#bytes.readInt16BE(this.skip(2))
  }

  uint16(): number {
    return this.#bytes.readUInt16BE(this.skip(2))
  }

  int32(): number {
    return this.#bytes.readInt32BE(this.skip(4))
  }

  uint32(): number {
    return this.#bytes.readUInt32BE(this.skip(4))
  }

  /** An integer of one to six bytes. */
  integer(length: number): number {
    return this.#bytes.readIntBE(this.skip(length), length)
  }

  bigInt64(): bigint {
    return this.#bytes.readBigInt64BE(this.skip(8))
  }

  bigUint64(): bigint {
    return this.#bytes.readBigUInt64BE(this.skip(8))
  }

  float32(): number {
    return this.#bytes.readFloatBE(this.skip(4))
  }

  float64(): number {
    return this.#bytes.readDoubleBE(this.skip(8))
  }

  float32LE(): number {
    return this.#bytes.readFloatLE(this.skip(4))
  }

  float64LE(): number {
    return this.#bytes.readDoubleLE(this.skip(8))
  }

  /** An unsigned varint of at most 32 bits. */
  varint(): number {
    const first = this.#bytes[this.#at]
    if (first === undefined || first >= 128) return this.#longVarint(LAST_FACTOR_32, 16)
    this.#at += 1
    return first
  }

  /** A zigzag varint of at most 32 bits. */
  zigzag32(): number {
    const first = this.#bytes[this.#at]
    if (first !== undefined && first < 128) {
      this.#at += 1
      return (first >>> 1) ^ -(first & 1)
    }
    const value = this.#longVarint(LAST_FACTOR_32, 16)
    return (value >>> 1) ^ -(value & 1)
  }

  /** A zigzag varint of at most 64 bits: a number if that is exact, otherwise a bigint. */
  zigzag64(): number | bigint {
    const first = this.#bytes[this.#at]
    if (first !== undefined && first < 128) {
      this.#at += 1
      return (first >>> 1) ^ -(first & 1)
    }
    const start = this.#at
    const value = this.#longVarint(LAST_FACTOR_64, 2)
    if (value < 2 ** 53) return value % 2 === 0 ? value / 2 : -(value + 1) / 2
    return this.#wideZigzag(start)
  }

  /** The next bytes, as a view. */
  view(length: number): Buffer {
    const start = this.skip(length)
    return this.#bytes.subarray(start, this.#at)
  }

  /** A copy of the next bytes, which does not keep the memory of the data. */
  copy(length: number): Buffer {
    return Buffer.from(this.view(length))
  }

  /** A text of this many bytes. */
  utf8(length: number): string {
    const start = this.skip(length)
    return this.#bytes.toString('utf8', start, this.#at)
  }

  /** A text that ends with a zero byte. */
  zeroTerminated(): string {
    const end = this.#bytes.indexOf(0, this.#at)
    if (end < 0) throw this.#truncated('the end of a text')
    const text = this.utf8(end - this.#at)
    this.#at += 1
    return text
  }

  /** Skips this many bytes and returns the position of the first one. */
  skip(length: number): number {
    const start = this.#at
    if (length < 0) throw this.fault(`has the length ${length} before byte ${start}`)
    if (start + length > this.#bytes.length) throw this.#truncated(`${length} bytes`)
    this.#at = start + length
    return start
  }

  /** Returns the bits of a varint as an unsigned number, rounded if it exceeds 2^53. Its last possible byte is below `limit`. */
  #longVarint(lastFactor: number, limit: number): number {
    const bytes = this.#bytes
    let at = this.#at
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++]
      if (byte === undefined) throw this.#truncated('a complete number')
      if (factor === lastFactor && byte >= limit)
        throw this.fault(`has a number of more than ${limit === 2 ? 64 : 32} bits at byte ${this.#at}`)
      value += (byte & 127) * factor
      if (byte >= 128) continue
      this.#at = at
      return value
    }
  }

  /** The zigzag varint between `start` and the position. */
  #wideZigzag(start: number): number | bigint {
    let value = 0n
    for (let at = start; at < this.#at; at++) value |= BigInt(this.#bytes[at]! & 127) << BigInt(7 * (at - start))
    const long = (value >> 1n) ^ -(value & 1n)
    return Number.isSafeInteger(Number(long)) ? Number(long) : long
  }

  #truncated(expected: string): Error {
    return this.fault(`is truncated: expected ${expected} at byte ${this.#at} of ${this.#bytes.length}`)
  }
}
