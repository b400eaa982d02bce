import { dateFromMs } from '../../java-compat/date-from-ms.ts'
import {
  ConfigError,
  type ConnectRecord,
  DataError,
  type Field,
  field,
  INT32,
  INT64,
  optional,
  type Schema,
  STRING,
  TIMESTAMP,
  z,
} from '../../sdk/index.ts'
import { sideTransforms } from './key-value-transforms.ts'
import {
  basicsOf,
  membersOf,
  oncePerSchema,
  replaceNullField,
  requireObject,
  requireStruct,
  structOf,
} from './struct-access.ts'

const PURPOSE = 'field insertion'
const OPTIONALITY =
  'Suffix with <code>!</code> to make this a required field, or <code>?</code> to keep it optional (the default).'

const name = (doc: string) => field.text({ doc }).optional()

/** A field to insert: its schema, and its value for a record. Undefined omits the field. */
type Insertion = {
  readonly field: Field
  readonly of: (record: ConnectRecord, isTyped: boolean) => unknown
}

/** Adds metadata of the record, or a static value, as fields. */
export const insertField = sideTransforms({
  name: 'InsertField',
  summary: "Inserts fields with the record's topic, partition, offset or timestamp, or with a static value.",
  config: z.object({
    'topic.field': name(`Field name for Kafka topic. ${OPTIONALITY}`),
    'partition.field': name(`Field name for Kafka partition. ${OPTIONALITY}`),
    'offset.field': name(`Field name for Kafka offset - only applicable to sink connectors.<br/>${OPTIONALITY}`),
    'timestamp.field': name(`Field name for record timestamp. ${OPTIONALITY}`),
    'static.field': name(`Field name for static data field. ${OPTIONALITY}`),
    'static.value': name('Static field value, if field name configured.'),
    // Kafka Connect's own description: its response for this transform is recorded in test/golden.
    'replace.null.with.default': replaceNullField({
      doc:
        'Whether to replace fields that have a default value and that are null to the default value. When set to ' +
        'true, the default value is used, otherwise null is used.',
    }),
  }),
  create(config) {
    const text = config['static.value']
    const insertions = [
      ...insertion(config['topic.field'], STRING, ({ topic }) => topic),
      ...insertion(config['partition.field'], INT32, ({ partition }) => partition),
      ...insertion(config['offset.field'], INT64, offsetOf),
      ...insertion(config['timestamp.field'], TIMESTAMP, timestampOf),
      ...insertion(config['static.field'], STRING, () => text),
    ]
    if (insertions.length === 0)
      throw new ConfigError([{ key: 'topic.field', message: 'No field insertion configured' }])
    if (config['static.field'] !== undefined && text === undefined) {
      const message = 'Invalid value null for configuration static.value: No value specified for static field'
      throw new ConfigError([{ key: 'static.value', message }])
    }
    const withDefault = config['replace.null.with.default']
    const extended = oncePerSchema((schema) =>
      structOf(basicsOf(schema), [...(schema.fields ?? []), ...insertions.map((one) => one.field)]),
    )
    const inserted = (record: ConnectRecord, isTyped: boolean) =>
      Object.fromEntries(
        insertions.flatMap((one) => {
          const value = one.of(record, isTyped)
          return value === undefined ? [] : [[one.field.name, value]]
        }),
      )
    return (side, record) => {
      const { schema, value } = side
      if (value === null || value === undefined) return side
      if (schema === null) {
        return { schema, value: { ...requireObject(value, PURPOSE), ...inserted(record, false) } }
      }
      const struct = requireStruct(value, schema, PURPOSE)
      const kept = membersOf(schema, struct, withDefault)
      return { schema: extended(schema), value: { ...kept, ...inserted(record, true) } }
    }
  },
})

function insertion(spec: string | undefined, schema: Schema, of: Insertion['of']): readonly Insertion[] {
  if (spec === undefined) return []
  const [, bare = '', mark] = /^(.*?)([!?])?$/s.exec(spec) ?? []
  return [{ field: { name: bare, schema: mark === '!' ? schema : optional(schema) }, of }]
}

function offsetOf(record: ConnectRecord): unknown {
  if ('offset' in record) return record.offset
  throw new DataError(`Only SinkRecord supported for [${PURPOSE}], found: org.apache.kafka.connect.source.SourceRecord`)
}

function timestampOf({ timestampMs }: ConnectRecord, isTyped: boolean): unknown {
  if (timestampMs === null) return undefined
  return isTyped ? dateFromMs(timestampMs) : timestampMs
}
