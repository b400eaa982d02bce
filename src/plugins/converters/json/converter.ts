import { DataError, defineConverter, field, type Schema, type SchemaAndValue, z } from '../../../sdk/index.ts'
import { toBuffer } from '../../bytes.ts'
import { SHIPPED_VERSION } from '../../version.ts'
import { BoundedMap } from '../bounded-map.ts'
import { type Exact, type JsonReader, jsonReader, parseExact, plainValue } from './read.ts'
import { schemaFromJson, schemaToText } from './schema-text.ts'
import { type JsonWriter, jsonWriter, plainJson } from './write.ts'

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
        'When set, this is used as the schema for all messages read, which then hold the payload alone. ' +
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
      doc: 'How decimals are written: base64 of the unscaled number, or as a JSON number. Both are always read.',
      importance: 'LOW',
      group: 'Serialization',
      order: 0,
      width: 'MEDIUM',
      displayName: 'Decimal Format',
    })
    .default('BASE64'),
  'replace.null.with.default': field
    .boolean({
      doc: 'Whether to replace fields that have a default value and that are null to the default value.',
      importance: 'LOW',
      group: 'Serialization',
      order: 1,
      width: 'MEDIUM',
      displayName: 'Replace null with default',
    })
    .default(true),
})

const NOTHING: SchemaAndValue = { schema: null, value: null }
const HEAD = '{"schema":'
const MIDDLE = ',"payload":'

/** JSON with or without the `{"schema":…,"payload":…}` envelope. */
export const jsonConverter = defineConverter({
  class: 'JsonConverter',
  aliases: ['org.apache.kafka.connect.json.JsonConverter'],
  version: SHIPPED_VERSION,
  summary: 'Reads and writes JSON, by default in an envelope that carries the schema.',
  notes: `
Bytes are equal to those of Apache Kafka's JsonConverter, with one exception: numbers of records without a schema have no
type, so \`1.0\` is read and written again as \`1\`. Whole numbers beyond 2^53 are kept exactly.
`,
  config,
  create(settings) {
    const enveloped = settings['schemas.enable']
    const content = settings['schema.content']
    const cacheSize = settings['schemas.cache.size']
    const nullsToDefaults = settings['replace.null.with.default']
    const toPlan = (schema: Schema): Plan => ({ schema, read: jsonReader(schema, { nullsToDefaults }) })

    const writers = new WeakMap<Schema, JsonWriter>()
    const writerOf = (schema: Schema) => {
      const known = writers.get(schema)
      if (known !== undefined) return known
      const payload = jsonWriter(schema, { decimals: settings['decimal.format'], nullsToDefaults })
      const head = `${HEAD}${schemaToText(schema)}${MIDDLE}`
      const made: JsonWriter = enveloped ? (value) => `${head}${payload(value)}}` : payload
      writers.set(schema, made)
      return made
    }

    const plans = new BoundedMap<string, Plan>(cacheSize)
    const planOf = (schemaText: string, parse: () => unknown) =>
      plans.get(schemaText) ?? plans.set(schemaText, toPlan(schemaFromJson(parse())))
    const toConnect = enveloped
      ? content
        ? fixedReader(toPlan(parseContent(content)))
        : envelopeReader(planOf)
      : schemaless

    return {
      fromConnect(_topic, schema, value) {
        if (schema !== null) return Buffer.from(writerOf(schema)(value))
        if (value === null || value === undefined) return null
        return Buffer.from(enveloped ? `${HEAD}null${MIDDLE}${plainJson(value)}}` : plainJson(value))
      },
      toConnect: (_topic, bytes) => (bytes === null ? NOTHING : toConnect(toBuffer(bytes).toString())),
    }
  },
})

/** A schema with the reader made for it. */
type Plan = { readonly schema: Schema; readonly read: JsonReader }
type Read = (text: string) => SchemaAndValue

const schemaless: Read = (text) => (text === '' ? NOTHING : { schema: null, value: plainValue(parse(text)) })

function fixedReader({ schema, read }: Plan): Read {
  return (text) => ({ schema, value: read(parse(text)) })
}

/** Envelopes of one topic begin with the same text, so that the text of the schema finds what was made for it. */
function envelopeReader(planOf: (schemaText: string, parse: () => unknown) => Plan): Read {
  return (text) => {
    const quick = splitEnvelope(text)
    if (quick !== undefined) {
      const { schema, read } = planOf(quick.schemaText, () => parse(quick.schemaText))
      return { schema, value: read(quick.payload) }
    }
    const envelope = text === '' ? null : parse(text)
    if (!isEnvelope(envelope)) {
      throw new DataError(
        'JsonConverter with schemas.enable requires "schema" and "payload" fields and may not contain additional fields. ' +
          'If you are trying to deserialize plain JSON data, set schemas.enable=false in your converter configuration.',
      )
    }
    if (envelope.schema === null) return { schema: null, value: plainValue(envelope.payload) }
    const { schema, read } = planOf(JSON.stringify(envelope.schema), () => envelope.schema)
    return { schema, value: read(envelope.payload) }
  }
}

/** For the order in which all writers put the two members; undefined when the text may mean something else. */
function splitEnvelope(text: string): { schemaText: string; payload: Exact } | undefined {
  const middle = text.indexOf(MIDDLE)
  if (middle < 0 || !text.startsWith(`${HEAD}{`) || !text.endsWith('}')) return undefined
  try {
    return { schemaText: text.slice(HEAD.length, middle), payload: parseExact(text.slice(middle + MIDDLE.length, -1)) }
  } catch {
    return undefined
  }
}

function isEnvelope(json: Exact): json is { readonly schema: Exact; readonly payload: Exact } {
  if (typeof json !== 'object' || json === null) return false
  return Object.keys(json).length === 2 && 'schema' in json && 'payload' in json
}

function parse(text: string): Exact {
  try {
    return parseExact(text)
  } catch (error) {
    const reason = (error as Error).message
    throw new DataError(`Converting byte[] to Kafka Connect data failed due to serialization error: ${reason}`, {
      cause: error,
    })
  }
}

function parseContent(content: string): Schema {
  return schemaFromJson(parse(content))
}
