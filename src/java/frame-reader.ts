import { BinaryReader } from '../common/binary-reader.ts'
import { wholeDouble } from '../common/exact-json.ts'
import { defineMember } from '../formats/define-member.ts'
import { bigintFromBytes, type Decimal, int64, LOGICAL, type Position, type Schema } from '../sdk/index.ts'
import { ProtocolError, structSchemas, VALUE_TAG } from './host-protocol.ts'

/** Reads the body of one frame. Throws a `ProtocolError` for a damaged one. */
export class FrameReader extends BinaryReader {
  readonly #schemaOf: (id: number) => Schema

  constructor(body: Buffer, schemaOf: (id: number) => Schema) {
    super(body, (reason) => new ProtocolError(`a frame ${reason}`))
    this.#schemaOf = schemaOf
  }

  int64(): number | bigint {
    return int64(this.bigInt64())
  }

  string(): string {
    return this.utf8(this.varint())
  }

  /** Returns a copy, because the buffer of the frame is reused. */
  binary(): Buffer {
    return this.copy(this.varint())
  }

  schema(): Schema | null {
    const id = this.varint()
    return id === 0 ? null : this.#schemaOf(id)
  }

  /** `schema` is the expected schema, if known. It distinguishes a Time from other dates. */
  value(schema: Schema | null = null): unknown {
    return this.#tagged(this.uint8(), schema)
  }

  /** A source partition or offset, as `FrameWriter.writePosition` writes it. A whole Double is a `WholeDouble`. */
  sourcePosition(): Position {
    const tag = this.uint8()
    if (tag === VALUE_TAG.null) return {}
    if (tag !== VALUE_TAG.map) throw new ProtocolError(`no position has tag ${tag}`)
    const position: Record<string, unknown> = {}
    for (let count = this.varint(); count > 0; count--) {
      const name = this.value() as string
      const type = this.uint8()
      const value = this.#tagged(type, null)
      const isWholeDouble = type === VALUE_TAG.float64 && Number.isInteger(value)
      defineMember(position, name, isWholeDouble ? wholeDouble(value as number) : value)
    }
    return position as Position
  }

  #tagged(tag: number, schema: Schema | null): unknown {
    switch (tag) {
      case VALUE_TAG.null:
        return null
      case VALUE_TAG.true:
        return true
      case VALUE_TAG.false:
        return false
      case VALUE_TAG.int8:
        return this.int8()
      case VALUE_TAG.int16:
        return this.int16()
      case VALUE_TAG.int32:
        return this.int32()
      case VALUE_TAG.int64:
        return this.int64()
      case VALUE_TAG.float32:
        return this.float32()
      case VALUE_TAG.float64:
        return this.float64()
      case VALUE_TAG.string:
        return this.string()
      case VALUE_TAG.bytes:
      case VALUE_TAG.byteBuffer:
        return this.binary()
      case VALUE_TAG.decimal: {
        const scale = this.int32()
        const unscaled = this.binary()
        if (unscaled.length === 0) throw new ProtocolError('a decimal has no digits')
        return { unscaled: bigintFromBytes(unscaled), scale } satisfies Decimal
      }
      case VALUE_TAG.date: {
        const ms = Number(this.int64())
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
    const count = this.varint()
    const items: unknown[] = []
    for (let at = 0; at < count; at++) items.push(this.value(schema?.items ?? null))
    return items
  }

  /** Returns an object for a schemaless map whose keys are all strings, as for schemaless JSON; otherwise a `Map`. */
  #readMap(schema: Schema | null): unknown {
    const count = this.varint()
    const entries: [unknown, unknown][] = []
    for (let at = 0; at < count; at++) {
      entries.push([this.value(schema?.keys ?? null), this.value(schema?.items ?? null)])
    }
    if (schema !== null || entries.some(([key]) => typeof key !== 'string')) return new Map(entries)
    return Object.fromEntries(entries)
  }

  #readStruct(expected: Schema | null): unknown {
    const schema = this.schema()
    if (schema === null) throw new ProtocolError('a struct has no schema')
    const struct: Record<string, unknown> = {}
    for (const { name, schema: inner } of schema.fields ?? []) {
      defineMember(struct, name, this.value(inner))
    }
    if (expected === null) structSchemas.set(struct, schema)
    return struct
  }
}
