import { avroFormat, type ParsedAvro } from '../../../formats/avro/avro-format.ts'
import { avroCodec } from '../../../formats/avro/codec.ts'
import { avroEncoder } from '../../../java-compat/avro/encoder.ts'
import { fromAvro } from '../../../java-compat/avro/from-avro.ts'
import { toAvroText } from '../../../java-compat/avro/to-avro.ts'
import type { SchemaData } from '../registry-converter.ts'
import type { AvroConverterSettings } from './avro-converter-config.ts'

/** Converts between Avro and Connect's schemas and values, by the mapping in `src/java-compat/avro`. */
export function avroData(settings: AvroConverterSettings): SchemaData<ParsedAvro> {
  const options = {
    metadata: settings['connect.meta.data'],
    enums: settings['enhanced.avro.schema.support'],
    shared: settings['generalized.sum.type.support'],
    scrub: settings['scrub.invalid.names'],
    optionalKeys: settings['allow.optional.map.keys'],
    keepSingletons: !settings['flatten.singleton.unions'],
    discardTypeDocs: settings['discard.type.doc.default'],
    keepNulls: settings['ignore.default.for.nullables'],
  }
  return {
    name: 'AvroConverter',
    type: 'AVRO',
    parse: (source, validation) => avroFormat.parse(source, { validation }) as ParsedAvro,
    toText: (schema) => toAvroText(schema, options),
    writer(schema, { parsed }) {
      const encode = avroEncoder(schema, parsed.schema, options)
      // A record that is only bytes is written without the length prefix, as by Confluent's serializer.
      if (parsed.schema.type === 'bytes') return (value) => encode(value) as Buffer
      const codec = avroCodec(parsed.schema)
      return (value) => codec.encode(encode(value))
    },
    reader(parsed, _source, version) {
      const { schema, decode } = fromAvro(parsed.schema, { ...options, version })
      if (parsed.schema.type === 'bytes') return (data) => ({ schema, value: decode(data) })
      const codec = avroCodec(parsed.schema)
      return (data) => ({ schema, value: decode(codec.decode(data)) })
    },
  }
}
