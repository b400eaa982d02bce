import { expect, it, onTestFinished } from 'vitest'
import { postgresSource } from '../../../src/plugins/connectors/postgres/source/postgres-source.ts'
import { runSource, type SourceRecord } from '../../../src/sdk/index.ts'
import { describeOn, real } from '../../env/real.ts'
import { createDatabase, type Database } from '../../support/database.ts'

const postgres = await real('postgres')

const ROWS = 300
/** Random values and NULL of the types of a column. `n` is the number of the row. */
const COLUMNS = {
  small: ['smallint', '(random() * 65535 - 32768)::int'],
  large: ['bigint', '(ARRAY[9223372036854775807, -9223372036854775808, n * 7919, -n, 999999999999999])[1 + n % 5]'],
  price: ['numeric(12, 2)', '((random() - 0.5) * 10 ^ (n % 10))::numeric(12, 2)'],
  whole: ['numeric(9)', '(random() * 10 ^ (n % 9))::numeric(9)'],
  wide: ['numeric(60, 20)', '((random() - 0.5) * 10 ^ (n % 39))::numeric(60, 20)'],
  ratio: ['float8', "(ARRAY['NaN', 'Infinity', '-0', '1e300', (random() * 1000)::text])[1 + n % 5]::float8"],
  real: ['float4', 'random() * 10 ^ (n % 20 - 10)'],
  done: ['boolean', 'random() < 0.5'],
  day: ['date', "(ARRAY['infinity'::date, '0044-03-15 BC', '12026-01-01', date '2000-01-01' + n])[1 + n % 4]"],
  local: ['timestamp', "timestamp '2026-03-28 22:00:00' + n * interval '7 minutes 1.000001 seconds'"],
  instant: [
    'timestamptz',
    "(ARRAY['-infinity'::timestamptz, '0099-01-01 BC', now() - n * interval '1 us'])[1 + n % 3]",
  ],
  clock: ['time', "time '23:59:59.999' - n * interval '1 s'"],
  word: ['text', "repeat(chr(1 + (n * 3571) % 55295), (n * 37) % 200) || E'\\n\\t\\\\,é𝄞'"],
  long: ['text', "CASE WHEN n % 100 = 0 THEN repeat('x', 100000) ELSE '' END"],
  name: ['varchar(9)', 'left(md5(n::text), n % 10)'],
  data: ['jsonb', "jsonb_build_object('n', n, 'é', ARRAY[n, null])"],
  raw: ['bytea', "decode(md5(n::text), 'hex')"],
  key: ['uuid', 'md5(n::text)::uuid'],
  list: ['integer[]', 'ARRAY[n, NULL, -n]'],
  bit: ['bit(1)', '(n % 2)::bit(1)'],
} as const

const CREATE = `CREATE TABLE t (id bigint PRIMARY KEY, at timestamptz NOT NULL, ${Object.entries(COLUMNS)
  .map(([name, [type]]) => `"${name}" ${type}`)
  .join(', ')});
  INSERT INTO t SELECT n, timestamptz '2026-01-01' + (n / 3) * interval '1 ms', ${Object.values(COLUMNS)
    .map(([, value]) => `CASE WHEN random() < 0.1 THEN NULL ELSE ${value} END`)
    .join(', ')} FROM generate_series(1, ${ROWS}) n`

/** The batches of the source until it has returned these rows. */
async function batchesOf(database: Database, rows: number, config: Readonly<Record<string, string>>) {
  const batches: (readonly SourceRecord[])[] = []
  const recording = {
    ...postgresSource,
    async *poll(context: Parameters<typeof postgresSource.poll>[0]) {
      for await (const batch of postgresSource.poll(context)) {
        batches.push(batch)
        yield batch
      }
    },
  }
  const run = runSource(recording, { config: { ...database.config, 'topic.prefix': '', ...config } })
  onTestFinished(() => run.stop())
  await run.take(rows)
  return batches.filter(({ length }) => length > 0)
}

describeOn([postgres], 'the batches of the PostgreSQL source', () => {
  it.each([
    { mode: 'bulk' },
    { mode: 'incrementing', 'incrementing.column.name': 'id', 'numeric.mapping': 'best_fit' },
    { mode: 'timestamp', 'timestamp.column.name': 'at', 'timestamp.granularity': 'micros_long' },
    {
      mode: 'timestamp+incrementing',
      'timestamp.column.name': 'at',
      'incrementing.column.name': 'id',
      'db.timezone': 'Europe/Berlin',
      'numeric.mapping': 'best_fit_eager_double',
      'timestamp.granularity': 'nanos_iso_datetime_string',
    },
  ])('have batch.max.rows records, and each row once with %j', async (config) => {
    const database = await createDatabase(postgres.address.url)
    await database.run(CREATE)
    const batches = await batchesOf(database, ROWS, { ...config, 'batch.max.rows': '70' })
    expect(batches.map(({ length }) => length)).toEqual([70, 70, 70, 70, 20])
    expect(
      batches
        .flat()
        .map(({ value }) => Number((value as { id: unknown }).id))
        .toSorted((a, b) => a - b),
    ).toEqual(Array.from({ length: ROWS }, (_, index) => index + 1))
  })

  it('end in timestamp mode with an offset behind which all rows with its timestamp are', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`CREATE TABLE t (id int, at timestamptz NOT NULL);
      INSERT INTO t SELECT n, timestamptz '2026-01-01' + (n / 3) * interval '1 ms' FROM generate_series(3, 14) n`)
    const config = { mode: 'timestamp', 'timestamp.column.name': 'at', 'batch.max.rows': '5' }
    const batches = await batchesOf(database, 12, config)
    const start = Date.parse('2026-01-01')
    expect(batches.map((batch) => batch.at(-1)!.sourceOffset['timestamp'])).toEqual([start + 1, start + 3, start + 4])
  })

  it('have the characters of a database with another encoding', async () => {
    const database = await createDatabase(postgres.address.url)
    const name = `${database.name}_latin`
    await database.run(`CREATE DATABASE ${name} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`)
    onTestFinished(async () => void (await database.run(`DROP DATABASE ${name} WITH (FORCE)`)))
    const url = database.config['connection.url'].replace(database.name, name)
    const latin = { ...database, config: { ...database.config, 'connection.url': url } }
    const [batch] = await batchesOf(latin, 1, { mode: 'bulk', query: 'SELECT chr(233) AS c', 'topic.prefix': 't' })
    expect(batch!.map(({ value }) => value)).toEqual([{ c: 'é' }])
  })
})
