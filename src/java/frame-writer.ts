import { bigintToBytes, DataError, type Decimal, isDecimal, LOGICAL, type Schema } from '../sdk/index.ts'
import { structSchemas, VALUE_TAG } from './host-protocol.ts'

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

  /** A view of the buffer, valid until the next write. */
  get body(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  get length(): number {
    return this.#length
  }

  /** Removes what was written since the body had this length. */
  truncate(length: number): void {
    this.#length = length
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

  /** Writes a Java `Integer`; null if `value` is undefined. */
  writeInt32(value: number | undefined): void {
    if (value === undefined) this.writeByte(VALUE_TAG.null)
    else this.#writeNumber(VALUE_TAG.int32, value, () => this.#bytes.writeInt32BE(value, this.#length))
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
      const written = this.#bytes.write(text, this.#length + 1, 'utf8')
      this.#bytes[this.#length] = written
      this.#length += written + 1
      return
    }
    const length = Buffer.byteLength(text)
    this.writeVarint(length)
    this.#reserve(length)
    this.#length += this.#bytes.write(text, this.#length, 'utf8')
  }

  writeBytes(value: Uint8Array): void {
    this.writeVarint(value.length)
    this.#reserve(value.length)
    this.#bytes.set(value, this.#length)
    this.#length += value.length
  }

  /** Writes the id of a schema; 0 for no schema. */
  writeSchema(schema: Schema | null): void {
    this.writeVarint(schema === null ? 0 : this.#schemaId(schema))
  }

  /** Throws a `DataError` for a value that is no Connect data, or that its schema does not allow. */
  writeValue(schema: Schema | null, value: unknown): void {
    if (value === null || value === undefined) this.writeByte(VALUE_TAG.null)
    else if (schema === null) this.#writeSchemaless(value)
    else this.#writePresent(schema, value)
  }

  #writePresent(schema: Schema, value: unknown): void {
    switch (schema.type) {
      case 'int8':
        this.#writeNumber(VALUE_TAG.int8, value, () => this.#bytes.writeInt8(value as number, this.#length))
        break
      case 'int16':
        this.#writeNumber(VALUE_TAG.int16, value, () => this.#bytes.writeInt16BE(value as number, this.#length))
        break
      case 'int32':
        this.#writeInteger(schema, value)
        break
      case 'int64':
        this.#writeLong(schema, value)
        break
      case 'float32':
        this.#writeNumber(VALUE_TAG.float32, value, () => this.#bytes.writeFloatBE(value as number, this.#length))
        break
      case 'float64':
        this.#writeDouble(value)
        break
      case 'boolean':
        requireFit(typeof value === 'boolean', schema, value)
        this.writeByte(value ? VALUE_TAG.true : VALUE_TAG.false)
        break
      case 'string':
        requireFit(typeof value === 'string', schema, value)
        this.#writeText(value as string)
        break
      case 'bytes':
        if (isDecimal(value)) this.#writeDecimal(value)
        else this.#writeBinary(value instanceof Uint8Array ? value : misfit(schema, value))
        break
      case 'array':
        requireFit(Array.isArray(value), schema, value)
        this.#writeList(schema.items ?? null, value as unknown[])
        break
      case 'map':
        requireFit(value instanceof Map, schema, value)
        this.#writeMap(schema.keys ?? null, schema.items ?? null, value as ReadonlyMap<unknown, unknown>)
        break
      case 'struct':
        this.#writeStruct(schema, value)
    }
  }

  /** Writes a whole number as a Java `Long` and other numbers as `Double`, like JSON parsers in Java. */
  #writeSchemaless(value: unknown): void {
    switch (typeof value) {
      case 'boolean':
        this.writeByte(value ? VALUE_TAG.true : VALUE_TAG.false)
        break
      case 'string':
        this.#writeText(value)
        break
      case 'bigint':
        this.#writeTaggedInt64(VALUE_TAG.int64, value)
        break
      case 'number':
        if (Number.isSafeInteger(value) && !Object.is(value, -0)) this.#writeTaggedInt64(VALUE_TAG.int64, value)
        else this.#writeDouble(value)
        break
      case 'object':
        this.#writeObject(value as object)
        break
      default:
        throw new DataError(`a value of type ${typeof value} is not Connect data`)
    }
  }

  #writeObject(value: object): void {
    const schema = structSchemas.get(value)
    if (schema !== undefined) this.#writeStruct(schema, value)
    else if (value instanceof Uint8Array) this.#writeBinary(value)
    else if (value instanceof Date) this.#writeTaggedInt64(VALUE_TAG.date, value.getTime())
    else if (Array.isArray(value)) this.#writeList(null, value)
    else if (value instanceof Map) this.#writeMap(null, null, value)
    else if (isDecimal(value)) this.#writeDecimal(value)
    else this.#writeMap(null, null, new Map(Object.entries(value)))
  }

  /** Writes a `Date`, a Time in milliseconds since midnight, or a number. */
  #writeInteger(schema: Schema, value: unknown): void {
    if (value instanceof Date) this.#writeTaggedInt64(VALUE_TAG.date, value.getTime())
    else if (schema.name === LOGICAL.time && typeof value === 'number') this.#writeTaggedInt64(VALUE_TAG.date, value)
    else this.#writeNumber(VALUE_TAG.int32, value, () => this.#bytes.writeInt32BE(value as number, this.#length))
  }

  #writeLong(schema: Schema, value: unknown): void {
    if (value instanceof Date) this.#writeTaggedInt64(VALUE_TAG.date, value.getTime())
    else if (typeof value === 'number' || typeof value === 'bigint') this.#writeTaggedInt64(VALUE_TAG.int64, value)
    else misfit(schema, value)
  }

  #writeDouble(value: unknown): void {
    this.#writeNumber(VALUE_TAG.float64, value, () => this.#bytes.writeDoubleBE(value as number, this.#length))
  }

  #writeNumber(tag: number, value: unknown, write: () => number): void {
    if (typeof value !== 'number') throw new DataError(`expected a number, got ${typeof value}`)
    this.writeByte(tag)
    this.#reserve(8)
    this.#length = write()
  }

  #writeTaggedInt64(tag: number, value: number | bigint): void {
    this.writeByte(tag)
    this.writeInt64(value)
  }

  #writeText(value: string): void {
    this.writeByte(VALUE_TAG.string)
    this.writeString(value)
  }

  #writeBinary(value: Uint8Array): void {
    this.writeByte(VALUE_TAG.bytes)
    this.writeBytes(value)
  }

  #writeDecimal({ unscaled, scale }: Decimal): void {
    this.writeByte(VALUE_TAG.decimal)
    this.#reserve(4)
    this.#length = this.#bytes.writeInt32BE(scale, this.#length)
    this.writeBytes(bigintToBytes(unscaled))
  }

  #writeList(items: Schema | null, values: readonly unknown[]): void {
    this.writeByte(VALUE_TAG.list)
    this.writeVarint(values.length)
    for (const value of values) this.writeValue(items, value)
  }

  #writeMap(keys: Schema | null, items: Schema | null, map: ReadonlyMap<unknown, unknown>): void {
    this.writeByte(VALUE_TAG.map)
    this.writeVarint(map.size)
    for (const [key, value] of map) {
      this.writeValue(keys, key)
      this.writeValue(items, value)
    }
  }

  #writeStruct(schema: Schema, value: unknown): void {
    if (typeof value !== 'object' || value === null) misfit(schema, value)
    const struct = value as Readonly<Record<string, unknown>>
    this.writeByte(VALUE_TAG.struct)
    this.writeSchema(schema)
    for (const field of schema.fields ?? []) this.writeValue(field.schema, struct[field.name])
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, needed))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

function requireFit(isFit: boolean, schema: Schema, value: unknown): void {
  if (!isFit) misfit(schema, value)
}

function misfit({ type, name }: Schema, value: unknown): never {
  const wanted = name === undefined ? type : `${type} ${name}`
  throw new DataError(`expected a value of type ${wanted}, got ${value === null ? 'null' : typeof value}`)
}
