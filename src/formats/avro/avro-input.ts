import { BinaryReader } from '../../common/binary-reader.ts'
import { SchemaError } from '../schema-error.ts'

/**
 * How many more values than bytes there can be. Values of null, of an empty record and of a fixed without bytes have no
 * bytes, so their number is not limited by the length of the data.
 */
const VALUES_WITHOUT_BYTES_MAX = 65_536

/** Reads Avro's binary encoding. Every method throws a `SchemaError` for bytes that are not valid. */
export class AvroInput extends BinaryReader {
  #withoutBytes = 0

  constructor(bytes: Buffer, start = 0) {
    super(bytes, invalidData, start)
  }

  boolean(): boolean {
    const byte = this.uint8()
    if (byte > 1) throw this.fault('has a boolean that is neither 0 nor 1')
    return byte === 1
  }

  text(): string {
    return this.utf8(this.length())
  }

  /** A copy of the bytes after their length. */
  sized(): Buffer {
    return this.copy(this.length())
  }

  /** A copy of a fixed. */
  fixed(size: number): Buffer {
    if (size === 0) this.valueWithoutBytes()
    return this.copy(size)
  }

  /** The index of a symbol or of a branch, of which there are `count`. */
  index(count: number): number {
    const index = this.length()
    if (index < 0 || index >= count) throw this.fault(`has an index of ${index} for ${count} values`)
    return index
  }

  /** Calls `readItem` for each item of all blocks. A negative count is followed by the size of the block in bytes. */
  blocks(readItem: (input: AvroInput) => void): void {
    for (let count = this.length(); count !== 0; count = this.length()) {
      const size = count < 0 ? this.length() : undefined
      const start = this.position
      for (let left = Math.abs(count); left > 0; left--) readItem(this)
      if (size !== undefined && this.position - start !== size)
        throw this.fault('has a block of another size than it claims')
    }
  }

  /** To be called for each value that has no bytes. */
  valueWithoutBytes(): void {
    this.#withoutBytes += 1
    if (this.#withoutBytes > this.position + this.remaining + VALUES_WITHOUT_BYTES_MAX)
      throw this.fault('has too many values without bytes')
  }

  /** A long that is a length, a count or an index. Rounded from 2^53, which is more than any data has. */
  length(): number {
    const length = this.zigzag64()
    return typeof length === 'number' ? length : Number(length)
  }
}

function invalidData(reason: string): SchemaError {
  return new SchemaError(`the bytes are not valid for their schema: the data ${reason}`)
}
