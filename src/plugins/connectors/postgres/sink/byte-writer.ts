const FIRST_BYTES = 16 * 1024
const TWO_TO_32 = 2 ** 32

/** A buffer that grows. Numbers are written in network byte order, as the messages of PostgreSQL have them. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES)
  #end = 0

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#end)
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.#end++] = value
  }

  int16(value: number): void {
    this.#reserve(2)
    this.#end = this.#bytes.writeInt16BE(value, this.#end)
  }

  int32(value: number): void {
    this.#reserve(4)
    this.#end = this.#bytes.writeInt32BE(value, this.#end)
  }

  int64(value: number | bigint): void {
    this.#reserve(8)
    if (typeof value === 'bigint' || !Number.isSafeInteger(value)) {
      this.#end = this.#bytes.writeBigInt64BE(BigInt(value), this.#end)
      return
    }
    const high = Math.floor(value / TWO_TO_32)
    this.#end = this.#bytes.writeInt32BE(high, this.#end)
    this.#end = this.#bytes.writeUInt32BE(value - high * TWO_TO_32, this.#end)
  }

  double(value: number): void {
    this.#reserve(8)
    this.#end = this.#bytes.writeDoubleBE(value, this.#end)
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#end)
    this.#end += bytes.length
  }

  /** Writes the length of a text in UTF-8, in four bytes, and the text. */
  sizedText(text: string): void {
    // A UTF-16 code unit has at most three bytes in UTF-8.
    this.#reserve(4 + text.length * 3)
    const length = this.#bytes.write(text, this.#end + 4)
    this.#bytes.writeInt32BE(length, this.#end)
    this.#end += 4 + length
  }

  #reserve(count: number): void {
    const needed = this.#end + count
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2))
    this.#bytes.copy(larger, 0, 0, this.#end)
    this.#bytes = larger
  }
}
