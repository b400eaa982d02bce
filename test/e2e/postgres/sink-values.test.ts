import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { postgresSink } from '../../../src/plugins/connectors/postgres/sink/postgres-sink.ts'
import {
  array,
  BOOLEAN,
  BYTES,
  DATE,
  decimal,
  FLOAT32,
  FLOAT64,
  INT8,
  INT16,
  INT32,
  INT64,
  optional,
  runSink,
  type Schema,
  STRING,
  struct,
  TIME,
  TIMESTAMP,
} from '../../../src/sdk/index.ts'
import { describeOn, real } from '../../env/real.ts'
import { createDatabase } from '../../support/database.ts'

const postgres = await real('postgres')
const ROWS = 500

const wholeDecimals = fc.oneof(fc.bigInt(), fc.constantFrom(0n, 1n, -1n, 10n ** 60n, 9_999n, 10_000n, -10_000n))
const decimalsOf = (scale: number) => wholeDecimals.map((unscaled) => ({ unscaled, scale }))
/** From the beginning of PostgreSQL's calendar in 4713 BC to its infinity. */
const dates = fc.oneof(
  fc.date({ min: new Date('-004712-01-02'), max: new Date('9999-12-31'), noInvalidDate: true }),
  fc.date({ min: new Date('1890-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
  fc.constantFrom(new Date(8.64e15), new Date(-8.64e15), new Date(0), new Date('0000-12-31'), new Date('0001-01-01')),
)
const days = dates.map(
  (date) =>
    new Date(
      Math.abs(date.getTime()) < 8.64e15 ? Math.floor(date.getTime() / 86_400_000) * 86_400_000 : date.getTime(),
    ),
)
const texts = fc.string({ unit: 'binary', maxLength: 20 }).map((text) => text.replaceAll('\0', ''))
const integers = (bits: number) => fc.integer({ min: -(2 ** (bits - 1)), max: 2 ** (bits - 1) - 1 })
const longs = fc.oneof(fc.maxSafeInteger(), fc.constantFrom(2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n))
const doubles = fc.double()

const CASES: readonly (readonly [columnType: string, Schema, fc.Arbitrary<unknown>])[] = [
  ['smallint', INT8, integers(8)],
  ['int', INT16, integers(16)],
  ['int', INT32, integers(32)],
  ['bigint', INT64, longs],
  ['int', INT64, integers(32)],
  ['double precision', FLOAT64, doubles],
  ['double precision', FLOAT32, fc.float()],
  ['real', FLOAT32, fc.float()],
  ['numeric', decimal(3), decimalsOf(3)],
  ['numeric', decimal(0), decimalsOf(0)],
  ['numeric', decimal(-2), decimalsOf(-2)],
  ['numeric', decimal(40), decimalsOf(40)],
  ['boolean', BOOLEAN, fc.boolean()],
  ['text', STRING, texts],
  ['varchar(20)', STRING, fc.string({ maxLength: 20 })],
  ['char(20)', STRING, fc.string({ maxLength: 20 })],
  ['jsonb', STRING, fc.json({ maxDepth: 1 }).filter((json) => !json.includes('\\u'))],
  ['uuid', STRING, fc.uuid()],
  ['bytea', BYTES, fc.uint8Array({ maxLength: 20 })],
  ['date', DATE, days],
  ['time', TIME, fc.integer({ min: 0, max: 86_399_999 })],
  ['timestamptz', TIMESTAMP, dates],
  ['timestamp', TIMESTAMP, dates],
  ['int[]', array(optional(INT32)), fc.array(fc.option(integers(32)), { maxLength: 5 })],
  ['text[]', array(optional(STRING)), fc.array(fc.option(fc.string()), { maxLength: 5 })],
]

describeOn([postgres], 'the values of the PostgreSQL sink', () => {
  // Values of a domain are always sent as text, so its column shows what PostgreSQL makes of the text.
  it.each(CASES)(
    'are equal in a column of the type %s and in one of a domain, for %j',
    async (columnType, schema, values) => {
      const database = await createDatabase(postgres.address.url)
      await database.run(`CREATE DOMAIN shown AS ${columnType};
      CREATE TABLE "values" (id int PRIMARY KEY, made ${columnType}, expected shown)`)
      const run = await runSink(postgresSink, {
        config: { ...database.config, 'pk.mode': 'record_value', 'pk.fields': 'id', 'db.timezone': 'Europe/Berlin' },
      })
      onTestFinished(() => run.stop())
      const valueSchema = struct('values', { id: INT32, made: optional(schema), expected: optional(schema) })
      const samples = fc.sample(fc.option(values, { freq: 20 }), {
        numRuns: ROWS,
        seed: fc.readConfigureGlobal()?.seed ?? 1,
      })
      await run.put(
        samples.map((value, id) => ({ topic: 'values', value: { id, made: value, expected: value }, valueSchema })),
      )
      expect(run.rejected).toEqual([])
      const different =
        'SELECT made::text, expected::text FROM "values" WHERE made::text IS DISTINCT FROM expected::text'
      expect(await database.run(different)).toEqual([])
      expect(await database.run('SELECT count(*)::int AS rows, count(made)::int AS present FROM "values"')).toEqual([
        { rows: ROWS, present: samples.filter((value) => value !== null).length },
      ])
    },
  )
})
