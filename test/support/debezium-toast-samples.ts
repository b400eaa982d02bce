/** A column type with an SQL expression of a value that the server stores out of line. */
export type ToastSample = { readonly type: string; readonly value: string }

export const LARGE_TEXT = "(SELECT string_agg(md5(i::text), '') FROM generate_series(1, 5) i)"
const DIGITS = "(SELECT string_agg((i % 9 + 1)::text, '') FROM generate_series(1, 200) i)"
const BITS = "(SELECT string_agg((i * i % 7 % 2)::text, '') FROM generate_series(1, 800) i)"

const text = (type: string, value = LARGE_TEXT): ToastSample => ({ type, value: `${value}::${type}` })
/** `item` is an expression of `i`. */
const list = (type: string, item: string): ToastSample => ({
  type,
  value: `(SELECT array_agg((${item})::text) FROM generate_series(1, 20) i)::${type}`,
})
const points = (open: string, close: string) =>
  `(SELECT '${open}' || string_agg('(1,' || i || ')', ',') || '${close}' FROM generate_series(1, 20) i)`
const SECONDS = "i * interval '1 s'"

/** Every type that has values large enough. */
export const TOAST_SAMPLES: readonly ToastSample[] = [
  ...['text', 'varchar', 'varchar(200)', 'char(200)', 'citext', 'label'].map((type) => text(type)),
  { type: 'bytea', value: `decode(${LARGE_TEXT}, 'hex')` },
  text('json', `('"' || ${LARGE_TEXT} || '"')`),
  text('jsonb', `('"' || ${LARGE_TEXT} || '"')`),
  text('xml', `('<a>' || ${LARGE_TEXT} || '</a>')`),
  { type: 'hstore', value: `hstore('a', ${LARGE_TEXT})` },
  ...['numeric', 'numeric(200)'].map((type) => text(type, DIGITS)),
  ...['bit(800)', 'varbit'].map((type) => text(type, BITS)),
  text('tsvector', "(SELECT string_agg(md5(i::text), ' ') FROM generate_series(1, 5) i)"),
  text('ltree', "(SELECT string_agg(md5(i::text), '.') FROM generate_series(1, 5) i)"),
  { type: 'numrange', value: `numrange(0, ${DIGITS}::numeric)` },
  text('path', points('[', ']')),
  text('polygon', points('(', ')')),
  ...['text[]', 'varchar[]', 'citext[]', 'uuid[]'].map((type) => list(type, 'md5(i::text)')),
  ...['int2[]', 'int4[]', 'int8[]', 'int_list'].map((type) => list(type, 'i')),
  ...['float4[]', 'float8[]', 'numeric[]', 'numeric(10, 2)[]'].map((type) => list(type, 'i * 1.5')),
  list('oid[]', '20000 + i'),
  list('bool[]', 'i % 2 = 0'),
  list('bytea[]', "decode(md5(i::text), 'hex')"),
  ...['json[]', 'jsonb[]'].map((type) => list(type, "'{}'")),
  list('date[]', "date '2000-01-01' + i"),
  list('time[]', `time '00:00' + ${SECONDS}`),
  list('timetz[]', `timetz '00:00+00' + ${SECONDS}`),
  ...['timestamp[]', 'timestamp(3)[]', 'timestamptz[]'].map((type) =>
    list(type, `timestamp '2000-01-01' + ${SECONDS}`),
  ),
  list('inet[]', "'10.0.0.1'"),
  list('int4range[]', 'int4range(i, i + 1)'),
  list('hstore[]', "'a=>' || i"),
  list('mood[]', "'sad'"),
  list('ltree[]', "'a' || i"),
]
