import { type Case, type CaseRecord, type FieldSchema, plain, sink, source, structSchema, typed } from './case-data.ts'

const UNWRAP = 'io.debezium.transforms.ExtractNewRecordState'
const OUTBOX = 'io.debezium.transforms.outbox.EventRouter'
const TS_MS = 1_614_834_367_100

const SOURCE = structSchema({
  version: { type: 'string' },
  connector: { type: 'string' },
  name: { type: 'string' },
  ts_ms: { type: 'int64' },
  table: { type: 'string', optional: true },
})
const TRANSACTION: FieldSchema = {
  ...structSchema({ id: { type: 'string' }, total_order: { type: 'int64' } }),
  optional: true,
}

type Rows = { readonly before?: object | null; readonly after?: object | null; readonly [member: string]: unknown }

/** A change event of a table with these columns. */
export function change(
  columns: Readonly<Record<string, FieldSchema>>,
  op: string,
  rows: Rows,
  name = 'db.shop.Value',
): object {
  const row: FieldSchema = { ...structSchema(columns), optional: true, name }
  const schema = structSchema({
    before: row,
    after: row,
    source: SOURCE,
    op: { type: 'string' },
    ts_ms: { type: 'int64', optional: true },
    transaction: TRANSACTION,
  })
  const payload = {
    before: null,
    after: null,
    source: { version: '3.4', connector: 'postgresql', name: 'db', ts_ms: TS_MS, table: null },
    op,
    ts_ms: TS_MS + 5,
    transaction: null,
    ...rows,
  }
  return typed(schema, payload, { name: 'db.shop.Envelope' })
}

const COLUMNS: Readonly<Record<string, FieldSchema>> = {
  id: { type: 'int32' },
  name: { type: 'string', optional: true, default: 'nobody' },
  region: { type: 'string', optional: true },
}
const OLD = { id: 1, name: 'old', region: 'north' }
const NEW = { id: 1, name: null, region: ' ' }
const EVENTS: readonly (object | null)[] = [
  change(COLUMNS, 'c', { after: OLD }),
  change(COLUMNS, 'u', { before: OLD, after: NEW, transaction: { id: 'tx', total_order: 2 } }),
  change(COLUMNS, 'd', { before: OLD }),
  change(COLUMNS, 't', {}),
  null,
]
const OTHERS: readonly (object | null)[] = [
  plain({ before: null, after: { a: 1 } }),
  typed('string', 'text'),
  typed(structSchema({ a: { type: 'int32' } }), { a: 1 }, { name: 'io.debezium.connector.common.Heartbeat' }),
]
const MODES = ['drop', 'tombstone', 'rewrite', 'rewrite-with-tombstone', 'delete-to-tombstone', 'REWRITE']

const UNWRAPS: readonly Readonly<Record<string, string>>[] = [
  {},
  ...MODES.map((mode) => ({ 'delete.tombstone.handling.mode': mode })),
  { 'add.fields': 'op,source.ts_ms,ts_ms', 'add.headers': 'op,db' },
  { 'add.fields': 'connector,table:TABLE, transaction.id:tx', 'delete.tombstone.handling.mode': 'rewrite' },
  { 'add.headers': 'op,source.name:origin,total_order,id', 'add.headers.prefix': 'dbz.' },
  { 'add.headers': 'op', 'delete.tombstone.handling.mode': 'rewrite-with-tombstone', 'add.fields.prefix': '' },
  { 'add.fields': 'nowhere,source.nowhere', 'add.headers': 'nowhere' },
  { 'route.by.field': 'region' },
  { 'route.by.field': 'region', 'delete.tombstone.handling.mode': 'rewrite' },
  { 'route.by.field': 'region', 'delete.tombstone.handling.mode': 'delete-to-tombstone' },
  { 'route.by.field': 'id' },
  { 'route.by.field': 'nowhere' },
  { 'drop.fields.header.name': 'unwanted' },
  {
    'drop.fields.header.name': 'unwanted',
    'drop.fields.keep.schema.compatible': 'false',
    'drop.fields.from.key': 'true',
  },
  {
    'drop.fields.header.name': 'unwanted',
    'drop.fields.from.key': 'true',
    'delete.tombstone.handling.mode': 'rewrite',
  },
  { 'replace.null.with.default': 'false', 'delete.tombstone.handling.mode': 'rewrite' },
]

const OUTBOX_COLUMNS: Readonly<Record<string, FieldSchema>> = {
  id: { type: 'string' },
  aggregatetype: { type: 'string' },
  aggregateid: { type: 'string', optional: true },
  type: { type: 'string', optional: true },
  payload: { type: 'string', optional: true },
  at: { type: 'int64', optional: true, name: 'io.debezium.time.MicroTimestamp' },
  plain_at: { type: 'int64', optional: true },
  shard: { type: 'int32', optional: true },
  v: { type: 'int32', optional: true },
}
const EVENT = {
  id: 'e-1',
  aggregatetype: 'order',
  aggregateid: 'o-7',
  type: 'OrderCreated',
  payload: '{"id":7}',
  at: 1_614_834_367_123_456,
  plain_at: 5,
  shard: 2,
  v: 3,
}
export const outbox = (row: object, op = 'c') =>
  change(OUTBOX_COLUMNS, op, { after: { ...EVENT, ...row } }, 'db.outbox.Value')

const ROUTES: readonly Readonly<Record<string, string>>[] = [
  {},
  { 'route.topic.replacement': '${routedByValue}.events' },
  { 'route.topic.regex': 'o(.*)', 'route.topic.replacement': '$1' },
  { 'route.by.field': 'type', 'table.field.event.key': 'type', 'table.field.event.id': 'aggregateid' },
  { 'route.by.field': 'nowhere' },
  { 'route.by.field': 'shard' },
  { 'table.field.event.key': 'nowhere' },
  { 'table.field.event.id': 'nowhere' },
  { 'table.field.event.payload': 'nowhere' },
  { 'table.field.event.payload': 'shard' },
  { 'table.field.event.timestamp': 'at' },
  { 'table.field.event.timestamp': 'nowhere' },
  { 'table.field.event.timestamp': 'plain_at' },
  { 'table.fields.additional.placement': 'type:header:eventType,shard:partition' },
  { 'table.fields.additional.placement': 'type:envelope,shard:envelope:lane,v:header' },
  { 'table.fields.additional.placement': 'type:envelope', 'table.field.event.schema.version': 'v' },
  { 'table.fields.additional.placement': 'nowhere:header' },
  { 'table.fields.additional.placement': 'nowhere:header', 'table.fields.additional.error.on.missing': 'false' },
  { 'route.tombstone.on.empty.payload': 'true' },
  { 'table.op.invalid.behavior': 'error' },
  { 'table.op.invalid.behavior': 'FATAL' },
]
const OUTBOX_EVENTS: readonly (object | null)[] = [
  outbox({}),
  outbox({ payload: null, aggregateid: null, at: null, shard: null }, 'r'),
  outbox({ payload: ' ' }),
  outbox({}, 'u'),
  change(OUTBOX_COLUMNS, 'd', { before: EVENT }, 'db.outbox.Value'),
  null,
]

const PAYLOADS = [
  '{"id":7,"name":"x","price":1.5,"big":5000000000,"huge":9007199254740993,"ok":true,"none":null,"whole":1.0}',
  '{"at":{"city":"B","zip":[1,2]},"tags":["a",null,"b"],"empty":[],"none":[null]}',
  '{"lines":[{"sku":"a","n":1},{"sku":"b","n":2}],"mixed":{"a":{"b":{"c":1}}}}',
  '{"list":[1,"a"]}',
  '{"list":[1,2.5]}',
  '{"list":[1,5000000000]}',
  '{"list":[[1],[2]]}',
  '{}',
  'text',
  '7',
  '{broken',
]

function* outboxCases(): Generator<Case> {
  for (const config of ROUTES) for (const value of OUTBOX_EVENTS) yield { class: OUTBOX, config, record: source(value) }
  for (const value of OTHERS) yield { class: OUTBOX, config: {}, record: source(value) }
  for (const payload of PAYLOADS) {
    for (const nulls of ['ignore', 'optional_bytes']) {
      const config = { 'table.expand.json.payload': 'true', 'table.json.payload.null.behavior': nulls }
      yield { class: OUTBOX, config, record: source(outbox({ payload })) }
    }
  }
  const config = { 'table.expand.json.payload': 'true', 'table.fields.additional.placement': 'type:envelope' }
  yield { class: OUTBOX, config, record: source(outbox({})) }
}

/** What Debezium's transforms are held to; debezium.golden.json is what its classes made of it. */
export function debeziumCases(): readonly Case[] {
  const key = typed(structSchema({ id: { type: 'int32' }, region: { type: 'string', optional: true } }), {
    id: 1,
    region: 'north',
  })
  const unwanted = typed({ type: 'array', items: { type: 'string', optional: false } }, ['id', 'region'])
  const more: Partial<CaseRecord> = { key, headers: [{ key: 'unwanted', value: unwanted }] }
  const unwraps = UNWRAPS.flatMap((config) =>
    EVENTS.map((value): Case => ({ class: UNWRAP, config, record: sink(value, more) })),
  )
  const passed = OTHERS.map(
    (value): Case => ({
      class: UNWRAP,
      config: { 'add.headers': 'op' },
      record: source(value),
    }),
  )
  return [...unwraps, ...passed, ...outboxCases()]
}
