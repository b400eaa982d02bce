import { jsonWriter, plainJson, type WriteOptions } from '../../../java-compat/json/connect-json-writer.ts'
import { DataError, type Schema, type SinkRecord } from '../../../sdk/index.ts'
import type { DocumentTimestamp, SearchSinkSettings } from './search-sink-settings.ts'

/** Writes the value of a record as the JSON of a document. Throws a `DataError`. */
export type DocumentWriter = (record: SinkRecord) => string

export function documentWriter({
  compactsMaps,
  ignoresSchema,
  timestamp,
}: Pick<SearchSinkSettings, 'compactsMaps' | 'ignoresSchema' | 'timestamp'>): DocumentWriter {
  const mapped = cachedWriter({
    decimals: 'NUMERIC',
    nullsToDefaults: true,
    entries: 'objects',
    isObject: ({ keys }) => compactsMaps && keys?.type === 'string',
  })
  // Without a mapping, values are those of Kafka's JSON converter.
  const unmapped = cachedWriter({ decimals: 'BASE64', nullsToDefaults: true })
  const write: DocumentWriter = ({ value, valueSchema, topic }) => {
    const withSchema = ignoresSchema(topic) ? unmapped : mapped
    const text = valueSchema === null ? plainJson(value) : withSchema(valueSchema, value)
    if (!text.startsWith('{')) throw new DataError('the value is not a JSON object, so it cannot be a document')
    return text
  }
  return timestamp === undefined ? write : timestampWriter(write, timestamp)
}

function cachedWriter(options: WriteOptions): (schema: Schema, value: unknown) => string {
  const writers = new WeakMap<Schema, (value: unknown) => string>()
  return (schema, value) => {
    const write = writers.get(schema) ?? jsonWriter(schema, options)
    writers.set(schema, write)
    return write(value)
  }
}

const TIMESTAMP_FIELD = '@timestamp'

/** A data stream accepts only documents with a timestamp. */
function timestampWriter(write: DocumentWriter, { fields, keepsExisting }: DocumentTimestamp): DocumentWriter {
  const withoutTimestamp = timestampRemover()
  return (record) => {
    const text = write(record)
    const document = JSON.parse(text) as Readonly<Record<string, unknown>>
    const field = fields.find((name) => Object.hasOwn(document, name))
    const isKept = field === TIMESTAMP_FIELD || (keepsExisting && Object.hasOwn(document, TIMESTAMP_FIELD))
    if (isKept || (fields.length > 0 && field === undefined)) return text
    const timestamp = field === undefined ? record.timestampMs : String(document[field])
    if (timestamp === null) throw new DataError(`the record has no timestamp for the field ${TIMESTAMP_FIELD}`)
    const member = `"${TIMESTAMP_FIELD}":${JSON.stringify(timestamp)}`
    // A document with two members of the same name is malformed.
    const rest = Object.hasOwn(document, TIMESTAMP_FIELD) ? write(withoutTimestamp(record)) : text
    return rest === '{}' ? `{${member}}` : `{${member},${rest.slice(1)}`
  }
}

function timestampRemover(): (record: SinkRecord) => SinkRecord {
  const schemas = new WeakMap<Schema, Schema>()
  const without = (schema: Schema) => {
    const known = schemas.get(schema) ?? {
      ...schema,
      fields: (schema.fields ?? []).filter(({ name }) => name !== TIMESTAMP_FIELD),
    }
    schemas.set(schema, known)
    return known
  }
  return (record) => {
    const { value, valueSchema } = record
    if (value instanceof Map)
      return { ...record, value: new Map([...value].filter(([key]) => key !== TIMESTAMP_FIELD)) }
    const { [TIMESTAMP_FIELD]: _, ...rest } = value as Readonly<Record<string, unknown>>
    return { ...record, value: rest, valueSchema: valueSchema === null ? null : without(valueSchema) }
  }
}
