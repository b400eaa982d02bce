import type { ParsedAvro } from '../formats/avro/avro.ts'
import type { Codec, ParsedSchema, SchemaType } from '../formats/format.ts'
import { checked } from './error.ts'
import type { SourcedSchema } from './schema-id.ts'
import { frameIndexes, unframeIndexes } from './wire-format.ts'

/** Between values and what stands behind the id. */
export type DataCodec = Codec & {
  /** What subject name strategies use. */
  readonly recordName: string | undefined
}

export type CodecOptions = {
  /** Protobuf: full name of the message that is written. Default: the first one. */
  readonly message?: string | undefined
  /** Avro: what data is read as, when that is not what it was written as. */
  readonly reader?: SourcedSchema | undefined
  /** JSON: refuse values that the schema does. */
  readonly validate: boolean
}

/** One language: how its schemas are read, and the data of one of them. */
export type Language = {
  parse(source: SourcedSchema, validation: 'strict' | 'loose'): ParsedSchema
  codec(source: SourcedSchema, options: CodecOptions): DataCodec
}

/** Each language's code is loaded when its first schema comes. */
export function loadLanguage(type: SchemaType): Promise<Language> {
  return LANGUAGES[type]()
}

const LANGUAGES: Readonly<Record<SchemaType, () => Promise<Language>>> = {
  async AVRO() {
    const [{ avroFormat }, { avroCodec }] = await Promise.all([
      import('../formats/avro/avro.ts'),
      import('../formats/avro/codec.ts'),
    ])
    const parse = (source: SourcedSchema, validation: 'strict' | 'loose') =>
      checked('invalid_schema', () => avroFormat.parse(source, { validation }) as ParsedAvro)
    return {
      parse,
      codec(source, { reader }) {
        const { schema, name } = parse(source, 'loose')
        const read = reader && parse(reader, 'loose').schema
        const codec = checked('invalid_schema', () =>
          avroCodec(schema, { unions: 'plain', ...(read ? { reader: read } : {}) }),
        )
        return { ...codec, recordName: name }
      },
    }
  },

  async JSON() {
    const [{ jsonFormat }, { jsonCodec }] = await Promise.all([
      import('../formats/json/json.ts'),
      import('../formats/json/codec.ts'),
    ])
    const parse = (source: SourcedSchema, validation: 'strict' | 'loose') =>
      checked('invalid_schema', () => jsonFormat.parse(source, { validation }))
    return {
      parse,
      codec(source, { validate }) {
        const { name } = parse(source, 'loose')
        return { ...checked('invalid_schema', () => jsonCodec(source, { validate })), recordName: name }
      },
    }
  },

  async PROTOBUF() {
    const [{ protobufFormat }, { ProtobufMessages }] = await Promise.all([
      import('../formats/protobuf/protobuf.ts'),
      import('../formats/protobuf/codec.ts'),
    ])
    return {
      parse: (source, validation) => checked('invalid_schema', () => protobufFormat.parse(source, { validation })),
      codec: (source, { message }) =>
        checked('invalid_schema', () => {
          const messages = new ProtobufMessages(source)
          const written = messages.find(message)
          const codecs = new Map<string, Codec>()
          const codecAt = (indexes: readonly number[]) => {
            const known = codecs.get(indexes.join())
            if (known) return known
            const codec = messages.codec(messages.at(indexes))
            codecs.set(indexes.join(), codec)
            return codec
          }
          const head = frameIndexes(written.indexes)
          return {
            recordName: written.name,
            encode: (value) => Buffer.concat([head, codecAt(written.indexes).encode(value)]),
            decode(bytes) {
              const { indexes, data } = unframeIndexes(bytes as Buffer)
              return codecAt(indexes).decode(data)
            },
          }
        }),
    }
  },
}
