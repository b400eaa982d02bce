import { javaRegex, javaReplacement, regexField } from '../../../java-compat/java-regex.ts'
import {
  type ConnectRecord,
  DataError,
  defineTransform,
  type Field,
  field,
  type RecordHeader,
  type Schema,
  type SchemaAndValue,
  STRING,
  z,
} from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import { inferredJson } from '../inferred-json.ts'
import { fieldOf, type Members, memberOf, oncePerSchema, requireStruct, structOf } from '../struct-access.ts'
import { type DebeziumChange, memberOfType, rowOf, toDebeziumChange } from './envelope.ts'

const PLACEMENTS = ['header', 'envelope', 'partition'] as const
/** A column that is placed outside of the payload. */
type Placed = { readonly name: string; readonly placement: (typeof PLACEMENTS)[number]; readonly as: string }

const column = (doc: string, fallback: string) => field.text({ doc, importance: 'LOW' }).default(fallback)

const config = z.object({
  'table.field.event.id': column('The column with the id of the event, which becomes the header id.', 'id'),
  'table.field.event.key': column('The column with the key of the record.', 'aggregateid'),
  'table.field.event.type': column('The column with the type of the event. Has no effect.', 'type'),
  'table.field.event.payload': column('The column with the payload.', 'payload'),
  'table.field.event.timestamp': field
    .text({ doc: 'The column with the timestamp of the record. Default: the time at which the change was read.' })
    .optional(),
  'table.fields.additional.placement': field
    .parsed(
      field.list({
        doc: 'Additional columns and their placement: <code>column:header</code>, <code>column:envelope:name</code>, <code>column:partition</code>.',
        importance: 'HIGH',
      }),
      parsePlacements,
    )
    .prefault(''),
  'table.fields.additional.error.on.missing': field
    .boolean({ doc: 'Whether a missing additional column is an error.' })
    .default(true),
  'table.field.event.schema.version': field
    .text({ doc: 'The column with the version of the value schema.', importance: 'LOW' })
    .optional(),
  'table.op.invalid.behavior': field
    .oneOf(['warn', 'error', 'fatal'], {
      doc: 'How updates in the table are handled: warn and error drop and log them, fatal fails the task.',
    })
    .default('warn'),
  'table.expand.json.payload': field
    .boolean({
      doc: 'Whether to parse a payload that is JSON into a value with a schema. Any other payload remains unchanged.',
    })
    .default(false),
  'table.json.payload.null.behavior': field
    .oneOf(['ignore', 'optional_bytes'], {
      doc: 'Schema of null members of the JSON: omitted, or optional bytes.',
    })
    .default('ignore'),
  'route.by.field': field.text({ doc: 'The column that determines the topic.' }).default('aggregatetype'),
  'route.topic.regex': regexField('route.topic.regex', {
    doc: 'Regular expression that matches the value of that column.',
    importance: 'LOW',
  }).default('(?<routedByValue>.*)'),
  'route.topic.replacement': field
    .text({ doc: 'Name of the topic.', importance: 'HIGH' })
    .default('outbox.event.${routedByValue}'),
  'route.tombstone.on.empty.payload': field
    .boolean({ doc: 'Whether an empty payload becomes a tombstone.', importance: 'HIGH' })
    .default(false),
})
type Config = z.infer<typeof config>

/** Converts rows of an outbox table to events. */
export const eventRouter = defineTransform({
  class: 'EventRouter',
  aliases: ['io.debezium.transforms.outbox.EventRouter'],
  version: SHIPPED_VERSION,
  summary:
    'Converts rows that Debezium reads from an outbox table to events. The row determines the topic of its event.',
  notes: `
Deletes in the table, tombstones and, unless \`table.op.invalid.behavior\` is \`fatal\`, updates are dropped. Records that are not change events
pass unchanged. The tracing of Debezium's transform is not supported.
`,
  config,
  create(settings) {
    const eventOf = eventMaker(settings)
    return (record) => {
      if (record.value === null || record.value === undefined) return null
      const change = toDebeziumChange(record)
      if (change === undefined) return record
      const operation = memberOfType(change.schema, change.envelope, 'op', 'string')
      if (operation === 'd') return null
      if (operation !== 'u') return { ...record, ...eventOf(change, record.headers) }
      if (settings['table.op.invalid.behavior'] !== 'fatal') return null
      throw new DataError(`Unexpected update message received ${String(record.key)}, fail.`)
    }
  },
})

type Row = { readonly schema: Schema; readonly value: Members }

function eventMaker(settings: Config) {
  const placed = settings['table.fields.additional.placement']
  const topicOf = topicNamer(settings)
  const sideOf = placed.some(({ placement }) => placement === 'envelope')
    ? envelopeMaker(settings)
    : (payload: SchemaAndValue) => payload
  return (change: DebeziumChange, headers: readonly RecordHeader[]): Partial<ConnectRecord> => {
    const after = rowOf(change, 'after')
    const row: Row = { schema: after.schema, value: requireStruct(after.value, after.schema, 'Read Outbox Event') }
    const payload = payloadOf(row, settings)
    const topic = memberOfType(row.schema, row.value, settings['route.by.field'], 'string') as string
    const key = columnOf(row, settings['table.field.event.key'])
    const isTombstone = settings['route.tombstone.on.empty.payload'] && isEmpty(payload.value)
    const { schema, value } = isTombstone ? { schema: null, value: null } : sideOf(payload, row, topic)
    return {
      topic: topicOf(topic),
      partition: partitionOf(row, placed),
      keySchema: key.schema ?? STRING,
      key: key.value,
      valueSchema: schema,
      value,
      timestampMs: timestampOf(row, change, settings['table.field.event.timestamp']),
      headers: [
        ...headers,
        { key: 'id', ...columnOf(row, settings['table.field.event.id']) },
        ...headersOf(row, settings),
      ],
    }
  }
}

function columnOf({ schema, value }: Row, name: string): SchemaAndValue {
  const found = fieldOf(schema, name)
  if (found === undefined) throw new DataError(`${name} is not a valid field name`)
  return { schema: found.schema, value: memberOf(value, found) }
}

function payloadOf(row: Row, settings: Config): SchemaAndValue {
  const name = settings['table.field.event.payload']
  if (fieldOf(row.schema, name) === undefined) throw new DataError(`Unable to find payload field ${name} in event`)
  const payload = columnOf(row, name)
  if (!settings['table.expand.json.payload'] || typeof payload.value !== 'string') return payload
  return expanded(name, payload.value, settings['table.json.payload.null.behavior']) ?? payload
}

/** Returns undefined if the text is not an object or a list, or if no schema can be inferred. */
function expanded(name: string, text: string, nulls: 'ignore' | 'optional_bytes'): SchemaAndValue | undefined {
  if (!/^[{[]/.test(text)) return undefined
  try {
    const data = inferredJson(name, text, nulls)
    return data.schema === null ? undefined : data
  } catch (error) {
    if (error instanceof DataError) return undefined
    throw error
  }
}

function isEmpty(payload: unknown): boolean {
  return payload === null || payload === undefined || (typeof payload === 'string' && payload.trim() === '')
}

function topicNamer(settings: Config): (routedBy: string) => string {
  const whole = javaRegex(settings['route.topic.regex'], { whole: true })
  const first = javaRegex(settings['route.topic.regex'])
  const replace = javaReplacement(settings['route.topic.replacement'])
  return (routedBy) => (whole.test(routedBy) ? first.replaceFirst(routedBy, replace) : routedBy)
}

/**
 * Returns the columns to place. With `table.fields.additional.error.on.missing`, missing columns are kept, so that
 * reading them fails.
 */
function present(row: Row, placed: readonly Placed[], settings: Config): readonly Placed[] {
  if (settings['table.fields.additional.error.on.missing']) return placed
  return placed.filter(({ name }) => fieldOf(row.schema, name) !== undefined)
}

function headersOf(row: Row, settings: Config): readonly RecordHeader[] {
  const placed = settings['table.fields.additional.placement'].filter(({ placement }) => placement === 'header')
  return present(row, placed, settings).map(({ name, as }) => ({ key: as, ...columnOf(row, name) }))
}

function partitionOf({ schema, value }: Row, placed: readonly Placed[]): number | undefined {
  const { name } = placed.find(({ placement }) => placement === 'partition') ?? {}
  return name === undefined ? undefined : ((memberOfType(schema, value, name, 'int32') as number | null) ?? undefined)
}

/**
 * Wraps the payload in a struct with additional columns. Schemas are cached by row schema, payload schema, topic and
 * version.
 */
function envelopeMaker(settings: Config) {
  const placed = settings['table.fields.additional.placement'].filter(({ placement }) => placement === 'envelope')
  const versionField = settings['table.field.event.schema.version']
  const schemas = oncePerSchema(() => new WeakMap<Schema, Map<string, Schema>>())
  return (payload: SchemaAndValue, row: Row, topic: string): SchemaAndValue => {
    const version = versionField === undefined ? undefined : memberOfType(row.schema, row.value, versionField, 'int32')
    const columns = present(row, placed, settings)
    const members = columns.map(({ name, as }) => [as, columnOf(row, name).value])
    const known = schemas(row.schema)
    const byTopic = known.get(payload.schema as Schema) ?? new Map<string, Schema>()
    known.set(payload.schema as Schema, byTopic)
    const key = `${version} ${topic}`
    const schema =
      byTopic.get(key) ?? envelopeSchema(payload, row, columns, { topic, version: version as number | null })
    byTopic.set(key, schema)
    return { schema, value: { payload: payload.value, ...Object.fromEntries(members) } }
  }
}

function envelopeSchema(
  payload: SchemaAndValue,
  row: Row,
  columns: readonly Placed[],
  { topic, version }: { readonly topic: string; readonly version: number | null | undefined },
): Schema {
  const fields = columns.map(({ name, as }): Field => ({ name: as, schema: columnOf(row, name).schema as Schema }))
  const [, packageName = '', simple] = /^(.*\.)?(.*)$/.exec(row.schema.name ?? '') ?? []
  const name = simple === '' ? topic : `${packageName}${topic}.${simple}`
  const basics = { name, ...(typeof version === 'number' && { version }) }
  return structOf(basics, [{ name: 'payload', schema: payload.schema as Schema }, ...fields])
}

const DIVISORS: Readonly<Record<string, number>> = {
  'io.debezium.time.Timestamp': 1,
  'io.debezium.time.MicroTimestamp': 1_000,
  'io.debezium.time.NanoTimestamp': 1_000_000,
}

function timestampOf(row: Row, change: DebeziumChange, name: string | undefined): number | null {
  const read = () => {
    const ms = memberOfType(change.schema, change.envelope, 'ts_ms', 'int64')
    return ms === null ? null : Number(ms)
  }
  if (name === undefined) return read()
  const found = fieldOf(row.schema, name)
  if (found === undefined) throw new DataError(`Unable to find timestamp field ${name} in event`)
  const value = memberOfType(row.schema, row.value, name, 'int64') as number | bigint | null
  if (value === null) return read()
  const divisor = DIVISORS[found.schema.name ?? '']
  if (divisor !== undefined) return Number(BigInt(value) / BigInt(divisor))
  const type = found.schema.name ?? `${found.schema.type.toUpperCase()} (without logical schema name)`
  throw new DataError(`Unsupported field type ${type} for event timestamp`)
}

function parsePlacements(list: readonly string[]): readonly Placed[] {
  return list.map((written) => {
    const [name = '', word = '', as = name, ...more] = written.split(':').map((part) => part.trim())
    const placement = PLACEMENTS.find((known) => known === word.toLowerCase())
    if (placement !== undefined && more.length === 0) return { name, placement, as }
    throw new Error(
      `Invalid value [${list.join(', ')}] for configuration table.fields.additional.placement: ` +
        'A comma-separated list of valid String pairs or trios is expected: column:header, column:envelope, column:partition',
    )
  })
}
