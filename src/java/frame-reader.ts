import { defineMember } from '../formats/define-member.ts'
import { bigintFromBytes, type Decimal, int64, LOGICAL, type Schema } from '../sdk/index.ts'
import { ProtocolError, structSchemas, VALUE_TAG } from './host-protocol.ts'

/** Reads the body of one frame. Throws a `ProtocolError` for a damaged one. */
export class FrameReader {
  readonly #bytes: Buffer
  readonly #schemaOf: (id: number) => Schema
  #at = 0

  constructor(body: Buffer, schemaOf: (id: number) => Schema) {
    this.#bytes = body
    this.#schemaOf = schemaOf
  }

  readByte(): number {
    return this.#bytes[this.#take(1)]!
  }

  readVarint(): number {
    let value = 0
    for (let factor = 1; factor <= 2 ** 28; factor *= 128) {
      const part = this.readByte()
      value += (part & 0x7f) * factor
      if (part < 0x80) return value
    }
    throw new ProtocolError('a number has more than five bytes')
  }

  readInt64(): number | bigint {
    return int64(this.#bytes.readBigInt64BE(this.#take(8)))
  }

  readString(): string {
    const length = this.readVarint()
    const from = this.#take(length)
    return this.#bytes.toString('utf8', from, from + length)
  }

  /** Returns a copy, because the buffer of the frame is reused. */
  readBytes(): Buffer {
    const length = this.readVarint()
    const from = this.#take(length)
    return Buffer.from(this.#bytes.subarray(from, from + length))
  }

  readSchema(): Schema | null {
    const id = this.readVarint()
    return id === 0 ? null : this.#schemaOf(id)
  }

  /** `schema` is the expected schema, if known. It distinguishes a Time from other dates. */
  readValue(schema: Schema | null = null): unknown {
    const tag = this.readByte()
    switch (tag) {
      case VALUE_TAG.null:
        return null
      case VALUE_TAG.true:
        return true
      case VALUE_TAG.false:
        return false
      case VALUE_TAG.int8:
        return this.#bytes.readInt8(this.#take(1))
      case VALUE_TAG.int16:
        return this.#bytes.readInt16BE(this.#take(2))
      case VALUE_TAG.int32:
        return this.#bytes.readInt32BE(this.#take(4))
      case VALUE_TAG.int64:
        return this.readInt64()
      case VALUE_TAG.float32:
        return this.#bytes.readFloatBE(this.#take(4))
      case VALUE_TAG.float64:
        return this.#bytes.readDoubleBE(this.#take(8))
      case VALUE_TAG.string:
        return this.readString()
      case VALUE_TAG.bytes:
      case VALUE_TAG.byteBuffer:
        return this.readBytes()
      case VALUE_TAG.decimal: {
        const scale = this.#bytes.readInt32BE(this.#take(4))
        const unscaled = this.readBytes()
        if (unscaled.length === 0) throw new ProtocolError('a decimal has no digits')
        return { unscaled: bigintFromBytes(unscaled), scale } satisfies Decimal
      }
      case VALUE_TAG.date: {
        const ms = Number(this.readInt64())
        return schema?.name === LOGICAL.time ? ms : new Date(ms)
      }
      case VALUE_TAG.list:
        return this.#readList(schema)
      case VALUE_TAG.map:
        return this.#readMap(schema)
      case VALUE_TAG.struct:
        return this.#readStruct(schema)
      default:
        throw new ProtocolError(`no value has tag ${tag}`)
    }
  }

  #readList(schema: Schema | null): unknown[] {
    const count = this.readCount()
    const items: unknown[] = []
    for (let at = 0; at < count; at++) items.push(this.readValue(schema?.items ?? null))
    return items
  }

  /** Returns an object for a schemaless map whose keys are all strings, as for schemaless JSON; otherwise a `Map`. */
  #readMap(schema: Schema | null): unknown {
    const count = this.readCount()
    const entries: [unknown, unknown][] = []
    for (let at = 0; at < count; at++) {
      entries.push([this.readValue(schema?.keys ?? null), this.readValue(schema?.items ?? null)])
    }
    if (schema !== null || entries.some(([key]) => typeof key !== 'string')) return new Map(entries)
    return Object.fromEntries(entries)
  }

  #readStruct(expected: Schema | null): unknown {
    const schema = this.readSchema()
    if (schema === null) throw new ProtocolError('a struct has no schema')
    const struct: Record<string, unknown> = {}
    for (const { name, schema: inner } of schema.fields ?? []) {
      defineMember(struct, name, this.readValue(inner))
    }
    if (expected === null) structSchemas.set(struct, schema)
    return struct
  }

  /** Reads the number of following items, each of at least one byte. */
  readCount(): number {
    const count = this.readVarint()
    if (count > this.#bytes.length - this.#at) throw new ProtocolError('a frame ends in the middle of a value')
    return count
  }

  #take(bytes: number): number {
    const from = this.#at
    if (from + bytes > this.#bytes.length) throw new ProtocolError('a frame ends in the middle of a value')
    this.#at = from + bytes
    return from
  }
}
