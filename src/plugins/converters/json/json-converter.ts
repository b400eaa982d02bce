import { jsonReader, plainValue } from '../../../java-compat/json/connect-json-reader.ts'
import { type JsonWriter, jsonWriter, plainJson } from '../../../java-compat/json/connect-json-writer.ts'
import { toBuffer } from '../../../sdk/bytes.ts'
import { defineConverter, field, type Schema, type SchemaAndValue, z } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import { asHeaderConverter } from '../header-converter.ts'
import { EnvelopeReader, HEAD, MIDDLE, type Plan, parse } from './json-envelope.ts'
import { schemaFromJson, schemaToText } from './schema-text.ts'

const config = z.object({
  'schemas.enable': field
    .boolean({
      doc: 'Include schemas within each of the serialized values and keys.',
      importance: 'HIGH',
      group: 'Schemas',
      order: 0,
      width: 'MEDIUM',
      displayName: 'Enable Schemas',
    })
    .default(true),
  'schemas.cache.size': field
    .int({
      doc: 'The maximum number of schemas that can be cached in this converter instance.',
      importance: 'HIGH',
      group: 'Schemas',
      order: 1,
      width: 'MEDIUM',
      displayName: 'Schema Cache Size',
      min: 1,
    })
    .default(1000),
  'schema.content': field
    .text({
      doc:
        'When set, this is used as the schema for all messages read, which then contain only the payload. ' +
        'Otherwise, the schema should be in the contents of each message.',
      importance: 'HIGH',
      group: 'Schemas',
      order: 2,
      width: 'MEDIUM',
      displayName: 'Schema Content',
    })
    .optional(),
  'decimal.format': field
    .oneOf(['BASE64', 'NUMERIC'], {
      doc: 'Format in which decimals are written: base64 of the unscaled value, or a JSON number. Both formats can be read.',
      importance: 'LOW',
      group: 'Serialization',
      order: 0,
      width: 'MEDIUM',
      displayName: 'Decimal Format',
    })
    .default('BASE64'),
  'replace.null.with.default': field
    .boolean({
      doc: 'Whether a null field gets its default value.',
      importance: 'LOW',
      group: 'Serialization',
      order: 1,
      width: 'MEDIUM',
      displayName: 'Replace null with default',
    })
    .default(true),
})

type BytesWriter = (value: unknown) => Buffer

const NOTHING: SchemaAndValue = { schema: null, value: null }

/** Reads and writes JSON, with or without the `{"schema":…,"payload":…}` envelope. */
export const jsonConverter = defineConverter({
  class: 'JsonConverter',
  aliases: ['org.apache.kafka.connect.json.JsonConverter'],
  version: SHIPPED_VERSION,
  summary: 'Converts to and from JSON, by default in an envelope that contains the schema.',
  notes: `
The output is identical to that of Apache Kafka's JsonConverter, with one exception: schemaless numbers have no type, so \`1.0\` is
written as \`1\` after it was read. Integers beyond 2^53 are preserved exactly.
`,
  config,
  create(settings) {
    const enveloped = settings['schemas.enable']
    const content = settings['schema.content']
    const nullsToDefaults = settings['replace.null.with.default']
    const toPlan = (schema: Schema): Plan => ({ schema, read: jsonReader(schema, { nullsToDefaults }) })

    const writers = new WeakMap<Schema, BytesWriter>()
    const writerOf = (schema: Schema) => {
      const known = writers.get(schema)
      if (known !== undefined) return known
      const payload = jsonWriter(schema, { decimals: settings['decimal.format'], nullsToDefaults })
      const made: BytesWriter = enveloped ? envelopeWriter(schema, payload) : (value) => Buffer.from(payload(value))
      writers.set(schema, made)
      return made
    }

    const envelopes = new EnvelopeReader(settings['schemas.cache.size'], toPlan)
    const fixed = content && enveloped ? toPlan(schemaFromJson(parse(content))) : undefined
    const read = (bytes: Buffer): SchemaAndValue => {
      if (fixed !== undefined) return { schema: fixed.schema, value: fixed.read(parse(bytes.toString())) }
      if (enveloped) return envelopes.read(bytes)
      return bytes.length === 0 ? NOTHING : { schema: null, value: plainValue(parse(bytes.toString())) }
    }

    return {
      fromConnect(_topic, schema, value) {
        if (schema !== null) return writerOf(schema)(value)
        if (value === null || value === undefined) return null
        return Buffer.from(enveloped ? `${HEAD}null${MIDDLE}${plainJson(value)}}` : plainJson(value))
      },
      toConnect: (_topic, bytes) => (bytes === null ? NOTHING : read(toBuffer(bytes))),
    }
  },
})

/** The schema is often ten times larger than the payload, so it is encoded once and then copied as bytes. */
function envelopeWriter(schema: Schema, payload: JsonWriter): BytesWriter {
  const head = Buffer.from(`${HEAD}${schemaToText(schema)}${MIDDLE}`)
  return (value) => {
    const text = `${payload(value)}}`
    const bytes = Buffer.allocUnsafe(head.length + Buffer.byteLength(text))
    head.copy(bytes)
    bytes.write(text, head.length)
    return bytes
  }
}

export const jsonHeaderConverter = asHeaderConverter(jsonConverter)
