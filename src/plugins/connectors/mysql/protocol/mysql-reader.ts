/** Data of a server that does not have the form of the protocol. */
export class MysqlProtocolError extends Error {
  override readonly name = 'ProtocolError'
}

/** Reads the binary data of MySQL's protocol and of its binary log: numbers in little-endian order. */
export class MysqlReader {
  readonly bytes: Buffer
  readonly #what: string
  readonly #end: number
  position: number

  /** `what` is the subject of error messages, such as `the event TABLE_MAP`. */
  constructor(bytes: Buffer, what: string, start = 0, end = bytes.length) {
    this.bytes = bytes
    this.#what = what
    this.position = start
    this.#end = end
  }

  get remaining(): number {
    return this.#end - this.position
  }

  fault(reason: string): MysqlProtocolError {
    return new MysqlProtocolError(`${this.#what} ${reason}`)
  }

  /** Passes bytes, and returns where they begin. */
  skip(length: number): number {
    const start = this.position
    if (length < 0 || start + length > this.#end) throw this.fault('ends before a value of it does')
    this.position = start + length
    return start
  }

  uint8(): number {
    return this.bytes[this.skip(1)]!
  }

  uint16(): number {
    return this.bytes.readUInt16LE(this.skip(2))
  }

  uint32(): number {
    return this.bytes.readUInt32LE(this.skip(4))
  }

  /** An unsigned integer of one to six bytes. */
  uint(length: number): number {
    return this.bytes.readUIntLE(this.skip(length), length)
  }

  /** An unsigned integer of one to six bytes in big-endian order. */
  uintBE(length: number): number {
    return this.bytes.readUIntBE(this.skip(length), length)
  }

  int(length: number): number {
    return this.bytes.readIntLE(this.skip(length), length)
  }

  bigUint64(): bigint {
    return this.bytes.readBigUInt64LE(this.skip(8))
  }

  bigInt64(): bigint {
    return this.bytes.readBigInt64LE(this.skip(8))
  }

  float32(): number {
    return this.bytes.readFloatLE(this.skip(4))
  }

  float64(): number {
    return this.bytes.readDoubleLE(this.skip(8))
  }

  /** An integer whose first byte says how many follow. */
  lengthEncoded(): number {
    const first = this.uint8()
    if (first < 0xfb) return first
    if (first === 0xfc) return this.uint16()
    if (first === 0xfd) return this.uint(3)
    if (first !== 0xfe) throw this.fault('has an invalid length')
    const value = Number(this.bigUint64())
    if (!Number.isSafeInteger(value)) throw this.fault('has an invalid length')
    return value
  }

  /** The next bytes, as a view. */
  view(length: number): Buffer {
    const start = this.skip(length)
    return this.bytes.subarray(start, start + length)
  }

  /** The bytes that follow. */
  rest(): Buffer {
    return this.view(this.remaining)
  }

  utf8(length: number): string {
    const start = this.skip(length)
    return this.bytes.toString('utf8', start, start + length)
  }

  zeroTerminated(): string {
    const end = this.bytes.indexOf(0, this.position)
    if (end < 0 || end >= this.#end) throw this.fault('has a text without an end')
    const text = this.utf8(end - this.position)
    this.position += 1
    return text
  }
}
