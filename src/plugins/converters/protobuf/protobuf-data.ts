import type { DescMessage } from '@bufbuild/protobuf'
import type { Codec, ParsedSchema, SchemaSource } from '../../../formats/format.ts'
import { type MessageType, ProtobufMessages } from '../../../formats/protobuf/codec.ts'
import { protobufFormat } from '../../../formats/protobuf/protobuf-format.ts'
import type { Schema } from '../../../sdk/index.ts'
import { frame, frameIndexes, unframeIndexes } from '../../../serde/wire-format.ts'
import type { SchemaData } from '../registry-converter.ts'
import { metasIn } from './field-meta.ts'
import { asItIs, filled } from './fill-defaults.ts'
import { type FromProtoOptions, messageKind, wrappedKind } from './message-kind.ts'
import type { ProtobufConverterSettings } from './protobuf-converter-config.ts'
import type { Kind } from './scalar-kinds.ts'
import { toProtoText, wrapperOf } from './to-proto.ts'

/** Converts between Protobuf messages and Connect's schemas and values. */
export function protobufData(settings: ProtobufConverterSettings): SchemaData<ParsedSchema> {
  const optionals = settings['optional.for.nullables']
  const wrappers = settings['wrapper.for.nullables']
  const unwraps = settings['wrapper.for.raw.primitives']
  const optionsOf = ({ text }: SchemaSource): FromProtoOptions => ({
    fullNames: settings['enhanced.protobuf.schema.support'],
    optionals,
    wrappers,
    unwraps,
    unionIndexes: settings['generate.index.for.unions'],
    enumsAsNumbers: settings['int.for.enums'],
    metas: metasIn(text),
  })
  return {
    name: 'ProtobufConverter',
    type: 'PROTOBUF',
    parse: (source, validation) => protobufFormat.parse(source, { validation }),
    toText: (schema) => toProtoText(schema, { optionals, wrappers }),
    writer(schema, { id, source, parsed }) {
      const messages = new ProtobufMessages(source)
      const place = messages.find(messageOf(schema, messages) ?? parsed.name)
      const fill = settings['ignore.default.for.nullables'] ? asItIs : filled(schema)
      const { write } = outermostKind(messages.descriptor(place), {
        ...optionsOf(source),
        unwraps: schema.type !== 'struct',
      })
      const codec = messages.codec(place)
      const head = frameIndexes(place.indexes)
      return (value) => frame(id, head, codec.encode(write(fill(value))))
    },
    reader(_parsed, source, version) {
      const messages = new ProtobufMessages(source)
      const options = optionsOf(source)
      const opened = new Map<string, ReturnType<typeof open>>()
      const open = (place: MessageType) => {
        const { schema, read } = outermostKind(messages.descriptor(place), options)
        const versioned: Schema = version === undefined ? schema : { ...schema, version }
        const codec: Codec = messages.codec(place)
        return { schema: versioned, read: (data: Uint8Array) => read(codec.decode(data)) }
      }
      return (bytes, start) => {
        const { indexes, data } = unframeIndexes(bytes.subarray(start))
        const key = indexes.join()
        const message = opened.get(key) ?? open(messages.at(indexes))
        opened.set(key, message)
        return { schema: message.schema, value: message.read(data) }
      }
    },
  }
}

/** Returns the struct's message, for a schema with several messages. */
function messageOf(schema: Schema, messages: ProtobufMessages): string | undefined {
  const name = schema.type === 'struct' ? schema.name : wrapperOf(schema)
  return messages.names().find((known) => known === name)
}

/** With `wrapper.for.raw.primitives`, a wrapper message at the top level becomes the scalar that it contains. */
function outermostKind(message: DescMessage, options: FromProtoOptions): Kind {
  const wrapped = options.unwraps ? wrappedKind(message) : undefined
  if (wrapped === undefined) return messageKind(message, options)
  const { schema, read, write } = wrapped
  return {
    schema,
    read: (wire) => read((wire as { readonly value: unknown }).value),
    write: (value) => ({ value: write(value) }),
  }
}
