import { BinaryWriter } from '../common/binary-writer.ts'
import { bigintToBytes, DataError, type Decimal, isDecimal, LOGICAL, type Schema } from '../sdk/index.ts'
import { structSchemas, VALUE_TAG } from './host-protocol.ts'

/** Builds the body of one frame. */
export class FrameWriter extends BinaryWriter {
  readonly #schemaId: (schema: Schema) => number

  /** `schemaId` returns the id of a schema, and sends its definition before this frame where the host lacks it. */
  constructor(schemaId: (schema: Schema) => number, capacityBytes = 1_024) {
    super(capacityBytes)
    this.#schemaId = schemaId
  }

  /** Writes a Java `Integer`; null if `value` is undefined. */
  integer(value: number | undefined): void {
    if (value === undefined) this.uint8(VALUE_TAG.null)
    else this.uint8(VALUE_TAG.int32).int32(value)
  }

  string(text: string): void {
    this.varintText(text)
  }

  binary(value: Uint8Array): void {
    this.varint(value.length).raw(value)
  }

  /** Writes the id of a schema; 0 for no schema. */
  schema(schema: Schema | null): void {
    this.varint(schema === null ? 0 : this.#schemaId(schema))
  }

  /** Throws a `DataError` for a value that is no Connect data, or that its schema does not allow. */
  value(schema: Schema | null, value: unknown): void {
    if (value === null || value === undefined) this.uint8(VALUE_TAG.null)
    else if (schema === null) this.#writeSchemaless(value)
    else this.#writePresent(schema, value)
  }

  #writePresent(schema: Schema, value: unknown): void {
    switch (schema.type) {
      case 'int8':
        this.uint8(VALUE_TAG.int8).int8(requireNumber(value))
        break
      case 'int16':
        this.uint8(VALUE_TAG.int16).int16(requireNumber(value))
        break
      case 'int32':
        this.#writeInteger(schema, value)
        break
      case 'int64':
        this.#writeLong(schema, value)
        break
      case 'float32':
        this.uint8(VALUE_TAG.float32).float32(requireNumber(value))
        break
      case 'float64':
        this.#writeDouble(value)
        break
      case 'boolean':
        requireFit(typeof value === 'boolean', schema, value)
        this.uint8(value ? VALUE_TAG.true : VALUE_TAG.false)
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
        this.uint8(value ? VALUE_TAG.true : VALUE_TAG.false)
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
    else if (value instanceof Number) this.#writeDouble(Number(value))
    else this.#writeMap(null, null, new Map(Object.entries(value)))
  }

  /** Writes a `Date`, a Time in milliseconds since midnight, or a number. */
  #writeInteger(schema: Schema, value: unknown): void {
    if (value instanceof Date) this.#writeTaggedInt64(VALUE_TAG.date, value.getTime())
    else if (schema.name === LOGICAL.time && typeof value === 'number') this.#writeTaggedInt64(VALUE_TAG.date, value)
    else this.integer(requireNumber(value))
  }

  #writeLong(schema: Schema, value: unknown): void {
    if (value instanceof Date) this.#writeTaggedInt64(VALUE_TAG.date, value.getTime())
    else if (typeof value === 'number' || typeof value === 'bigint') this.#writeTaggedInt64(VALUE_TAG.int64, value)
    else misfit(schema, value)
  }

  #writeDouble(value: unknown): void {
    this.uint8(VALUE_TAG.float64).float64(requireNumber(value))
  }

  #writeTaggedInt64(tag: number, value: number | bigint): void {
    this.uint8(tag).int64(value)
  }

  #writeText(value: string): void {
    this.uint8(VALUE_TAG.string)
    this.string(value)
  }

  #writeBinary(value: Uint8Array): void {
    this.uint8(VALUE_TAG.bytes)
    this.binary(value)
  }

  #writeDecimal({ unscaled, scale }: Decimal): void {
    this.uint8(VALUE_TAG.decimal).int32(scale)
    this.binary(bigintToBytes(unscaled))
  }

  #writeList(items: Schema | null, values: readonly unknown[]): void {
    this.uint8(VALUE_TAG.list).varint(values.length)
    for (const value of values) this.value(items, value)
  }

  #writeMap(keys: Schema | null, items: Schema | null, map: ReadonlyMap<unknown, unknown>): void {
    this.uint8(VALUE_TAG.map).varint(map.size)
    for (const [key, value] of map) {
      this.value(keys, key)
      this.value(items, value)
    }
  }

  #writeStruct(schema: Schema, value: unknown): void {
    if (typeof value !== 'object' || value === null) misfit(schema, value)
    const struct = value as Readonly<Record<string, unknown>>
    this.uint8(VALUE_TAG.struct)
    this.schema(schema)
    for (const field of schema.fields ?? []) this.value(field.schema, struct[field.name])
  }
}

function requireNumber(value: unknown): number {
  if (typeof value !== 'number') throw new DataError(`expected a number, got ${typeof value}`)
  return value
}

function requireFit(isFit: boolean, schema: Schema, value: unknown): void {
  if (!isFit) misfit(schema, value)
}

function misfit({ type, name }: Schema, value: unknown): never {
  const wanted = name === undefined ? type : `${type} ${name}`
  throw new DataError(`expected a value of type ${wanted}, got ${value === null ? 'null' : typeof value}`)
}
