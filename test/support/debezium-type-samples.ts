/** A column type with texts of values: of an ordinary row, and of rows with extremes. A row without a text has NULL. */
export type TypeSample = { readonly type: string; readonly values: readonly string[] }

/** Statements that create the types of the samples. */
export const TYPE_SETUP = `
  CREATE EXTENSION hstore; CREATE EXTENSION ltree; CREATE EXTENSION citext; CREATE EXTENSION isn; CREATE EXTENSION cube;
  CREATE TYPE mood AS ENUM ('sad', 'it''s ok', 'happy,very');
  CREATE TYPE pair AS (a int, b text);
  CREATE DOMAIN positive AS int CHECK (VALUE > 0);
  CREATE DOMAIN price AS numeric(8, 3);
  CREATE DOMAIN priced AS price;
  CREATE DOMAIN label AS text;
  CREATE DOMAIN short_label AS varchar(12);
  CREATE DOMAIN int_list AS int[];
  CREATE DOMAIN flag AS bool;
  CREATE DOMAIN stamp AS timestamp(3);
  CREATE TYPE float_range AS RANGE (subtype = float8);
`

const sample = (type: string, ...values: readonly string[]): TypeSample => ({ type, values })

const NUMBERS = [
  sample('bool', 't', 'f'),
  sample('int2', '7', '-32768', '32767'),
  sample('int4', '7', '-2147483648', '2147483647'),
  sample('int8', '7', '-9223372036854775808', '9223372036854775807'),
  sample('oid', '7', '0', '4294967295'),
  sample('xid', '7'),
  sample('xid8', '7'),
  sample('cid', '7'),
  sample('tid', '(1,2)'),
  sample('regclass', 'pg_class'),
  sample('regtype', 'int4'),
  sample('float4', '1.5', '-3.4028235e38', '0.1', 'NaN'),
  sample('float8', '1.5', '-1.7976931348623157e308', '0.1', 'Infinity'),
  sample('numeric', '12.5', '-123456789012345678901234567890.0123456789', '0.00000000000000000001', '5e40'),
  sample('numeric(5)', '12', '-99999', '0'),
  sample('numeric(10, 2)', '12.5', '-99999999.99', '0'),
  sample('numeric(5, -2)', '12300', '-9999900', '0'),
  sample('numeric(3, 5)', '0.00123', '-0.00999'),
  sample('numeric(38, 10)', '12.5', '-9999999999999999999999999999.9999999999', '0'),
  sample('money', '12.34', '-92233720368547758.08', '92233720368547758.07'),
]

const TEXTS = [
  sample('char', 'a', ' '),
  sample('char(5)', 'abc', 'äöü€𝄞'),
  sample('"char"', 'x'),
  sample('varchar', 'abc', '', 'a\u0001b"\\,\n\t{}𝄞'),
  sample('varchar(10)', 'abc', ''),
  sample('text', 'abc', '', 'NULL', ' \\N '),
  sample('name', 'abc'),
  sample('bytea', '\\x0102ff', '\\x', '\\x00'),
  sample('bit', '1', '0'),
  sample('bit(8)', '10000001', '00000000', '11111111'),
  sample('bit(70)', `1${'0'.repeat(68)}1`, '0'.repeat(70)),
  sample('varbit', '101', '', '1'.repeat(70)),
  sample('varbit(1)', '1', '0'),
  sample('varbit(10)', '101', '0000000001'),
  sample('uuid', '0e37df36-f698-11e6-8dd4-cb9ced3df976'),
  sample('json', '{"a": 1,  "b":[1, null]}', 'null', '"x"'),
  sample('jsonb', '{"a": 1,  "b":[1, null]}', 'null', '"x"'),
  sample('jsonpath', '$.a[*]'),
  sample('xml', '<a b="c">d</a>', '<x/>'),
  sample('tsvector', "'a':1 'cat':2A"),
  sample('tsquery', "'a' & 'b'"),
  sample('pg_lsn', '16/B374D848'),
  sample('txid_snapshot', '10:20:10,14,15'),
  sample('citext', 'AbC'),
  sample('ltree', 'Top.Science'),
  sample(
    'hstore',
    '"a"=>"1", "b"=>NULL',
    '"zeta"=>"1", "alpha"=>"2", "key 10"=>"3", "AaAa"=>"4", "BBBB"=>"5", "m"=>"6"',
    '',
    '"q\\"uo,te"=>"x=>y\\\\z"',
  ),
  sample('isbn', '978-0-393-04002-9'),
  sample('isbn13', '978-0-393-04002-9'),
  sample('issn', '1436-4522'),
  sample('upc', '036000291452'),
  sample('ean13', '978-0-393-04002-9'),
  sample('cube', '(1,2)'),
  sample('mood', 'sad', "it's ok", 'happy,very'),
  sample('pair', '(1,x)'),
]

const TIMES = [
  sample('date', '2026-11-22', '0044-03-15 BC', '9999-12-31', 'infinity', '-infinity'),
  sample('time', '13:14:15.123456', '00:00:00', '24:00:00'),
  sample('time(0)', '13:14:15'),
  sample('time(3)', '13:14:15.123', '23:59:59.999'),
  sample('time(6)', '13:14:15.123456'),
  sample('timetz', '13:14:15.123456+02', '00:00:00-15:59', '24:00:00+00'),
  sample('timetz(3)', '13:14:15.123+05:30'),
  sample(
    'timestamp',
    '2026-11-22 13:14:15.123456',
    '0044-03-15 12:00:00 BC',
    '9999-12-31 23:59:59.999999',
    'infinity',
    '-infinity',
  ),
  ...[0, 1, 3, 4, 6].map((precision) =>
    sample(`timestamp(${precision})`, '2026-11-22 13:14:15.123456', '1969-12-31 23:59:59.999999'),
  ),
  sample(
    'timestamptz',
    '2026-11-22 13:14:15.123456+02',
    '0044-03-15 12:00:00+00 BC',
    '9999-12-31 23:59:59.999999+00',
    'infinity',
    '-infinity',
  ),
  sample('timestamptz(0)', '2026-11-22 13:14:15.123456+02'),
  sample('timestamptz(3)', '2026-11-22 13:14:15.12+02'),
  sample(
    'interval',
    '1 year 2 mons 3 days 04:05:06.789012',
    '-1 year -2 mons +3 days -04:05:06.7',
    '00:00:00',
    '178000000 years',
  ),
  sample('interval(3)', '00:00:00.123'),
  sample('interval day to second', '3 days 04:05:06'),
]

const NETWORKS = [
  sample('inet', '192.168.0.1', '::1/64'),
  sample('cidr', '192.168.100.128/25'),
  sample('macaddr', '08:00:2b:01:02:03'),
  sample('macaddr8', '08:00:2b:01:02:03:04:05'),
]

const RANGES = [
  sample('int4range', '[1,10)', 'empty', '(,5)'),
  sample('int8range', '[1,10)'),
  sample('numrange', '[1.5,10.25]'),
  sample('tsrange', '["2026-11-22 01:02:03.4","2026-11-23 00:00:00")'),
  sample('tstzrange', '["2026-11-22 01:02:03.4+02",)'),
  sample('daterange', '[2026-11-22,2026-11-25)'),
  sample('int4multirange', '{[1,3),[5,9)}'),
  sample('float_range', '[1.5,2.5)'),
]

const SHAPES = [
  sample('point', '(1.5,-2)', '(0,0)', '(1e300,NaN)'),
  sample('line', '{1,2,3}'),
  sample('lseg', '[(1,2),(3,4)]'),
  sample('box', '(3,4),(1,2)'),
  sample('path', '[(1,2),(3,4)]'),
  sample('polygon', '((1,2),(3,4),(5,6))'),
  sample('circle', '<(1,2),3>'),
]

const DOMAINS = [
  sample('positive', '7'),
  sample('price', '12.5'),
  sample('priced', '12.5'),
  sample('label', 'abc'),
  sample('short_label', 'abc'),
  sample('int_list', '{1,2}'),
  sample('flag', 't'),
  sample('stamp', '2026-11-22 13:14:15.123'),
]

const ARRAYS = [
  sample('bool[]', '{t,f,NULL}', '{}'),
  sample('int2[]', '{1,-2,NULL}', '{}'),
  sample('int4[]', '{1,-2,NULL}', '{}', '{{1,2},{3,4}}', '[2:3]={5,6}'),
  sample('int8[]', '{1,-9223372036854775808,NULL}'),
  sample('oid[]', '{1,4294967295}'),
  sample('float4[]', '{1.5,0.1,NaN}'),
  sample('float8[]', '{1.5,0.1,-Infinity}'),
  sample('numeric[]', '{1.5,-12345678901234567890.5,NULL}', '{3.0,30,100,0.10,0.0,1000.500,0}'),
  sample('numeric(10, 2)[]', '{1.5,NULL}'),
  sample('money[]', '{$1.50,-$2.00}'),
  sample('text[]', '{a,"b,c","q\\"uote","back\\\\slash","NULL",NULL,""," "}', '{}', '{{a,b},{c,d}}'),
  sample('varchar[]', '{a,NULL}'),
  sample('varchar(10)[]', '{a,NULL}'),
  sample('char(3)[]', '{a,NULL}'),
  sample('bytea[]', '{"\\\\x0102",NULL}'),
  sample('bit(4)[]', '{1010}', '{1010,NULL}'),
  sample('uuid[]', '{0e37df36-f698-11e6-8dd4-cb9ced3df976,NULL}'),
  sample('json[]', '{"{\\"a\\": [1,2]}",NULL}'),
  sample('jsonb[]', '{"{\\"a\\": [1,2]}",NULL}'),
  sample('xml[]', '{<a/>}'),
  sample('date[]', '{2026-11-22,"0044-03-15 BC",NULL}'),
  sample('time[]', '{13:14:15.123456,NULL}'),
  sample('timetz[]', '{13:14:15.123456+02,NULL}'),
  sample('timestamp[]', '{"2026-11-22 13:14:15.123456",NULL}'),
  sample('timestamp(3)[]', '{"2026-11-22 13:14:15.123",NULL}'),
  sample('timestamptz[]', '{"2026-11-22 13:14:15.123456+02",NULL}'),
  sample('interval[]', '{"1 day 02:03:04",NULL}'),
  sample('inet[]', '{192.168.0.1,NULL}'),
  sample('cidr[]', '{192.168.100.128/25}'),
  sample('macaddr[]', '{08:00:2b:01:02:03}'),
  sample('macaddr8[]', '{08:00:2b:01:02:03:04:05}'),
  sample('int4range[]', '{"[1,10)",NULL}'),
  sample('int8range[]', '{"[1,10)"}'),
  sample('numrange[]', '{"[1.5,2.5)"}'),
  sample('tsrange[]', '{"[\\"2026-11-22 01:02:03.4\\",\\"2026-11-23 00:00:00\\")"}'),
  sample('tstzrange[]', '{"[\\"2026-11-22 01:02:03.4+02\\",)"}'),
  sample('daterange[]', '{"[2026-11-22,2026-11-25)"}'),
  sample('point[]', '{"(1,2)"}'),
  sample('citext[]', '{AbC,NULL}'),
  sample('ltree[]', '{a.b}', '{a.b,NULL}'),
  sample('hstore[]', '{"\\"a\\"=>\\"1\\"",NULL}'),
  sample('mood[]', '{sad,"happy,very"}', '{sad,"it\'s ok","happy,very",NULL}'),
  sample('positive[]', '{7,NULL}'),
  sample('price[]', '{1.5}'),
  sample('label[]', '{abc}'),
  sample('tsvector[]', '{"\'a\':1"}'),
]

/** All types, in the order of the columns of the recorded table. */
export const TYPE_SAMPLES = [...NUMBERS, ...TEXTS, ...TIMES, ...NETWORKS, ...RANGES, ...SHAPES, ...DOMAINS, ...ARRAYS]

/** The name of the column of a type: `numeric(10, 2)[]` is `numeric_10_2_array`. */
export function columnName({ type }: TypeSample): string {
  const words = type.replace('[]', ' array').replace('"char"', 'char_byte').replace('-', 'minus ')
  return `c_${words.replace(/[^a-z0-9_]+/g, '_').replace(/_$/, '')}`
}
