import { bigintFromBytes, bigintToBytes, DataError, type Decimal, int64, LOGICAL, type Schema } from '../sdk/index.ts'

// Values of Connect data as they cross the boundary to a Java host. Every value carries a tag of its Java type; lengths
// and ids are unsigned LEB128, numbers are big-endian. `java/host` has the same on the other side.

const TAG = {
  null: 0,
  true: 1,
  false: 2,
  int8: 3,
  int16: 4,
  int32: 5,
  int64: 6,
  float32: 7,
  float64: 8,
  string: 9,
  bytes: 10,
  byteBuffer: 11,
  decimal: 12,
  date: 13,
  list: 14,
  map: 15,
  struct: 16,
} as const

/** The schemas of structs whose place has no schema: they would lose it on the way back. */
const structSchemas = new WeakMap<object, Schema>()

/** Builds the body of one frame. */
export class FrameWriter {
  readonly #schemaId: (schema: Schema) => number
  #bytes: Buffer
  #length = 0

  /** `schemaId` returns the id of a schema, and sends its definition before this frame where the host lacks it. */
  constructor(schemaId: (schema: Schema) => number, capacityBytes = 1_024) {
    this.#schemaId = schemaId
    this.#bytes = Buffer.allocUnsafe(capacityBytes)
  }

  /** A view, valid until the next write. */
  get body(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  writeByte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.#length++] = value
  }

  writeVarint(value: number): void {
    this.#reserve(5)
    let rest = value
    while (rest > 0x7f) {
      this.#bytes[this.#length++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    this.#bytes[this.#length++] = rest
  }

  writeInt64(value: number | bigint): void {
    this.#reserve(8)
    this.#length = this.#bytes.writeBigInt64BE(BigInt(value), this.#length)
  }

  writeString(text: string): void {
    const lengthMax = text.length * 3
    if (lengthMax < 128) {
      // Short texts take one byte for their length, whatever it is.
      this.#reserve(lengthMax + 1)
      const written = this.#bytes.utf8Write(text, this.#length + 1)
      this.#bytes[this.#length] = written
      this.#length += written + 1
      return
    }
    const length = Buffer.byteLength(text)
    this.writeVarint(length)
    this.#reserve(length)
    this.#length += this.#bytes.utf8Write(text, this.#length)
  }

  writeBytes(value: Uint8Array): void {
    this.writeVarint(value.length)
    this.#reserve(value.length)
    this.#bytes.set(value, this.#length)
    this.#length += value.length
  }

  /** The id of a schema, 0 for none. */
  writeSchema(schema: Schema | null): void {
    this.writeVarint(schema === null ? 0 : this.#schemaId(schema))
  }

  /** Throws a `DataError` for a value that is no Connect data, or that its schema does not allow. */
  writeValue(schema: Schema | null, value: unknown): void {
    if (value === null || value === undefined) this.writeByte(TAG.null)
    else if (schema === null) this.#writeSchemaless(value)
    else this.#writePresent(schema, value)
  }

  #writePresent(schema: Schema, value: unknown): void {
    switch (schema.type) {
      case 'int8':
        return this.#writeNumber(TAG.int8, value, () => this.#bytes.writeInt8(value as number, this.#length))
      case 'int16':
        return this.#writeNumber(TAG.int16, value, () => this.#bytes.writeInt16BE(value as number, this.#length))
      case 'int32':
        return this.#writeInt32(schema, value)
      case 'int64':
        if (value instanceof Date) return this.#writeDate(value.getTime())
        if (typeof value !== 'number' && typeof value !== 'bigint') throw misfit(schema, value)
        this.writeByte(TAG.int64)
        return this.writeInt64(value)
      case 'float32':
        return this.#writeNumber(TAG.float32, value, () => this.#bytes.writeFloatBE(value as number, this.#length))
      case 'float64':
        return this.#writeNumber(TAG.float64, value, () => this.#bytes.writeDoubleBE(value as number, this.#length))
      case 'boolean':
        if (typeof value !== 'boolean') throw misfit(schema, value)
        return this.writeByte(value ? TAG.true : TAG.false)
      case 'string':
        if (typeof value !== 'string') throw misfit(schema, value)
        this.writeByte(TAG.string)
        return this.writeString(value)
      case 'bytes':
        if (isDecimal(value)) return this.#writeDecimal(value)
        if (!(value instanceof Uint8Array)) throw misfit(schema, value)
        this.writeByte(TAG.bytes)
        return this.writeBytes(value)
      case 'array':
        if (!Array.isArray(value)) throw misfit(schema, value)
        return this.#writeList(schema.items ?? null, value)
      case 'map':
        if (!(value instanceof Map)) throw misfit(schema, value)
        return this.#writeMap(schema.keys ?? null, schema.items ?? null, value)
      case 'struct':
        return this.#writeStruct(schema, value as Readonly<Record<string, unknown>>)
    }
  }

  /** A whole number is a Java Long, another one a Double, as Java's readers of JSON have them. */
  #writeSchemaless(value: unknown): void {
    const schema = typeof value === 'object' && value !== null ? structSchemas.get(value) : undefined
    if (schema !== undefined) return this.#writeStruct(schema, value as Readonly<Record<string, unknown>>)
    switch (typeof value) {
      case 'boolean':
        return this.writeByte(value ? TAG.true : TAG.false)
      case 'string':
        this.writeByte(TAG.string)
        return this.writeString(value)
      case 'bigint':
        this.writeByte(TAG.int64)
        return this.writeInt64(value)
      case 'number':
        if (!Number.isSafeInteger(value) || Object.is(value, -0)) {
          return this.#writeNumber(TAG.float64, value, () => this.#bytes.writeDoubleBE(value, this.#length))
        }
        this.writeByte(TAG.int64)
        return this.writeInt64(value)
    }
    if (value instanceof Uint8Array) {
      this.writeByte(TAG.bytes)
      return this.writeBytes(value)
    }
    if (value instanceof Date) return this.#writeDate(value.getTime())
    if (Array.isArray(value)) return this.#writeList(null, value)
    if (value instanceof Map) return this.#writeMap(null, null, value)
    if (isDecimal(value)) return this.#writeDecimal(value)
    if (typeof value === 'object' && value !== null) {
      return this.#writeMap(null, null, new Map(Object.entries(value)))
    }
    throw new DataError(`a value of type ${typeof value} is not Connect data`)
  }

  /** A Date, a Time in milliseconds of the day, or a number. */
  #writeInt32(schema: Schema, value: unknown): void {
    if (value instanceof Date) return this.#writeDate(value.getTime())
    if (schema.name === LOGICAL.time && typeof value === 'number') return this.#writeDate(value)
    return this.#writeNumber(TAG.int32, value, () => this.#bytes.writeInt32BE(value as number, this.#length))
  }

  #writeNumber(tag: number, value: unknown, write: () => number): void {
    if (typeof value !== 'number') throw new DataError(`expected a number, got ${typeof value}`)
    this.writeByte(tag)
    this.#reserve(8)
    this.#length = write()
  }

  #writeDate(ms: number): void {
    this.writeByte(TAG.date)
    this.writeInt64(ms)
  }

  #writeDecimal({ unscaled, scale }: Decimal): void {
    this.writeByte(TAG.decimal)
    this.#reserve(4)
    this.#length = this.#bytes.writeInt32BE(scale, this.#length)
    this.writeBytes(bigintToBytes(unscaled))
  }

  #writeList(items: Schema | null, values: readonly unknown[]): void {
    this.writeByte(TAG.list)
    this.writeVarint(values.length)
    for (const value of values) this.writeValue(items, value)
  }

  #writeMap(keys: Schema | null, items: Schema | null, map: ReadonlyMap<unknown, unknown>): void {
    this.writeByte(TAG.map)
    this.writeVarint(map.size)
    for (const [key, value] of map) {
      this.writeValue(keys, key)
      this.writeValue(items, value)
    }
  }

  #writeStruct(schema: Schema, value: Readonly<Record<string, unknown>>): void {
    this.writeByte(TAG.struct)
    this.writeSchema(schema)
    for (const field of schema.fields ?? []) this.writeValue(field.schema, value[field.name])
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, needed))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

/** The body of a frame is damaged, or breaks the protocol: the connection cannot be used any more. */
export class ProtocolError extends Error {}

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
    return this.#bytes.utf8Slice(from, from + length)
  }

  /** A copy: the body is reused. */
  readBytes(): Buffer {
    const length = this.readVarint()
    const from = this.#take(length)
    return Buffer.from(this.#bytes.subarray(from, from + length))
  }

  readSchema(): Schema | null {
    const id = this.readVarint()
    return id === 0 ? null : this.#schemaOf(id)
  }

  /** `schema`: of the place where the value is; it tells a Time from another date. */
  readValue(schema: Schema | null = null): unknown {
    const tag = this.readByte()
    switch (tag) {
      case TAG.null:
        return null
      case TAG.true:
        return true
      case TAG.false:
        return false
      case TAG.int8:
        return this.#bytes.readInt8(this.#take(1))
      case TAG.int16:
        return this.#bytes.readInt16BE(this.#take(2))
      case TAG.int32:
        return this.#bytes.readInt32BE(this.#take(4))
      case TAG.int64:
        return this.readInt64()
      case TAG.float32:
        return this.#bytes.readFloatBE(this.#take(4))
      case TAG.float64:
        return this.#bytes.readDoubleBE(this.#take(8))
      case TAG.string:
        return this.readString()
      case TAG.bytes:
      case TAG.byteBuffer:
        return this.readBytes()
      case TAG.decimal: {
        const scale = this.#bytes.readInt32BE(this.#take(4))
        return { unscaled: bigintFromBytes(this.readBytes()), scale } satisfies Decimal
      }
      case TAG.date: {
        const ms = Number(this.readInt64())
        return schema?.name === LOGICAL.time ? ms : new Date(ms)
      }
      case TAG.list:
        return this.#readList(schema)
      case TAG.map:
        return this.#readMap(schema)
      case TAG.struct:
        return this.#readStruct(schema)
      default:
        throw new ProtocolError(`no value has tag ${tag}`)
    }
  }

  #readList(schema: Schema | null): unknown[] {
    const count = this.#readCount()
    const items: unknown[] = []
    for (let at = 0; at < count; at++) items.push(this.readValue(schema?.items ?? null))
    return items
  }

  /** An object where no schema says that it is a map and all keys are texts: what JSON without a schema is here. */
  #readMap(schema: Schema | null): unknown {
    const count = this.#readCount()
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
    const struct = Object.fromEntries((schema.fields ?? []).map((field) => [field.name, this.readValue(field.schema)]))
    if (expected === null) structSchemas.set(struct, schema)
    return struct
  }

  /** Of things of at least one byte each. */
  #readCount(): number {
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

function isDecimal(value: unknown): value is Decimal {
  return typeof value === 'object' && value !== null && typeof (value as Decimal).unscaled === 'bigint'
}

function misfit({ type, name }: Schema, value: unknown): DataError {
  const wanted = name === undefined ? type : `${type} ${name}`
  return new DataError(`expected a value of type ${wanted}, got ${value === null ? 'null' : typeof value}`)
}
