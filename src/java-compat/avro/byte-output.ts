import { bigintToBytes } from '../../sdk/index.ts'

const CHUNK_BYTES = 64 * 1024
/** Longest varint of a long. */
const LONG_BYTES_MAX = 10
const TWO_TO_52 = 2 ** 52
/** Smaller numbers have at most 48 bits, which `writeIntBE` writes. */
const TWO_TO_47 = 2 ** 47
/** For up to this many bytes, a loop is faster than a call of `set`. */
const LOOP_BYTES_MAX = 32

/**
 * Writes values in Avro's binary encoding. Values are cut from chunks that they share, so that a value costs neither a buffer
 * of its own nor a copy.
 */
export class ByteOutput {
  #bytes = Buffer.alloc(0)
  #start = 0
  #at = 0

  /** Discards what was written since the last `take`. */
  reset(): void {
    this.#at = this.#start
  }

  /** Returns the bytes that were written since the last call. */
  take(): Buffer {
    const taken = this.#bytes.subarray(this.#start, this.#at)
    this.#start = this.#at
    return taken
  }

  byte(value: number): void {
    if (this.#at + 1 > this.#bytes.length) this.#grow(1)
    this.#bytes[this.#at++] = value
  }

  /** A number in big-endian order, as the id of a schema has it. */
  int32(value: number): void {
    if (this.#at + 4 > this.#bytes.length) this.#grow(4)
    this.#at = this.#bytes.writeInt32BE(value, this.#at)
  }

  /** A zigzag varint. A number must be an integer. */
  long(value: number | bigint): void {
    if (this.#at + LONG_BYTES_MAX > this.#bytes.length) this.#grow(LONG_BYTES_MAX)
    const bytes = this.#bytes
    if (typeof value === 'bigint' || value >= TWO_TO_52 || value <= -TWO_TO_52) {
      const wide = BigInt(value)
      let left = BigInt.asUintN(64, (wide << 1n) ^ (wide >> 63n))
      for (; left > 127n; left >>= 7n) bytes[this.#at++] = Number(left & 127n) | 128
      bytes[this.#at++] = Number(left)
      return
    }
    let left = value < 0 ? -2 * value - 1 : 2 * value
    for (; left > 0x7fffffff; left = Math.floor(left / 128)) bytes[this.#at++] = (left % 128) | 128
    for (; left > 127; left >>>= 7) bytes[this.#at++] = (left & 127) | 128
    bytes[this.#at++] = left
  }

  float(value: number): void {
    if (this.#at + 4 > this.#bytes.length) this.#grow(4)
    this.#at = this.#bytes.writeFloatLE(value, this.#at)
  }

  double(value: number): void {
    if (this.#at + 8 > this.#bytes.length) this.#grow(8)
    this.#at = this.#bytes.writeDoubleLE(value, this.#at)
  }

  sized(bytes: Uint8Array): void {
    this.long(bytes.length)
    if (this.#at + bytes.length > this.#bytes.length) this.#grow(bytes.length)
    this.#bytes.set(bytes, this.#at)
    this.#at += bytes.length
  }

  /** The length and a part of other bytes, as a string that is encoded already. */
  range(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start
    this.long(length)
    if (this.#at + length > this.#bytes.length) this.#grow(length)
    if (length > LOOP_BYTES_MAX) this.#bytes.set(bytes.subarray(start, end), this.#at)
    else for (let index = 0; index < length; index++) this.#bytes[this.#at + index] = bytes[start + index]!
    this.#at += length
  }

  text(text: string): void {
    const { length } = text
    // A UTF-16 code unit has at most three bytes in UTF-8. With up to 21 of them, the length has one byte.
    if (length > 21) this.long(Buffer.byteLength(text))
    else this.byte(0)
    if (this.#at + 3 * length > this.#bytes.length) this.#grow(3 * length)
    const written = this.#bytes.write(text, this.#at)
    if (length <= 21) this.#bytes[this.#at - 1] = 2 * written
    this.#at += written
  }

  /** The length and the shortest two's complement in big-endian order, as the bytes of a decimal. */
  unscaled(value: bigint | number): void {
    if (value >= TWO_TO_47 || value < -TWO_TO_47) {
      this.sized(bigintToBytes(BigInt(value)))
      return
    }
    const number = Number(value)
    let length = 1
    for (let limit = 128; number >= limit || number < -limit; limit *= 256) length += 1
    this.long(length)
    if (this.#at + length > this.#bytes.length) this.#grow(length)
    this.#at = this.#bytes.writeIntBE(number, this.#at, length)
  }

  /** Continues in a new chunk that has room for this many bytes. */
  #grow(count: number): void {
    const written = this.#at - this.#start
    const larger = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, 2 * (written + count)))
    this.#bytes.copy(larger, 0, this.#start, this.#at)
    this.#bytes = larger
    this.#start = 0
    this.#at = written
  }
}
