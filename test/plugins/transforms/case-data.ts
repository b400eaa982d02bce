/** A record for one transform, and how it is configured. */
export type Case = {
  readonly class: string
  readonly config: Readonly<Record<string, string>>
  readonly record: CaseRecord
}
export type CaseRecord = {
  readonly topic: string
  readonly partition?: number | null
  /** Only sinks' records have one. */
  readonly offset?: number
  readonly timestampMs?: number | null
  readonly key: object | null
  readonly value: object | null
  readonly headers: readonly { readonly key: string; readonly value: object | null }[]
}

export type FieldSchema = { readonly type: string; readonly [member: string]: unknown }

export const DAY = 'org.apache.kafka.connect.data.Date'
export const TIME = 'org.apache.kafka.connect.data.Time'
export const TIMESTAMP = 'org.apache.kafka.connect.data.Timestamp'
const DECIMAL = 'org.apache.kafka.connect.data.Decimal'
/** 2021-03-04T05:06:07.089Z */
export const AT = 1_614_834_367_089

export const plain = (value: unknown) => ({ plain: value })
export const typed = (type: string | FieldSchema, payload: unknown, more: object = {}) => ({
  schema: { optional: false, ...(typeof type === 'string' ? { type } : type), ...more },
  payload,
})
export const struct = (fields: Readonly<Record<string, FieldSchema>>, payload: unknown, more: object = {}) =>
  typed(structSchema(fields), payload, more)
export const structSchema = (fields: Readonly<Record<string, FieldSchema>>): FieldSchema => ({
  type: 'struct',
  optional: false,
  fields: Object.entries(fields).map(([field, schema]) => ({ optional: false, ...schema, field })),
})
export const sink = (value: object | null, more: Partial<CaseRecord> = {}): CaseRecord => ({
  topic: 'orders',
  partition: 3,
  offset: 42,
  timestampMs: AT,
  key: null,
  value,
  headers: [],
  ...more,
})
export const source = (value: object | null, more: Partial<CaseRecord> = {}): CaseRecord => ({
  topic: 'orders',
  partition: null,
  timestampMs: null,
  key: null,
  value,
  headers: [],
  ...more,
})

export const ALL_TYPES = struct(
  {
    i8: { type: 'int8' },
    i16: { type: 'int16' },
    i32: { type: 'int32' },
    i64: { type: 'int64' },
    f32: { type: 'float' },
    f64: { type: 'double' },
    bool: { type: 'boolean' },
    text: { type: 'string' },
    bytes: { type: 'bytes' },
    list: { type: 'array', items: { type: 'int32', optional: false } },
    map: { type: 'map', keys: { type: 'string', optional: false }, values: { type: 'int32', optional: false } },
    decimal: { type: 'bytes', name: DECIMAL, version: 1, parameters: { scale: '2' } },
    day: { type: 'int32', name: DAY, version: 1 },
    time: { type: 'int32', name: TIME, version: 1 },
    at: { type: 'int64', name: TIMESTAMP, version: 1 },
    missing: { type: 'string', optional: true },
    defaulted: { type: 'int32', optional: true, default: 7 },
    inner: structSchema({ name: { type: 'string' }, count: { type: 'int64', optional: true } }),
  },
  {
    i8: 12,
    i16: -300,
    i32: 70_000,
    i64: 5_000_000_000,
    f32: 1.5,
    f64: -2.25,
    bool: true,
    text: '81',
    bytes: 'AQID',
    list: [1, 2],
    map: { a: 1 },
    decimal: 12.34,
    day: 18_690,
    time: 18_367_089,
    at: AT,
    missing: null,
    defaulted: null,
    inner: { name: 'n', count: null },
  },
  { name: 'com.example.All', version: 4, doc: 'everything', parameters: { p: 'q' }, optional: true },
)
export const ALL_PLAIN = plain({
  int: 70_000,
  double: -2.25,
  bool: true,
  text: '81',
  list: [1, 2],
  map: { a: 1, b: { c: null, d: 'x' } },
  missing: null,
})
export const NOTHING = struct({ a: { type: 'int32' } }, null, { optional: true })

export const TYPES = ['int8', 'int16', 'int32', 'int64', 'float32', 'float64', 'boolean', 'string']
export const SCALARS = [
  'i8',
  'i16',
  'i32',
  'i64',
  'f32',
  'f64',
  'bool',
  'text',
  'decimal',
  'day',
  'time',
  'at',
  'missing',
  'defaulted',
]

export const PERSON = struct(
  {
    id: { type: 'int64' },
    name: { type: 'string', optional: true, default: 'nobody' },
    born: { type: 'int32', name: DAY },
  },
  { id: 7, name: null, born: 3 },
  { name: 'Person', version: 2 },
)
export const PLAIN_PERSON = plain({ id: 7, name: null, tags: ['a'] })
export const NESTED = struct(
  {
    id: { type: 'int32' },
    'dot.ted': { type: 'string' },
    at: {
      ...structSchema({ city: { type: 'string', optional: true, default: 'X' }, zip: { type: 'int32', default: 5 } }),
      optional: true,
    },
    deep: structSchema({ more: structSchema({ leaf: { type: 'array', items: { type: 'string' } } }) }),
  },
  { id: 1, 'dot.ted': 'y', at: { city: null, zip: 4 }, deep: { more: { leaf: ['z'] } } },
  { name: 'Nested' },
)
