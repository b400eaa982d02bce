import { afterAll, expect, it, onTestFinished } from 'vitest'
import { postgresSource } from '../../../src/plugins/connectors/postgres/source/postgres-source.ts'
import { checkValue, runSource, type SourceRecord } from '../../../src/sdk/index.ts'
import { describeOn, real } from '../../env/real.ts'
import { createDatabase, type Database } from '../../support/database.ts'

const postgres = await real('postgres')

let database: Database | undefined

/** A source of a table of one column `c`. */
async function sourceOf(type: string, values: readonly string[], config: Readonly<Record<string, string>> = {}) {
  database ??= await createDatabase(postgres.address.url, afterAll)
  await database.run(`DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public;
    CREATE TYPE mood AS ENUM ('sad', 'ok, "fine"'); CREATE DOMAIN score AS numeric(4, 1);
    CREATE TABLE t (c ${type}); INSERT INTO t VALUES ${values.map((value) => `(${value})`).join(', ')}`)
  const run = runSource(postgresSource, {
    config: { ...database.config, mode: 'bulk', 'topic.prefix': '', ...config },
  })
  onTestFinished(() => run.stop())
  return run
}

/** The records that it gives, each of which fits its schema. */
async function recordsOf(...[type, values, config]: Parameters<typeof sourceOf>) {
  const records = await (await sourceOf(type, values, config)).take(values.length)
  for (const { valueSchema, value } of records) checkValue(valueSchema!, value)
  return records
}

const cellsOf = (records: readonly SourceRecord[]) => records.map(({ value }) => (value as { c: unknown }).c)
const schemaOf = ([record]: readonly SourceRecord[]) => record!.valueSchema!.fields![0]!.schema
const decimal = (text: string, scale: number) => ({ unscaled: BigInt(text), scale })

describeOn([postgres], 'the types of the PostgreSQL source', () => {
  it.each([
    { type: 'boolean', values: ['true', 'false', 'NULL'], schema: { type: 'boolean' }, cells: [true, false, null] },
    { type: 'bit(1)', values: ["B'1'", "B'0'"], schema: { type: 'boolean' }, cells: [true, false] },
    { type: 'smallint', values: ['-32768'], schema: { type: 'int16' }, cells: [-32768] },
    { type: 'integer', values: ['2147483647'], schema: { type: 'int32' }, cells: [2 ** 31 - 1] },
    { type: 'bigint', values: ['5', '-9223372036854775808'], schema: { type: 'int64' }, cells: [5, -(2n ** 63n)] },
    { type: 'real', values: ['1.5', "'NaN'"], schema: { type: 'float32' }, cells: [1.5, Number.NaN] },
    { type: 'float8', values: ["'-Infinity'", '0.1'], schema: { type: 'float64' }, cells: [-Infinity, 0.1] },
    { type: 'money', values: ["'-1234.50'::numeric::money"], schema: { type: 'float64' }, cells: [-1234.5] },
    { type: 'numeric(10, 2)', values: ['-12.5'], schema: { parameters: { scale: '2' } }, cells: [decimal('-1250', 2)] },
    { type: 'score', values: ['7'], schema: { parameters: { scale: '1' } }, cells: [decimal('70', 1)] },
    { type: 'text', values: ["'a\nb'", "''", 'NULL'], schema: { type: 'string' }, cells: ['a\nb', '', null] },
    { type: 'char(3)', values: ["'a'"], schema: { type: 'string' }, cells: ['a  '] },
    { type: 'json', values: [`'{"a": 1}'`], schema: { type: 'string' }, cells: ['{"a": 1}'] },
    { type: 'jsonb', values: [`'{"a":[1]}'`], schema: { type: 'string' }, cells: ['{"a": [1]}'] },
    {
      type: 'uuid',
      values: ["'6A2F41A3-C54C-4CD2-AD35-6D8A3F0F23A9'"],
      schema: { type: 'string' },
      cells: ['6a2f41a3-c54c-4cd2-ad35-6d8a3f0f23a9'],
    },
    { type: 'mood', values: [`'ok, "fine"'`], schema: { type: 'string' }, cells: ['ok, "fine"'] },
    { type: 'interval', values: ["'1 day 2 hours'"], schema: { type: 'string' }, cells: ['1 day 02:00:00'] },
    { type: 'inet', values: ["'10.0.0.1/8'"], schema: { type: 'string' }, cells: ['10.0.0.1/8'] },
    { type: 'bytea', values: ["'\\x00ff'"], schema: { type: 'bytes' }, cells: [Buffer.from([0, 255])] },
    {
      type: 'date',
      values: ["'2026-03-29'", "'0044-03-15 BC'", "'infinity'"],
      schema: { name: 'org.apache.kafka.connect.data.Date' },
      cells: [new Date('2026-03-29'), new Date('-000043-03-15'), new Date(8.64e15)],
    },
    {
      type: 'time',
      values: ["'23:59:59.999999'"],
      schema: { name: 'org.apache.kafka.connect.data.Time' },
      cells: [86_399_999],
    },
    {
      type: 'timestamp',
      values: ["'2026-03-29 12:00:00.123456'", "'12026-01-01'"],
      schema: { name: 'org.apache.kafka.connect.data.Timestamp' },
      cells: [new Date('2026-03-29T12:00:00.123Z'), new Date('+012026-01-01')],
    },
    {
      type: 'timestamptz',
      values: ["'2026-03-29 12:00+02'"],
      schema: { name: 'org.apache.kafka.connect.data.Timestamp' },
      cells: [new Date('2026-03-29T10:00Z')],
    },
    {
      type: 'integer[]',
      values: ["'{1,NULL,3}'", "'{}'"],
      schema: { type: 'array', items: { type: 'int32', optional: true } },
      cells: [[1, null, 3], []],
    },
    {
      type: 'mood[]',
      values: [`ARRAY['sad', 'ok, "fine"']::mood[]`],
      schema: { type: 'array', items: { type: 'string' } },
      cells: [['sad', 'ok, "fine"']],
    },
    {
      type: 'text[]',
      values: [`ARRAY['a"b', 'c\\d', '{x}', 'NULL', '', NULL]`],
      schema: { type: 'array', items: { type: 'string' } },
      cells: [['a"b', 'c\\d', '{x}', 'NULL', '', null]],
    },
  ])('map $type', async ({ type, values, schema, cells }) => {
    const records = await recordsOf(type, values)
    expect(schemaOf(records)).toMatchObject({ ...schema, optional: true })
    expect(cellsOf(records)).toEqual(cells)
  })

  it('keep all digits of floating point numbers, whatever the database is set to', async () => {
    const source = await sourceOf('float8[]', ["'{0.30000000000000004}'"])
    await database!.run(`ALTER DATABASE ${database!.name} SET extra_float_digits = 0`)
    expect(cellsOf(await source.take(1))).toEqual([[0.1 + 0.2]])
    await database!.run(`ALTER DATABASE ${database!.name} RESET extra_float_digits`)
  })

  it('make a field required if the column is NOT NULL', async () => {
    expect(schemaOf(await recordsOf('int NOT NULL', ['1']))).toEqual({ type: 'int32' })
  })

  it.each([
    {
      mapping: 'none',
      type: 'numeric',
      schema: { parameters: { scale: '127' } },
      cell: decimal(`15${'0'.repeat(126)}`, 127),
    },
    { mapping: 'best_fit', type: 'numeric', schema: { type: 'float64' }, cell: 1.5 },
    { mapping: 'precision_only', type: 'numeric(2)', schema: { type: 'int8' }, cell: 2 },
    { mapping: 'precision_only', type: 'numeric(4)', schema: { type: 'int16' }, cell: 2 },
    { mapping: 'precision_only', type: 'numeric(9)', schema: { type: 'int32' }, cell: 2 },
    { mapping: 'precision_only', type: 'numeric(18)', schema: { type: 'int64' }, cell: 2 },
    { mapping: 'precision_only', type: 'numeric(19)', schema: { parameters: { scale: '0' } }, cell: decimal('2', 0) },
    {
      mapping: 'precision_only',
      type: 'numeric(4, 1)',
      schema: { parameters: { scale: '1' } },
      cell: decimal('15', 1),
    },
    { mapping: 'best_fit', type: 'numeric(4, 1)', schema: { type: 'float64' }, cell: 1.5 },
    { mapping: 'best_fit', type: 'numeric(30, 1)', schema: { parameters: { scale: '1' } }, cell: decimal('15', 1) },
    { mapping: 'best_fit_eager_double', type: 'numeric(30, 1)', schema: { type: 'float64' }, cell: 1.5 },
  ])('map $type by numeric.mapping=$mapping', async ({ mapping, type, schema, cell }) => {
    const records = await recordsOf(type, ['1.5'], { 'numeric.mapping': mapping })
    expect(schemaOf(records)).toMatchObject(schema)
    expect(cellsOf(records)).toEqual([cell])
  })

  it.each([
    ['micros_long', 1_767_222_000_123_456],
    ['micros_string', '1767222000123456'],
    ['micros_iso_datetime_string', '2026-01-01T00:00:00.123456'],
    ['nanos_long', 1_767_222_000_123_456_000n],
    ['nanos_string', '1767222000123456000'],
    ['nanos_iso_datetime_string', '2026-01-01T00:00:00.123456000'],
  ])('map timestamps in db.timezone by timestamp.granularity=%s', async (granularity, cell) => {
    const config = { 'timestamp.granularity': granularity, 'db.timezone': 'Europe/Berlin' }
    expect(cellsOf(await recordsOf('timestamp', ["'2026-01-01 00:00:00.123456'"], config))).toEqual([cell])
  })

  it.each([
    {
      type: 'numeric(3, 1)',
      value: "'NaN'",
      message:
        /^cannot convert the column 'c' of the table public\.t in the row \(NaN\): NaN is not a decimal number: set /,
      text: 'NaN',
      good: '1.5',
    },
    {
      type: 'int[]',
      value: "'{{1},{2}}'",
      message: /a multidimensional array has no Connect schema/,
      text: '{{1},{2}}',
      good: "'{3}'",
    },
  ])(
    'reject only the row with the $type $value, with its location in the error',
    async ({ type, value, message, text, good }) => {
      const run = await sourceOf(type, [good, value, good])
      expect(await run.take(2)).toHaveLength(2)
      expect(run.rejected).toEqual([
        {
          record: expect.objectContaining({ topic: 't', value: JSON.stringify({ c: text }) }),
          error: expect.anything(),
        },
      ])
      expect(run.rejected[0]!.error.message).toMatch(message)
    },
  )
})
