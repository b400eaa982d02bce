import { javaRegex, javaReplacement, regexField } from '../../../java-compat/java-regex.ts'
import {
  type ConnectRecord,
  DataError,
  defineTransform,
  type Field,
  field,
  type Schema,
  STRING,
  type Transform,
  z,
} from '../../../sdk/index.ts'
import { adjustedSchemaName, NAME_ADJUSTMENTS } from '../../connectors/cdc/events/name-adjustment.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import {
  basicsOf,
  fieldOf,
  type Members,
  memberOf,
  membersOf,
  oncePerSchema,
  requireStruct,
  structOf,
} from '../struct-access.ts'
import { toDebeziumChange } from './envelope.ts'

const PURPOSE = 'Updating schema'

type Names = {
  readonly name: string
  /** Default of `key.field.name`. */
  readonly keyField: string
  readonly cacheSizeKey: string
}

/** Both names of the transform; Debezium renamed it and its keys in 3.6. */
export const logicalTopicRouters: readonly Transform[] = [
  router({
    name: 'ByLogicalTableRouter',
    keyField: '__dbz__physicalTableIdentifier',
    cacheSizeKey: 'logical.table.cache.size',
  }),
  router({
    name: 'ToLogicalTopicRouter',
    keyField: '__dbz__sourceIdentifier',
    cacheSizeKey: 'logical.destination.cache.size',
  }),
]

function configOf({ keyField, cacheSizeKey }: Names) {
  const low = { importance: 'LOW' } as const
  return z
    .object({
      'topic.regex': regexField('topic.regex', {
        doc: 'Regular expression that the complete name of the topic must match.',
        ...low,
      }),
      'topic.replacement': field.text({
        doc: 'Name of the new topic, with $1 or ${name} for groups.',
        nonEmpty: true,
        ...low,
      }),
      'key.enforce.uniqueness': field
        .boolean({ doc: 'Whether keys get a field that identifies the former topic.', ...low })
        .default(true),
      'key.field.regex': regexField('key.field.regex', {
        doc: 'Regular expression for the former topic, whose match identifies it. Default: its whole name.',
        ...low,
      }).optional(),
      'key.field.name': field.text({ doc: 'Name of that field.', ...low }).default(keyField),
      'key.field.replacement': field
        .text({ doc: 'Value of that field, with $1 or ${name} for groups of key.field.regex.', ...low })
        .optional(),
      'schema.name.adjustment.mode': field
        .oneOf(NAME_ADJUSTMENTS, {
          doc: 'How characters that Avro does not allow in names of schemas are replaced.',
          ...low,
        })
        .default('none'),
      ...cacheKey(cacheSizeKey),
    })
    .superRefine((settings, context) => {
      if (isEmpty(settings['key.field.regex']) || !isEmpty(settings['key.field.replacement'])) return
      const message = 'key.field.replacement must be non-empty if key.field.regex is set.'
      field.addProblem(context, 'key.field.replacement', message)
    })
}

/** Not part of the type of the configuration, because nothing reads it. */
function cacheKey(name: string): object {
  const doc = 'Without effect: schemas are cached as long as they are used.'
  return { [name]: field.int({ doc, importance: 'LOW' }).default(16) }
}

function isEmpty(text: unknown): boolean {
  return text === undefined || text === ''
}

function router(names: Names): Transform {
  return defineTransform({
    class: names.name,
    aliases: [`io.debezium.transforms.${names.name}`],
    version: SHIPPED_VERSION,
    summary: 'Sends the changes of several tables, such as shards, to one topic.',
    notes: `
The schemas of key and value are renamed after the new topic, and keys get a field with the former topic, so that equal keys of two tables
remain different. Records that are not change events are routed with an unchanged value. Null columns remain null also if they have a default,
as in Debezium from 3.6 on.
`,
    config: configOf(names),
    create(settings) {
      const topicOf = replacer(settings['topic.regex'], settings['topic.replacement'])
      const adjusted = (name: string) => adjustedSchemaName(name, settings['schema.name.adjustment.mode'])
      const identifierField = settings['key.enforce.uniqueness'] ? settings['key.field.name'] : undefined
      const { 'key.field.regex': keyRegex, 'key.field.replacement': keyReplacement } = settings
      const identifierOf =
        isEmpty(keyRegex) || keyReplacement === undefined
          ? (topic: string) => topic
          : replacer(keyRegex as string, keyReplacement)
      const identifier: Field | undefined =
        identifierField === undefined ? undefined : { name: identifierField, schema: STRING }
      const keySchemaOf = oncePerTopic((schema, topic) =>
        structOf({ ...unnamed(schema), name: adjusted(`${topic}.Key`) }, [
          ...(schema.fields ?? []),
          ...(identifier === undefined ? [] : [identifier]),
        ]),
      )
      const envelopeOf = oncePerTopic((schema, topic) => renamedEnvelope(schema, topic, adjusted))

      const keyOf = ({ key, keySchema, topic }: ConnectRecord, newTopic: string): Partial<ConnectRecord> => {
        if (key === null || key === undefined) return { key: null, keySchema: null }
        if (keySchema === null)
          throw new DataError(`Only Struct objects supported for [${PURPOSE}], found a key without a schema`)
        const members = membersOf(keySchema, requireStruct(key, keySchema, PURPOSE), false)
        return {
          keySchema: keySchemaOf(keySchema, newTopic),
          key: identifier === undefined ? members : { ...members, [identifier.name]: identifierOf(topic) ?? topic },
        }
      }

      return (record) => {
        const topic = topicOf(record.topic)
        // An empty name keeps the record where it was, as in Debezium.
        if (topic === undefined || topic === '') return record
        const routed = { ...record, topic, ...keyOf(record, topic) }
        const change = toDebeziumChange(record)
        if (change === undefined) return routed
        return {
          ...routed,
          valueSchema: envelopeOf(change.schema, topic),
          value: withDefaults(change.schema, change.envelope),
        }
      }
    },
  })
}

/** Undefined for a topic whose complete name does not match. */
function replacer(regex: string, replacement: string): (topic: string) => string | undefined {
  const whole = javaRegex(regex, { whole: true })
  const first = javaRegex(regex)
  const replace = javaReplacement(replacement)
  return (topic) => (whole.test(topic) ? first.replaceFirst(topic, replace) : undefined)
}

/** Caches a schema for each schema and topic, because converters compare schemas by identity. */
function oncePerTopic(make: (schema: Schema, topic: string) => Schema): (schema: Schema, topic: string) => Schema {
  const bySchema = oncePerSchema(() => new Map<string, Schema>())
  return (schema, topic) => {
    const byTopic = bySchema(schema)
    const made = byTopic.get(topic) ?? make(schema, topic)
    byTopic.set(topic, made)
    return made
  }
}

const ROWS: readonly string[] = ['before', 'after']

function renamedEnvelope(schema: Schema, topic: string, adjusted: (name: string) => string): Schema {
  const row = fieldOf(schema, 'before') ?? fieldOf(schema, 'after')
  const renamed =
    row === undefined
      ? undefined
      : structOf({ ...unnamed(row.schema), name: adjusted(`${topic}.Value`) }, row.schema.fields ?? [])
  return structOf(
    { ...unnamed(schema), name: adjusted(`${topic}.Envelope`) },
    (schema.fields ?? []).map((one) =>
      renamed !== undefined && ROWS.includes(one.name) ? { name: one.name, schema: renamed } : one,
    ),
  )
}

/** The metadata of a schema without its name and its default. */
function unnamed(schema: Schema): Omit<Schema, 'type'> {
  const { name: _, ...basics } = basicsOf(schema)
  return { ...basics, ...(schema.optional && { optional: true }) }
}

/** The members of the envelope, with defaults; those of its rows remain as they are. */
function withDefaults({ fields = [] }: Schema, envelope: Members): Members {
  return Object.fromEntries(fields.map((one) => [one.name, memberOf(envelope, one, !ROWS.includes(one.name))]))
}
