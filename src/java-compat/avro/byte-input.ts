import { int64 } from '../../sdk/index.ts'

/** Thrown for bytes that are not read directly. A constant, because it is caught and has no use for a stack. */
export const UNREADABLE = new Error('these bytes are left to the codec')

const LAST_FACTOR = 2 ** 49

/** Reads values in Avro's binary encoding. Every method throws `UNREADABLE` for bytes that are not valid. */
export class ByteInput {
  #bytes: Buffer = Buffer.alloc(0)
  #at = 0

  open(bytes: Buffer, start: number): void {
    this.#bytes = bytes
    this.#at = start
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  byte(): number {
    const value = this.#bytes[this.#at++]
    if (value === undefined) throw UNREADABLE
    return value
  }

  /** A zigzag varint of 32 bits. */
  int(): number {
    const first = this.#bytes[this.#at]
    if (first !== undefined && first < 128) {
      this.#at += 1
      return (first >>> 1) ^ -(first & 1)
    }
    const value = this.long()
    if (typeof value !== 'number' || value !== (value | 0)) throw UNREADABLE
    return value
  }

  /** A zigzag varint of 64 bits: a number if that is exact, otherwise a bigint. */
  long(): number | bigint {
    const bytes = this.#bytes
    const start = this.#at
    let value = 0
    for (let factor = 1; factor <= LAST_FACTOR; factor *= 128) {
      const byte = bytes[this.#at++]
      if (byte === undefined) throw UNREADABLE
      // A larger byte exceeds 2^53, up to which a double is exact.
      if (factor === LAST_FACTOR && byte >= 16) break
      value += (byte & 127) * factor
      if (byte < 128) return value % 2 === 0 ? value / 2 : -(value + 1) / 2
    }
    this.#at = start
    return this.#wideLong()
  }

  float(): number {
    return this.#bytes.readFloatLE(this.#skip(4))
  }

  double(): number {
    return this.#bytes.readDoubleLE(this.#skip(8))
  }

  /** Bytes after their length, as a view. */
  sized(): Buffer {
    const length = this.int()
    const at = this.#skip(length)
    return this.#bytes.subarray(at, at + length)
  }

  text(): string {
    const length = this.int()
    const at = this.#skip(length)
    return this.#bytes.toString('utf8', at, at + length)
  }

  /** Returns undefined for a number of more than 48 bits, and does not move then. */
  smallNumber(): number | undefined {
    const start = this.#at
    const length = this.int()
    if (length >= 1 && length <= 6) return this.#bytes.readIntBE(this.#skip(length), length)
    this.#at = start
    return undefined
  }

  #wideLong(): number | bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.byte()
      value |= BigInt(byte & 127) << shift
      if (byte < 128) {
        if (value >= 2n ** 64n) throw UNREADABLE
        return int64(BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n)))
      }
    }
    throw UNREADABLE
  }

  #skip(length: number): number {
    const at = this.#at
    if (length < 0 || at + length > this.#bytes.length) throw UNREADABLE
    this.#at += length
    return at
  }
}
