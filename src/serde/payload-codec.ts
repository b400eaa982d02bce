import type { ParsedAvro } from '../formats/avro/avro-format.ts'
import { defineMember } from '../formats/define-member.ts'
import type { FieldMask, FieldTransform } from '../formats/field-transform.ts'
import type { FormatType, ParsedSchema } from '../formats/format.ts'
import type { MessageType } from '../formats/protobuf/codec.ts'
import type { SourcedSchema } from './schema-id.ts'
import { wrapSchemaErrors } from './serde-error.ts'
import { frameIndexes, unframeIndexes } from './wire-format.ts'

/** Encodes and decodes payloads: the data without the schema id and the message index. */
export type PayloadCodec = {
  encode(value: unknown): Uint8Array
  decode(payload: Buffer): unknown
  /**
   * Decodes with the writer's schema, before schema resolution or validation. The rules of a schema apply to this
   * value.
   */
  decodeWritten(payload: Buffer): unknown
  /** Converts the result of `decodeWritten` to that of `decode`. */
  resolve(written: unknown): unknown
  /** Returns a copy of the value with its fields transformed. */
  transformFields(value: unknown, transform: FieldTransform): unknown
  /** Returns a copy of the value without the values of masked fields. Throws a `SchemaError` if they cannot be found. */
  maskFields(value: unknown, masks: FieldMask): unknown
  /**
   * The JSON of a result of `decodeWritten`, as console consumers print it: bytes of Avro are a string with one character for each, as in
   * Avro's JSON encoding, and messages have protobuf's JSON. It may contain bigints, for `printExactJson`.
   */
  toJson(written: unknown): unknown
}

/** A `PayloadCodec`, with the bytes that precede its payloads (`head`) and a parser of them. */
export type DataCodec = PayloadCodec & {
  /** Record name for subject name strategies; undefined if the schema has none. */
  readonly recordName: string | undefined
  /** The bytes before the payload: for Protobuf, the index of the message. */
  readonly head: Uint8Array
  /** Splits the data after a schema id into the bytes of `head` and the payload; returns the codec of the payload. */
  split(data: Buffer): { readonly payload: Buffer; readonly codec: PayloadCodec }
}

export type CodecOptions = {
  /** Protobuf: full name of the message to write. Default: the first message. */
  readonly message?: string | undefined
  /** Avro: the reader's schema. Default: the writer's schema. */
  readonly readerSchema?: SourcedSchema | undefined
  /** JSON: validate values against the schema. */
  readonly validate: boolean
}

/** A schema format: parses its schemas and creates codecs for them. */
export type SerdeFormat = {
  parse(source: SourcedSchema, validation: 'strict' | 'loose'): ParsedSchema
  codec(source: SourcedSchema, options: CodecOptions): DataCodec
}

/** Loads the code of a format on first use. */
export function loadSerdeFormat(type: FormatType): Promise<SerdeFormat> {
  return FORMATS[type]()
}

const FORMATS: Readonly<Record<FormatType, () => Promise<SerdeFormat>>> = {
  async AVRO() {
    const [{ avroFormat }, { avroCodec }, { transformAvroFields }] = await Promise.all([
      import('../formats/avro/avro-format.ts'),
      import('../formats/avro/codec.ts'),
      import('../formats/avro/transform-fields.ts'),
    ])
    const parse = (source: SourcedSchema, validation: 'strict' | 'loose') =>
      wrapSchemaErrors('invalid_schema', () => avroFormat.parse(source, { validation }) as ParsedAvro)
    return {
      parse,
      codec(source, { readerSchema }) {
        const { schema, name } = parse(source, 'loose')
        const reader = readerSchema && parse(readerSchema, 'loose').schema
        const written = wrapSchemaErrors('invalid_schema', () => avroCodec(schema, { unions: 'plain' }))
        const resolving =
          reader && wrapSchemaErrors('invalid_schema', () => avroCodec(schema, { unions: 'plain', reader }))
        return withoutHead(name, {
          encode: written.encode,
          decode: (resolving ?? written).decode,
          decodeWritten: written.decode,
          resolve: (value) => (resolving ? resolving.decode(written.encode(value)) : value),
          transformFields: (value, transform) => transformAvroFields(schema, value, transform),
          maskFields: (value, masks) => transformAvroFields(schema, value, unchanged, masks),
          toJson: avroJson,
        })
      },
    }
  },

  async JSON() {
    const [{ jsonFormat }, { jsonCodec }, { jsonFieldTransformer }, { jsonFieldMasker }] = await Promise.all([
      import('../formats/json/json-schema-format.ts'),
      import('../formats/json/codec.ts'),
      import('../formats/json/transform-fields.ts'),
      import('../formats/json/mask-fields.ts'),
    ])
    const parse = (source: SourcedSchema, validation: 'strict' | 'loose') =>
      wrapSchemaErrors('invalid_schema', () => jsonFormat.parse(source, { validation }))
    return {
      parse,
      codec(source, { validate }) {
        const { name } = parse(source, 'loose')
        const { encode, decode, check } = wrapSchemaErrors('invalid_schema', () => jsonCodec(source, { validate }))
        let transformFields: PayloadCodec['transformFields'] | undefined
        let maskFields: PayloadCodec['maskFields'] | undefined
        return withoutHead(name, {
          encode,
          decode,
          decodeWritten: jsonCodec(source, { validate: false }).decode,
          resolve(value) {
            check(value)
            return value
          },
          transformFields(value, transform) {
            transformFields ??= jsonFieldTransformer(source)
            return transformFields(value, transform)
          },
          maskFields(value, masks) {
            maskFields ??= jsonFieldMasker(source)
            return maskFields(value, masks)
          },
          toJson: (value) => value,
        })
      },
    }
  },

  async PROTOBUF() {
    const [{ protobufFormat }, { ProtobufMessages }, { transformProtobufFields }] = await Promise.all([
      import('../formats/protobuf/protobuf-format.ts'),
      import('../formats/protobuf/codec.ts'),
      import('../formats/protobuf/transform-fields.ts'),
    ])
    return {
      parse: (source, validation) =>
        wrapSchemaErrors('invalid_schema', () => protobufFormat.parse(source, { validation })),
      codec: (source, { message }) =>
        wrapSchemaErrors('invalid_schema', () => {
          const messages = new ProtobufMessages(source)
          const written = messages.find(message)
          const tags = messages.tagsByName()
          const codecs = new Map<string, PayloadCodec>()
          const codecOf = (place: MessageType): PayloadCodec => {
            const { encode, decode, toJson } = messages.codec(place)
            return {
              encode,
              decode,
              decodeWritten: decode,
              resolve: (value) => value,
              transformFields: (value, transform) =>
                transformProtobufFields(messages.descriptor(place), value, tags, transform),
              maskFields: (value, masks) =>
                transformProtobufFields(messages.descriptor(place), value, tags, unchanged, masks),
              toJson,
            }
          }
          const codecAt = (indexes: readonly number[]): PayloadCodec => {
            const codec = codecs.get(indexes.join()) ?? codecOf(messages.at(indexes))
            codecs.set(indexes.join(), codec)
            return codec
          }
          return {
            ...codecAt(written.indexes),
            recordName: written.name,
            head: frameIndexes(written.indexes),
            split(bytes) {
              const { indexes, data } = unframeIndexes(bytes)
              return { payload: data, codec: codecAt(indexes) }
            },
          }
        }),
    }
  },
}

const unchanged: FieldTransform = (_field, _type, value) => value

function avroJson(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1')
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  if (Array.isArray(value)) return value.map(avroJson)
  if (typeof value !== 'object' || value === null) return value
  const copy: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) defineMember(copy, name, avroJson(member))
  return copy
}

/** Builds the codec of a format that has no message index. */
function withoutHead(recordName: string | undefined, codec: PayloadCodec): DataCodec {
  return { ...codec, recordName, head: new Uint8Array(0), split: (payload) => ({ payload, codec }) }
}
