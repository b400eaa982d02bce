import type { Field, Schema, SchemaType } from '../sdk/index.ts'
import { FrameReader } from './frame-reader.ts'
import { FrameWriter } from './frame-writer.ts'
import { ProtocolError } from './host-protocol.ts'

// Each side of a connection defines a schema once, and refers to it by id afterwards.

/** In the order of Java's `Schema.Type`. */
const TYPES: readonly SchemaType[] = [
  'int8',
  'int16',
  'int32',
  'int64',
  'float32',
  'float64',
  'boolean',
  'string',
  'bytes',
  'array',
  'map',
  'struct',
]

/** Limit of the ids in use. A plugin that never repeats a schema would fill the memory of both sides. */
const IDS_MAX = 10_000

export type SchemaSender = {
  readonly define: (id: number, definition: Buffer) => void
  /** Forgets all definitions sent so far. Their ids are not used again. */
  readonly forgetAll: () => void
}

/**
 * The ids under which this side has sent schemas. A schema is found by identity first, and by its definition next,
 * because some converters create equal schemas repeatedly.
 */
export class SentSchemas {
  readonly #sender: SchemaSender
  readonly #byIdentity = new Map<Schema, number>()
  readonly #byDefinition = new Map<string, number>()
  #lastId = 0

  constructor(sender: SchemaSender) {
    this.#sender = sender
  }

  /** Must be called before a frame is begun, because the ids used in a frame must stay valid until its end. */
  trim(): void {
    if (this.#byDefinition.size > IDS_MAX) {
      this.#byIdentity.clear()
      this.#byDefinition.clear()
      this.#sender.forgetAll()
    } else if (this.#byIdentity.size > 2 * IDS_MAX) {
      this.#byIdentity.clear()
    }
  }

  /** Sends the definition first if the other side does not have it. */
  idOf(schema: Schema): number {
    const known = this.#byIdentity.get(schema)
    if (known !== undefined) return known
    const definition = this.#encode(schema)
    const key = definition.toString('latin1')
    let id = this.#byDefinition.get(key)
    if (id === undefined) {
      id = ++this.#lastId
      this.#byDefinition.set(key, id)
      this.#sender.define(id, definition)
    }
    this.#byIdentity.set(schema, id)
    return id
  }

  #encode(schema: Schema): Buffer {
    const { type, optional = false, name, version, doc, parameters, fields = [], keys, items } = schema
    const writer = new FrameWriter((inner) => this.idOf(inner), 256)
    writer.uint8(TYPES.indexOf(type))
    writer.uint8(Number(optional))
    writer.value(null, name)
    writer.integer(version)
    writer.value(null, doc)
    writer.value(null, parameters && new Map(Object.entries(parameters)))
    writer.value(withoutDefault(schema), schema.default)
    if (type === 'map') writer.schema(keys ?? null)
    if (type === 'map' || type === 'array') writer.schema(items ?? null)
    if (type === 'struct') {
      writer.varint(fields.length)
      for (const field of fields) {
        writer.string(field.name)
        writer.schema(field.schema)
      }
    }
    return Buffer.from(writer.bytes)
  }
}

/** A struct as a default would refer to the schema that is being defined. */
function withoutDefault(schema: Schema): Schema {
  if (schema.type !== 'struct') return schema
  const { default: _, ...rest } = schema
  return rest
}

/** The schemas that the other side has defined. */
export class ReceivedSchemas {
  readonly #byId = new Map<number, Schema>()
  readonly get = (id: number): Schema => {
    const schema = this.#byId.get(id)
    if (schema === undefined) throw new ProtocolError(`schema ${id} is used before it is defined`)
    return schema
  }

  forgetAll(): void {
    this.#byId.clear()
  }

  define(id: number, definition: Buffer): void {
    const reader = new FrameReader(definition, this.get)
    const type = TYPES[reader.uint8()]
    if (type === undefined) throw new ProtocolError('a schema has an unknown type')
    const optional = reader.uint8() === 1
    const name = reader.value() as string | null
    const version = reader.value() as number | null
    const doc = reader.value() as string | null
    const parameters = reader.value() as Readonly<Record<string, string>> | null
    const about = {
      type,
      ...(optional && { optional }),
      ...(name !== null && { name }),
      ...(version !== null && { version }),
      ...(doc !== null && { doc }),
      ...(parameters !== null && Object.keys(parameters).length > 0 && { parameters }),
    }
    const value = reader.value(about)
    this.#byId.set(id, { ...about, ...(value !== null && { default: value }), ...partsOf(type, reader) })
  }
}

function partsOf(type: SchemaType, reader: FrameReader): Pick<Schema, 'keys' | 'items' | 'fields'> {
  switch (type) {
    case 'array':
      return { items: requireSchema(reader) }
    case 'map':
      return { keys: requireSchema(reader), items: requireSchema(reader) }
    case 'struct': {
      const fields: Field[] = []
      for (let count = reader.varint(); count > 0; count--) {
        fields.push({ name: reader.string(), schema: requireSchema(reader) })
      }
      return { fields }
    }
    default:
      return {}
  }
}

function requireSchema(reader: FrameReader): Schema {
  const schema = reader.schema()
  if (schema === null) throw new ProtocolError('a schema lacks the schema of a part')
  return schema
}
