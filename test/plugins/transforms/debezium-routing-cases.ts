import {
  type Case,
  type CaseRecord,
  type FieldSchema,
  plain,
  source,
  struct,
  structSchema,
  typed,
} from './case-data.ts'
import { change } from './debezium-cases.ts'

const PACKAGE = 'io.debezium.transforms.'

const COLUMNS: Readonly<Record<string, FieldSchema>> = {
  id: { type: 'int32' },
  name: { type: 'string', optional: true },
  amount: { type: 'double', optional: true },
  tags: { type: 'array', optional: true, items: { type: 'string', optional: false } },
}
const OLD = { id: 1, name: 'ann', amount: 1.5, tags: ['a'] }
const NEW = { id: 1, name: 'Änn 😀', amount: null, tags: ['a', 'b'] }
const EVENTS: readonly (object | null)[] = [
  change(COLUMNS, 'c', { after: OLD }),
  change(COLUMNS, 'r', { after: NEW }),
  change(COLUMNS, 'u', { before: OLD, after: NEW }),
  change(COLUMNS, 'u', { before: OLD, after: OLD }),
  change(COLUMNS, 'd', { before: OLD }),
  change(COLUMNS, 't', {}),
  null,
]
const OTHERS: readonly (object | null)[] = [
  plain({ a: 1 }),
  typed('string', 'text'),
  typed(structSchema({ a: { type: 'int32' } }), { a: 1 }, { name: 'io.debezium.connector.common.Heartbeat' }),
]

const KEYS: readonly (object | null)[] = [
  null,
  struct({ id: { type: 'int32' } }, { id: 1 }, { name: 'db.shop.Key', version: 3, doc: 'd' }),
  struct({ __dbz__physicalTableIdentifier: { type: 'string' } }, { __dbz__physicalTableIdentifier: 'x' }),
  typed('string', 'k'),
]
const TOPICS = ['db.shop.orders_1', 'db.shop.orders', 'other']
const ROUTES: readonly Readonly<Record<string, string>>[] = [
  { 'topic.regex': '(.*)orders(.*)', 'topic.replacement': '$1all_orders' },
  { 'topic.regex': '(?<head>.*)_\\d', 'topic.replacement': '${head}' },
  { 'topic.regex': '.*()', 'topic.replacement': '$1' },
  { 'topic.regex': '.*', 'topic.replacement': 'x', 'key.enforce.uniqueness': 'false' },
  { 'topic.regex': '.*', 'topic.replacement': 'x', 'key.field.name': 'shard', 'logical.table.cache.size': '2' },
  {
    'topic.regex': '(.*)orders(.*)',
    'topic.replacement': 'a-b.$1ü',
    'key.field.regex': '.*orders_(.*)',
    'key.field.replacement': 's$1',
    'schema.name.adjustment.mode': 'avro',
  },
  { 'topic.regex': '.*', 'topic.replacement': '$2' },
]

function* routerCases(): Generator<Case> {
  const name = `${PACKAGE}ByLogicalTableRouter`
  for (const config of ROUTES) {
    for (const topic of TOPICS) {
      for (const key of KEYS) yield { class: name, config, record: source(EVENTS[2] ?? null, { topic, key }) }
    }
    for (const value of [...EVENTS, ...OTHERS]) {
      yield { class: name, config, record: source(value, { topic: TOPICS[0]!, key: KEYS[1]! }) }
    }
  }
}

const CHANGED: readonly Readonly<Record<string, string>>[] = [
  {},
  { 'header.changed.name': 'Changed' },
  { 'header.changed.name': 'c', 'header.unchanged.name': 'u' },
  { 'header.changed.name': ' ' },
]

function* changedCases(): Generator<Case> {
  for (const config of CHANGED) {
    for (const value of [...EVENTS, ...OTHERS]) {
      yield { class: `${PACKAGE}ExtractChangedRecordState`, config, record: source(value) }
    }
  }
}

const FIELDS = [
  'after.id',
  'change.name',
  'source.table,after.nowhere',
  'change.amount,change.id,op',
  'ts_ms',
  'source.name',
]

function* partitionCases(): Generator<Case> {
  for (const fields of FIELDS) {
    for (const partitions of ['1', '7', '100']) {
      for (const hash of ['java', 'murmur']) {
        const config = {
          'partition.payload.fields': fields,
          'partition.topic.num': partitions,
          'partition.hash.function': hash,
        }
        for (const value of [...EVENTS, ...OTHERS]) {
          yield { class: `${PACKAGE}partitions.PartitionRouting`, config, record: source(value) }
        }
      }
    }
  }
  yield* hashCases()
}

const TEXTS = ['', 'a', 'order-7', 'exactly 16 bytes', 'longer than sixteen bytes: ñandú 😀 日本', 'x'.repeat(1_000)]
const NUMBERS: readonly (readonly [type: string, value: unknown, more?: object])[] = [
  ['int8', -3],
  ['int16', 300],
  ['int32', -70_000],
  ['int64', -5_000_000_000],
  ['float', -1.5],
  ['double', 1e300],
  ['boolean', true],
  ['boolean', false],
  ['bytes', 12.34, { name: 'org.apache.kafka.connect.data.Decimal', version: 1, parameters: { scale: '2' } }],
  [
    'bytes',
    -123456789012345680,
    { name: 'org.apache.kafka.connect.data.Decimal', version: 1, parameters: { scale: '0' } },
  ],
  ['int32', 18_690, { name: 'org.apache.kafka.connect.data.Date', version: 1 }],
  ['int32', 18_367_089, { name: 'org.apache.kafka.connect.data.Time', version: 1 }],
  ['int64', 1_614_834_367_089, { name: 'org.apache.kafka.connect.data.Timestamp', version: 1 }],
]

function* hashCases(): Generator<Case> {
  const values = [...TEXTS.map((text) => ['string', text] as const), ...NUMBERS]
  for (const [type, v, more] of values) {
    for (const hash of ['java', 'murmur']) {
      yield {
        class: `${PACKAGE}partitions.PartitionRouting`,
        config: {
          'partition.payload.fields': 'after.v',
          'partition.topic.num': '1000003',
          'partition.hash.function': hash,
        },
        record: source(change({ v: { type, ...more } }, 'c', { after: { v } })),
      }
    }
  }
}

const HEADERS: CaseRecord['headers'] = [
  { key: 'a', value: typed('string', 'x') },
  { key: 'b', value: typed({ type: 'int64', optional: true }, 7) },
  { key: 'other', value: typed('boolean', true) },
]
const MOVES: readonly Readonly<Record<string, string>>[] = [
  { headers: 'a', fields: 'a', operation: 'move' },
  { headers: 'a,b', fields: 'x,after.b', operation: 'copy' },
  { headers: 'b,nowhere', fields: 'source.b,c', operation: 'move' },
  { headers: 'nowhere', fields: 'c', operation: 'move' },
]

function* headerCases(): Generator<Case> {
  for (const config of MOVES) {
    for (const value of [EVENTS[0] ?? null, EVENTS[4] ?? null, null]) {
      yield { class: `${PACKAGE}HeaderToValue`, config, record: source(value, { headers: HEADERS }) }
    }
    yield { class: `${PACKAGE}HeaderToValue`, config, record: source(EVENTS[0] ?? null) }
  }
}

const TABLE_CHANGE: FieldSchema = { ...structSchema({ type: { type: 'string' }, id: { type: 'string' } }) }

function schemaChange(types: readonly string[] | null): object {
  return struct(
    { ddl: { type: 'string' }, tableChanges: { type: 'array', optional: true, items: TABLE_CHANGE } },
    { ddl: 'DDL', tableChanges: types?.map((type) => ({ type, id: 't' })) ?? null },
    { name: 'io.debezium.connector.mysql.SchemaChangeValue' },
  )
}

function* schemaChangeCases(): Generator<Case> {
  const values = [null, schemaChange(null), schemaChange([]), schemaChange(['ALTER', 'DROP']), schemaChange(['CREATE'])]
  for (const types of ['ALTER', 'DATABASE, CREATE', 'DROP']) {
    for (const value of [...values, ...OTHERS]) {
      const config = { 'schema.change.event.exclude.list': types }
      yield { class: `${PACKAGE}SchemaChangeEventFilter`, config, record: source(value) }
    }
  }
}

/** Cases of Debezium's transforms that route, filter and mark change events. */
export function routingCases(): readonly Case[] {
  return [...routerCases(), ...changedCases(), ...partitionCases(), ...headerCases(), ...schemaChangeCases()]
}
