import type { AvroCodec } from '../../../java-compat/avro/avro-file.ts'
import type { ToAvroOptions } from '../../../java-compat/avro/to-avro.ts'
import {
  DataError,
  INT64,
  map,
  optional,
  type Schema,
  type SinkRecord,
  STRING,
  struct,
  valueLabel,
} from '../../../sdk/index.ts'
import { delimitedFormat, type FileFormat, fileFormat, jsonText } from './file-format.ts'
import type { RecordPart } from './record-part.ts'

export const OUTPUT_FIELDS = ['key', 'value', 'offset', 'timestamp', 'headers'] as const
export type OutputField = (typeof OUTPUT_FIELDS)[number]
export const OUTPUT_TYPES = ['csv', 'json', 'jsonl', 'avro'] as const

export type OutputSettings = {
  readonly type: (typeof OUTPUT_TYPES)[number]
  readonly fields: readonly OutputField[]
  /** With CSV: whether values are base64. */
  readonly encodesValue: boolean
  /** Whether a single field is wrapped in an object. Ignored by CSV. */
  readonly hasEnvelope: boolean
  readonly avro: { readonly codec: AvroCodec; readonly options: ToAvroOptions }
}

/** Records in the formats of Aiven's connectors: several fields of a record, in a line or an object. */
export type RecordOutput = {
  readonly part: RecordPart
  /** The schema of a record that its file must have; null if records of all schemas fit. */
  readonly schemaOf: (record: SinkRecord) => Schema | null
}

export function recordOutput(settings: OutputSettings): RecordOutput {
  const { type, fields, hasEnvelope, encodesValue } = settings
  switch (type) {
    case 'csv':
      return lines(delimitedFormat({ between: '\n' }), (record) => csvLine(record, fields, encodesValue))
    case 'json':
      return lines(delimitedFormat({ start: '[\n', between: ',\n', end: '\n]' }), jsonLines(fields, hasEnvelope))
    case 'jsonl':
      return lines(delimitedFormat({ between: '\n' }), jsonLines(fields, hasEnvelope))
    case 'avro':
      return avroOutput(settings)
  }
}

function lines(format: FileFormat, lineOf: (record: SinkRecord) => Buffer): RecordOutput {
  return {
    part: { extension: '', format, ofTombstones: true, of: (record) => ({ value: lineOf(record), schema: null }) },
    schemaOf: () => null,
  }
}

const COMMA = Buffer.from(',')
const EMPTY = Buffer.alloc(0)

function csvLine(record: SinkRecord, fields: readonly OutputField[], encodesValue: boolean): Buffer {
  const cells = fields.flatMap((name, at) => {
    const cell = csvCell(record, name, encodesValue)
    return at === 0 ? [cell] : [COMMA, cell]
  })
  return cells.length === 1 ? cells[0]! : Buffer.concat(cells)
}

function csvCell(
  { key, value, timestampMs, origin, headers }: SinkRecord,
  field: OutputField,
  encodes: boolean,
): Buffer {
  switch (field) {
    case 'key':
      return base64(
        typeof key === 'string' ? Buffer.from(key) : bytesOf(key, 'key', 'ByteArrayConverter or StringConverter'),
      )
    case 'value': {
      const bytes = bytesOf(value, 'value', 'ByteArrayConverter')
      return encodes ? base64(bytes) : bytes
    }
    case 'offset':
      return Buffer.from(String(origin.offset))
    case 'timestamp':
      return timestampMs === null ? EMPTY : Buffer.from(String(timestampMs))
    case 'headers':
      return Buffer.concat(
        headers.flatMap((header) => [
          base64(Buffer.from(header.key)),
          Buffer.from(':'),
          base64(bytesOf(header.value, 'header', 'ByteArrayConverter')),
          Buffer.from(';'),
        ]),
      )
  }
}

function bytesOf(value: unknown, part: 'key' | 'value' | 'header', converters: string): Buffer {
  if (value === null || value === undefined) return EMPTY
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  throw new DataError(
    `format.output.type=csv needs bytes, got ${valueLabel(value)}: use ${converters} as ${part}.converter, or another format`,
  )
}

function base64(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('base64'))
}

function jsonLines(fields: readonly OutputField[], hasEnvelope: boolean): (record: SinkRecord) => Buffer {
  const text = jsonText('BASE64')
  const textOf = (
    { key, keySchema, value, valueSchema, origin, timestampMs, headers }: SinkRecord,
    field: OutputField,
  ) => {
    switch (field) {
      case 'key':
        return isAbsent(key) ? 'null' : text(key, keySchema)
      case 'value':
        return isAbsent(value) ? 'null' : text(value, valueSchema)
      case 'offset':
        return String(origin.offset)
      case 'timestamp':
        return timestampMs === null ? 'null' : `"${new Date(timestampMs).toISOString().replace('.000Z', 'Z')}"`
      case 'headers':
        return `[${headers
          .map((header) => `{"key":${text(header.key, null)},"value":${text(header.value, header.schema)}}`)
          .join(',')}]`
    }
  }
  if (!hasEnvelope && fields.length === 1) return (record) => Buffer.from(textOf(record, fields[0]!))
  return (record) => Buffer.from(`{${fields.map((field) => `"${field}":${textOf(record, field)}`).join(',')}}`)
}

function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined
}

function avroOutput({ fields, hasEnvelope, avro }: OutputSettings): RecordOutput {
  const format: FileFormat = { ...fileFormat({ format: 'avro', ...avro }), isCompressible: true }
  const [single] = fields
  const isBare = !hasEnvelope && fields.length === 1
  const envelopes = new SchemaCache((key, value, header) =>
    struct(
      'io.aiven.avro.output.schema.connector_records',
      Object.fromEntries(
        fields.map((field) => [
          field,
          { key, value, header, offset: INT64, timestamp: INT64, headers: optional(map(STRING, header)) }[field],
        ]),
      ),
    ),
  )
  const schemaOf = (record: SinkRecord): Schema => {
    const own = isBare ? fieldSchema(record, single!) : undefined
    if (own?.type === 'struct') return own
    const { key, value, header } = schemasOf(record, fields)
    return envelopes.get(key, value, header)
  }
  const of = (record: SinkRecord) => {
    const schema = schemaOf(record)
    if (isBare && fieldSchema(record, single!) === schema) return { value: fieldOf(record, single!), schema }
    return { value: Object.fromEntries(fields.map((field) => [field, fieldOf(record, field)])), schema }
  }
  return { part: { extension: '', format, ofTombstones: true, of }, schemaOf }
}

function fieldSchema({ keySchema, valueSchema }: SinkRecord, field: OutputField): Schema | undefined {
  return (field === 'key' ? keySchema : field === 'value' ? valueSchema : undefined) ?? undefined
}

function fieldOf({ key, value, origin, timestampMs, headers }: SinkRecord, field: OutputField): unknown {
  switch (field) {
    case 'key':
      return key
    case 'value':
      return value
    case 'offset':
      return origin.offset
    case 'timestamp':
      return timestampMs
    case 'headers':
      return headers.length === 0 ? null : new Map(headers.map((header) => [header.key, header.value]))
  }
}

/** The schemas of the parts that are stored. All headers of a record must have one schema, because they are the values of a map. */
function schemasOf({ keySchema, valueSchema, headers }: SinkRecord, fields: readonly OutputField[]) {
  const needed = (field: 'key' | 'value', schema: Schema | null): Schema => {
    if (!fields.includes(field)) return STRING
    if (schema !== null) return schema
    throw new DataError(`a ${field} without a schema cannot be written as Avro: use a converter with schemas, or jsonl`)
  }
  const [first] = headers
  const header = first === undefined || !fields.includes('headers') ? STRING : first.schema
  if (header === null) throw new DataError('a header without a schema cannot be written as Avro')
  return { key: needed('key', keySchema), value: needed('value', valueSchema), header }
}

/** Creates one schema for each combination of three, so that schemas can be compared by identity. */
class SchemaCache {
  readonly #create: (key: Schema, value: Schema, header: Schema) => Schema
  readonly #known = new WeakMap<Schema, WeakMap<Schema, WeakMap<Schema, Schema>>>()

  constructor(create: (key: Schema, value: Schema, header: Schema) => Schema) {
    this.#create = create
  }

  get(key: Schema, value: Schema, header: Schema): Schema {
    const byHeader = entry(
      entry(this.#known, key, () => new WeakMap()),
      value,
      () => new WeakMap<Schema, Schema>(),
    )
    return entry(byHeader, header, () => this.#create(key, value, header))
  }
}

function entry<Value extends object>(known: WeakMap<Schema, Value>, key: Schema, create: () => Value): Value {
  const found = known.get(key) ?? create()
  known.set(key, found)
  return found
}
