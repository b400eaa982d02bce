import { BinaryWriter } from '../../../common/binary-writer.ts'
import { avroFormat, type ParsedAvro } from '../../../formats/avro/avro-format.ts'
import { AvroInput } from '../../../formats/avro/avro-input.ts'
import { type AvroWrite, avroBytes } from '../../../formats/avro/writer.ts'
import { fromAvro } from '../../../java-compat/avro/from-avro.ts'
import { toAvroText } from '../../../java-compat/avro/to-avro.ts'
import { valueWriter } from '../../../java-compat/avro/value-writer.ts'
import { frame } from '../../../serde/wire-format.ts'
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
    writer(schema, { id, parsed }) {
      const write = valueWriter(schema, parsed.schema, options)
      // A record that is only bytes is written without the length prefix, as by Confluent's serializer.
      if (parsed.schema.type === 'bytes') return (value) => frame(id, new AvroInput(avroBytes(write, value)).sized())
      const writeFramed: AvroWrite = (to, value) => {
        to.uint8(0).int32(id)
        write(to, value)
      }
      return (value) => avroBytes(writeFramed, value)
    },
    reader(parsed, _source, version) {
      const { schema, read } = fromAvro(parsed.schema, { ...options, version })
      const isBytes = parsed.schema.type === 'bytes'
      return (bytes, start) => {
        const from = isBytes ? new AvroInput(withLength(bytes.subarray(start))) : new AvroInput(bytes, start)
        const value = read(from)
        from.expectEnd()
        return { schema, value }
      }
    },
  }
}

function withLength(bytes: Uint8Array): Buffer {
  return new BinaryWriter(bytes.length + 5).zigzag(bytes.length).raw(bytes).bytes
}
