import { avroFormat, type ParsedAvro } from '../../../formats/avro/avro-format.ts'
import { avroCodec } from '../../../formats/avro/codec.ts'
import { ByteInput, UNREADABLE } from '../../../java-compat/avro/byte-input.ts'
import { ByteOutput } from '../../../java-compat/avro/byte-output.ts'
import { avroEncoder } from '../../../java-compat/avro/encoder.ts'
import { fromAvro } from '../../../java-compat/avro/from-avro.ts'
import { avroRowWriter } from '../../../java-compat/avro/row-writer.ts'
import { toAvroText } from '../../../java-compat/avro/to-avro.ts'
import { type ValueReader, valueReader } from '../../../java-compat/avro/value-reader.ts'
import { type ValueWriter, valueWriter } from '../../../java-compat/avro/value-writer.ts'
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
      const encode = avroEncoder(schema, parsed.schema, options)
      // A record that is only bytes is written without the length prefix, as by Confluent's serializer.
      if (parsed.schema.type === 'bytes') return (value) => frame(id, encode(value) as Buffer)
      const codec = avroCodec(parsed.schema)
      const write = valueWriter(schema, parsed.schema, options)
      return (value) => (write && writeFramed(id, write, value)) ?? frame(id, codec.encode(encode(value)))
    },
    rowWriter(schema, { id, parsed }) {
      const write = avroRowWriter(schema, parsed.schema, options)
      return write && ((batch, row) => (write(startFrame(id), batch, row) ? output.take() : undefined))
    },
    reader(parsed, _source, version) {
      const { schema, decode } = fromAvro(parsed.schema, { ...options, version })
      if (parsed.schema.type === 'bytes') return (bytes, start) => ({ schema, value: decode(bytes.subarray(start)) })
      const codec = avroCodec(parsed.schema)
      const read = valueReader(parsed.schema, schema)
      return (bytes, start) => {
        const value = read && readWhole(read, bytes, start)
        return { schema, value: value === undefined ? decode(codec.decode(bytes.subarray(start))) : value }
      }
    },
  }
}

const output = new ByteOutput()
const input = new ByteInput()

/** Returns undefined for a value that the writer does not write. */
function writeFramed(id: number, write: ValueWriter, value: unknown): Buffer | undefined {
  return write(startFrame(id), value) ? output.take() : undefined
}

function startFrame(id: number): ByteOutput {
  // Discards what is left of a value that was not written.
  output.reset()
  output.byte(0)
  output.int32(id)
  return output
}

/** Returns undefined for bytes that the reader does not read. */
function readWhole(read: ValueReader, bytes: Buffer, start: number): unknown {
  input.open(bytes, start)
  try {
    const value = read(input)
    return input.isAtEnd ? value : undefined
  } catch (error) {
    if (error === UNREADABLE) return undefined
    throw error
  } finally {
    input.open(NOTHING, 0)
  }
}

const NOTHING = Buffer.alloc(0)
