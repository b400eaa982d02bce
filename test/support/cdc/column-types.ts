/** A column type with values of it as SQL expressions. NULL is added to each. */
export type TypeSample = readonly [type: string, ...values: readonly string[]]

/** Tables by name: one for each family of types, with a column for each type. */
export const TYPE_TABLES: Readonly<Record<string, readonly TypeSample[]>> = {
  integers: [
    ['smallint', '-32768', '32767', '0'],
    ['integer', '-2147483648', '2147483647', '7'],
    ['bigint', '-9223372036854775808', '9223372036854775807', '9007199254740993'],
    ['oid', '0', '4294967295', '25'],
    ['boolean', 'true', 'false'],
    ['bit(1)', "B'1'", "B'0'"],
    ['bit(3)', "B'101'", "B'000'"],
    ['bit(20)', "B'10000000000000000001'", "B'00000000000000000000'"],
    ['bit varying(12)', "B'1011'", "B''", "B'111111111111'"],
    ['bit varying', "B'1'", `B'${'10'.repeat(40)}'`],
  ],
  floats: [
    ['real', '1.5', '-3.4028235e38', '0.1', '1e-45', '0'],
    ['double precision', '2.5', '-1.7976931348623157e308', '0.1', '5e-324', '1e22'],
  ],
  decimals: [
    ['numeric(10,2)', '12345678.91', '-0.01', '0'],
    ['numeric(38,0)', '99999999999999999999999999999999999999', '-1', '0'],
    ['numeric(38,38)', '0.00000000000000000000000000000000000001', '-0.5', '0'],
    ['numeric(5,0)', '99999', '-1', '0'],
    ['numeric', '123.4500', '-0.000000000000000000001', '1e40', '0', '1e-30'],
    ['money', "'$1,234.56'", "'-$0.01'", "'92233720368547758.07'"],
  ],
  texts: [
    ['text', "'plain'", "''", "E'tab\\tnew\\nline \\\\ \"quoted\" ''single'''", "'Zürich 🚲 汉字'"],
    ['varchar(20)', "'short'", "'twenty characters ok'", "''"],
    ['varchar', "'unlimited'", "'x'", "''"],
    ['char(8)', "'padded'", "'eight ch'", "''"],
    ['char', "'c'", "' '", "'é'"],
    ['"char"', "'q'", "'1'", "'z'"],
    ['name', "'pg_name'", "'another'", "'x'"],
    ['citext', "'MixedCase'", "'lower'", "''"],
    ['tsvector', "'a fat cat sat'::tsvector", "to_tsvector('english', 'The quick brown foxes')", "''"],
  ],
  temporals: [
    ['date', "'2026-11-22'", "'0001-01-01'", "'9999-12-31'", "'1969-12-31'", "'1582-10-10'"],
    ['time', "'10:11:12.123456'", "'00:00:00'", "'23:59:59.999999'", "'24:00:00'"],
    ['time(0)', "'10:11:12'", "'00:00:01'", "'23:59:59'"],
    ['time(3)', "'10:11:12.123'", "'00:00:00.001'", "'23:59:59.999'"],
    ['timetz', "'10:11:12.123456+02'", "'00:00:00-11:30'", "'23:59:59.5+00'"],
    ['timestamp', "'2026-11-22 10:11:12.123456'", "'1969-12-31 23:59:59.999999'", "'0001-01-01 00:00:00'"],
    ['timestamp(0)', "'2026-11-22 10:11:12'", "'1970-01-01 00:00:00'", "'1900-02-28 12:00:00'"],
    ['timestamp(3)', "'2026-11-22 10:11:12.123'", "'1969-12-31 23:59:59.999'", "'2000-02-29 00:00:00'"],
    ['timestamp(6)', "'2026-11-22 10:11:12.000001'", "'1883-11-18 12:03:58'", "'9999-12-31 23:59:59.999999'"],
    ['timestamptz', "'2026-11-22 10:11:12.123456+05:30'", "'1969-12-31 23:59:59.5+00'", "'2026-03-29 02:30:00+01'"],
    ['timestamptz(3)', "'2026-11-22 10:11:12.120-08'", "'1970-01-01 00:00:00+00'", "'1900-01-01 00:00:00+00'"],
    ['interval', "'1 year 2 months 3 days 04:05:06.789'", "'-1 day'", "'0'", "'-01:00:00.000001'"],
  ],
  infinities: [
    ['date', "'infinity'", "'-infinity'", "'0044-03-15 BC'"],
    ['timestamp', "'infinity'", "'-infinity'", "'0044-03-15 12:00:00 BC'"],
    ['timestamptz', "'infinity'", "'-infinity'", "'0044-03-15 12:00:00+00 BC'"],
  ],
  documents: [
    ['json', `'{"a": [1, 2.50, null],  "b":"x"}'`, "'[]'", "'null'"],
    ['jsonb', `'{"b": {"c": 1e3}, "a": "\\u00e9"}'`, '\'"text"\'', "'12345678901234567890.1'"],
    ['xml', '\'<a b="c">d</a>\'', "'<empty/>'", "'text'"],
    ['hstore', `'a=>1, "b c"=>NULL'`, "''", `'"quote\\"d"=>"comma, x"'`],
  ],
  binaries: [
    ['bytea', "'\\x00ff10'", "'\\x'", "decode(repeat('ab', 40), 'hex')"],
    ['uuid', "'0e37df36-f698-11e6-8dd4-cb9ced3df976'", "'00000000-0000-0000-0000-000000000000'"],
  ],
  networks: [
    ['inet', "'192.168.1.5/24'", "'::1'", "'10.0.0.1'"],
    ['cidr', "'192.168.0.0/16'", "'2001:db8::/32'", "'10.1.2.3/32'"],
    ['macaddr', "'08:00:2b:01:02:03'", "'00:00:00:00:00:00'"],
    ['macaddr8', "'08:00:2b:01:02:03:04:05'", "'08-00-2b-01-02-03'"],
  ],
  geometries: [
    ['point', "'(1.5,-2)'", "'(0,0)'", "'(1e10,1e-10)'"],
    ['ltree', "'Top.Science.Astronomy'", "'a'", "'x_1.y'"],
  ],
  ranges: [
    ['int4range', "'[1,10)'", "'empty'", "'(,5]'"],
    ['int8range', "'[1,9223372036854775807)'", "'(,)'", "'empty'"],
    ['numrange', "'(1.5,2.5]'", "'[0,0]'", "'empty'"],
    ['tsrange', "'[2026-01-01 00:00:00,2026-01-02 00:00:00)'", "'(,)'", "'empty'"],
    ['tstzrange', "'[2026-01-01 00:00:00+00,2026-01-02 12:00:00+02)'", "'[2026-01-01,)'", "'empty'"],
    ['daterange', "'[2026-01-01,2026-02-01)'", "'(,2026-01-01]'", "'empty'"],
  ],
  arrays: [
    ['smallint[]', "'{1,-2,NULL}'", "'{}'"],
    ['integer[]', "'{1,2,3}'", "'{NULL}'"],
    ['bigint[]', "'{9007199254740993,-1}'", "'{}'"],
    ['real[]', "'{1.5,NULL}'", "'{}'"],
    ['double precision[]', "'{0.1,1e300}'", "'{}'"],
    ['numeric(10,2)[]', "'{1.10,NULL,-2}'", "'{}'"],
    ['numeric[]', "'{1.10,NULL,1e20}'", "'{}'"],
    ['boolean[]', "'{t,f,NULL}'", "'{}'"],
    ['text[]', `'{a,"b c","comma, quote \\" backslash \\\\",NULL,"NULL",""}'`, "'{}'"],
    ['varchar(10)[]', "'{x,y}'", "'{}'"],
    ['char(3)[]', "'{ab,abc}'", "'{}'"],
    ['date[]', "'{2026-11-22,NULL}'", "'{}'"],
    ['time[]', "'{10:11:12.123456}'", "'{}'"],
    ['timetz[]', "'{10:11:12+02}'", "'{}'"],
    ['timestamp[]', "'{2026-11-22 10:11:12.123456,NULL}'", "'{}'"],
    ['timestamptz[]', "'{2026-11-22 10:11:12.5+02}'", "'{}'"],
    ['uuid[]', "'{0e37df36-f698-11e6-8dd4-cb9ced3df976}'", "'{}'"],
    ['inet[]', "'{10.0.0.1,::1}'", "'{}'"],
    ['cidr[]', "'{10.0.0.0/8}'", "'{}'"],
    ['macaddr[]', "'{08:00:2b:01:02:03}'", "'{}'"],
    ['json[]', `ARRAY['{"a": 1}'::json, '[]'::json]`, "'{}'"],
    ['jsonb[]', `ARRAY['{"a": 1}'::jsonb]`, "'{}'"],
    ['bytea[]', "ARRAY['\\x01ff'::bytea, NULL]", "'{}'"],
    ['int4range[]', `'{"[1,5)",empty}'`, "'{}'"],
    ['mood[]', "'{happy,sad}'", "'{}'"],
    ['oid[]', "'{1,4294967295}'", "'{}'"],
  ],
  customs: [
    ['mood', "'happy'", "'sad'", "'so so'"],
    ['positive', '1', '2147483647'],
    ['price', '12.30', '0.01'],
    ['label', "'a label'", "''"],
    ['stamp', "'2026-11-22 10:11:12.123'", "'1970-01-01 00:00:00'"],
    ['nested_price', '7.70', '0.05'],
  ],
  /** Types without a mapping, which are left out, or sent as bytes with include.unknown.datatypes. */
  unknowns: [
    ['box', "'(1,2),(0,0)'"],
    ['circle', "'<(1,2),3>'"],
    ['line', "'{1,2,3}'"],
    ['lseg', "'[(0,0),(1,1)]'"],
    ['path', "'[(0,0),(1,1)]'"],
    ['polygon', "'((0,0),(1,1),(1,0))'"],
    ['tsquery', "'fat & rat'"],
    ['pg_lsn', "'16/B374D848'"],
    ['int4multirange', "'{[1,3),[5,8)}'"],
    ['complex', "ROW(1.5, 'x')"],
    ['regclass', "'pg_class'"],
    ['jsonpath', "'$.a[*]'"],
  ],
}

/** What the tables need. */
export const TYPE_SETUP = `
  CREATE EXTENSION IF NOT EXISTS citext; CREATE EXTENSION IF NOT EXISTS hstore; CREATE EXTENSION IF NOT EXISTS ltree;
  CREATE TYPE mood AS ENUM ('happy', 'sad', 'so so');
  CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
  CREATE DOMAIN price AS numeric(10, 2);
  CREATE DOMAIN label AS varchar(30);
  CREATE DOMAIN stamp AS timestamp(3);
  CREATE DOMAIN nested_price AS price CHECK (VALUE > 0);
  CREATE TYPE complex AS (r double precision, t text)`

/** The statement that creates a table. Its primary key is `id`; the other columns are named after their types. */
export function createTable(name: string): string {
  const columns = TYPE_TABLES[name]!.map(([type], index) => `${columnName(type, index)} ${type}`)
  return `CREATE TABLE ${name} (id integer PRIMARY KEY, ${columns.join(', ')})`
}

/** One row for each value of the longest list, and a row of nulls. The ids begin with `firstId`. */
export function insertRows(name: string, firstId: number): readonly string[] {
  const samples = TYPE_TABLES[name]!
  const count = Math.max(...samples.map(([, ...values]) => values.length))
  const rows = Array.from({ length: count }, (_, row) =>
    samples.map(([, ...values]) => values[row % values.length]!).join(', '),
  )
  return [...rows, samples.map(() => 'NULL').join(', ')].map(
    (values, index) => `INSERT INTO ${name} VALUES (${firstId + index}, ${values})`,
  )
}

function columnName(type: string, index: number): string {
  return `c${index}_${type.toLowerCase().replaceAll('[]', '_array').replaceAll(/\W+/g, '_').replaceAll(/^_|_$/g, '')}`
}
