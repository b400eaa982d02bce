/**
 * How many more values than bytes there can be. Values of null, of an empty record and of a fixed without bytes have no
 * bytes, so their number is not limited by the length of the data.
 */
const VALUES_WITHOUT_BYTES_MAX = 65_536

/** Reads Avro's binary encoding. Every method throws a `RangeError` for bytes that are not valid. */
export class BinaryInput {
  readonly #bytes: Buffer
  #at = 0
  #withoutBytes = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get position(): number {
    return this.#at
  }

  end(): void {
    if (this.#at < this.#bytes.length) throw new RangeError('trailing data')
  }

  boolean(): boolean {
    const byte = this.#byte()
    if (byte > 1) throw new RangeError('a boolean is neither 0 nor 1')
    return byte === 1
  }

  int(): number {
    const first = this.#bytes[this.#at]
    if (first === undefined || first >= 128) return this.#varint(32)
    this.#at += 1
    return (first >>> 1) ^ -(first & 1)
  }

  /** A number if that is exact, otherwise a bigint. */
  long(): number | bigint {
    const start = this.#at
    const value = this.#varint(64)
    return Number.isSafeInteger(value) ? value : this.#wideLong(start)
  }

  float(): number {
    return this.#bytes.readFloatLE(this.#skip(4))
  }

  double(): number {
    return this.#bytes.readDoubleLE(this.#skip(8))
  }

  text(): string {
    const length = this.#length()
    const at = this.#skip(length)
    return this.#bytes.toString('utf8', at, at + length)
  }

  /** A copy of the bytes after their length. */
  bytes(): Buffer {
    return this.fixed(this.#length())
  }

  fixed(size: number): Buffer {
    const at = this.#skip(size)
    return Buffer.from(this.#bytes.subarray(at, at + size))
  }

  /** The index of a symbol or of a branch, of which there are `count`. */
  index(count: number): number {
    const index = this.#length()
    if (index < 0 || index >= count) throw new RangeError(`an index of ${index} for ${count} values`)
    return index
  }

  /** Calls `readItem` for each item of all blocks. A negative count is followed by the size of the block in bytes. */
  blocks(readItem: (input: BinaryInput) => void): void {
    for (let count = this.#length(); count !== 0; count = this.#length()) {
      const size = count < 0 ? this.#varint(64) : undefined
      const start = this.#at
      for (let left = Math.abs(count); left > 0; left--) readItem(this)
      if (size !== undefined && this.#at - start !== size)
        throw new RangeError('a block has another size than it claims')
    }
  }

  /** To be called for each value that has no bytes. */
  valueWithoutBytes(): void {
    this.#withoutBytes += 1
    if (this.#withoutBytes > this.#bytes.length + VALUES_WITHOUT_BYTES_MAX)
      throw new RangeError('too many values that have no bytes')
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) throw new RangeError('truncated data')
    return byte
  }

  #skip(length: number): number {
    const at = this.#at
    if (length < 0) throw new RangeError(`a length is negative: ${length}`)
    if (length > this.#bytes.length - at) throw new RangeError('truncated data')
    this.#at += length
    return at
  }

  /** A long that is a count or an index, most often of one byte. */
  #length(): number {
    const first = this.#bytes[this.#at]
    if (first === undefined || first >= 128) return this.#varint(64)
    this.#at += 1
    return (first >>> 1) ^ -(first & 1)
  }

  /** A zigzag varint of at most `bits` bits, rounded if it is not a safe integer. */
  #varint(bits: 32 | 64): number {
    let byte = this.#byte()
    const isNegative = (byte & 1) === 1
    let value = (byte & 127) >>> 1
    let shift = 7
    for (let factor = 64; byte >= 128; factor *= 128, shift += 7) {
      byte = this.#byte()
      if (shift + 7 > bits && byte >= 2 ** (bits - shift)) throw new RangeError(`a number has more than ${bits} bits`)
      value += (byte & 127) * factor
    }
    return isNegative ? -value - 1 : value
  }

  #wideLong(start: number): number | bigint {
    let value = 0n
    for (let at = start; at < this.#at; at++) value |= BigInt(this.#bytes[at]! & 127) << BigInt(7 * (at - start))
    const long = (value >> 1n) ^ -(value & 1n)
    return Number.isSafeInteger(Number(long)) ? Number(long) : long
  }
}
