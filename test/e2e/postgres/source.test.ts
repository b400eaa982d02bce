import { expect, it, onTestFinished } from 'vitest'
import { postgresSource } from '../../../src/plugins/connectors/postgres/source/postgres-source.ts'
import { type Position, runSource, type SourceRecord, UNRESTRICTED } from '../../../src/sdk/index.ts'
import { describeOn, real } from '../../env/real.ts'
import { createDatabase, type Database } from '../../support/database.ts'

const postgres = await real('postgres')

type Offsets = readonly { readonly partition: Position; readonly offset: Position }[]

/** The source on a database; it ends with the test. */
function source(database: Database, config: Readonly<Record<string, string>>, offsets: Offsets = []) {
  const run = runSource(postgresSource, {
    config: { ...database.config, 'topic.prefix': 'pg-', 'poll.interval.ms': '10', ...config },
    offsets,
  })
  onTestFinished(() => run.stop())
  return run
}

const valuesOf = (records: readonly SourceRecord[], field: string) =>
  records.map(({ value }) => (value as Record<string, unknown>)[field])

const offsetsOf = (records: readonly SourceRecord[]): Offsets =>
  records.slice(-1).map(({ sourcePartition, sourceOffset }) => ({ partition: sourcePartition, offset: sourceOffset }))

const CHANGES = `CREATE TABLE changes (id serial PRIMARY KEY, word text, at timestamptz NOT NULL DEFAULT clock_timestamp())`

describeOn([postgres], 'the PostgreSQL source', () => {
  it('reads new rows by an incrementing column, and resumes after the last one', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`${CHANGES}; INSERT INTO changes (word) VALUES ('a'), ('b'), ('c')`)
    const first = source(database, { mode: 'incrementing' })
    const records = await first.take(3)
    expect(valuesOf(records, 'word')).toEqual(['a', 'b', 'c'])
    expect(records[2]).toMatchObject({
      topic: 'pg-changes',
      sourcePartition: { protocol: '1', table: 'public.changes' },
      sourceOffset: { incrementing: 3 },
      valueSchema: { type: 'struct', name: 'changes' },
    })
    await database.run("INSERT INTO changes (word) VALUES ('d'); UPDATE changes SET word = 'A' WHERE id = 1")
    expect(valuesOf(await first.take(1), 'word')).toEqual(['d'])
    const second = source(database, { mode: 'incrementing' }, offsetsOf(records))
    expect(valuesOf(await second.take(1), 'word')).toEqual(['d'])
  })

  it('reads new and changed rows by timestamp and id, without repeating rows', async () => {
    const database = await createDatabase(postgres.address.url)
    const config = { mode: 'timestamp+incrementing', 'timestamp.column.name': 'at' }
    await database.run(
      `${CHANGES}; INSERT INTO changes (word, at) SELECT n, '2026-01-01Z' FROM generate_series(1, 5) n`,
    )
    const first = source(database, { ...config, 'batch.max.rows': '2' })
    const records = await first.take(3)
    expect(records[2]!.sourceOffset).toEqual({ incrementing: 3, timestamp: 1_767_225_600_000, timestamp_nanos: 0 })
    const second = source(database, config, offsetsOf(records))
    expect(valuesOf(await second.take(2), 'id')).toEqual([4, 5])
    await database.run("UPDATE changes SET word = 'changed', at = clock_timestamp() WHERE id = 2")
    expect((await second.take(1))[0]!.value).toMatchObject({ id: 2, word: 'changed' })
  })

  it('skips no rows with the same timestamp when query.suffix limits the rows, and fails if it cannot proceed', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`CREATE TABLE limited (id int, at timestamptz NOT NULL);
      INSERT INTO limited SELECT n, timestamptz '2026-01-01' + n / 3 * interval '1 s' FROM generate_series(1, 12) n`)
    const config = { mode: 'timestamp', 'timestamp.column.name': 'at', 'table.whitelist': 'limited' }
    const run = source(database, { ...config, 'query.suffix': 'LIMIT 5' })
    const ids = new Set<unknown>()
    while (ids.size < 12) for (const id of valuesOf(await run.take(1), 'id')) ids.add(id)
    const ties = source(database, { ...config, 'query.suffix': 'FETCH FIRST 2 ROWS WITH TIES' })
    expect(valuesOf(await ties.take(12), 'id')).toEqual(Array.from({ length: 12 }, (_, index) => index + 1))
    const stuck = source(database, { ...config, 'query.suffix': 'LIMIT 2' })
    const failure = (async () => {
      for (;;) await stuck.nextBatch()
    })()
    await expect(failure).rejects.toThrow('query.suffix=LIMIT 2 would skip rows')
  })

  it('resumes by timestamp without skipping rows with the same timestamp', async () => {
    const database = await createDatabase(postgres.address.url)
    const config = { mode: 'timestamp', 'timestamp.column.name': 'at', 'batch.max.rows': '3' }
    await database.run(`${CHANGES}; INSERT INTO changes (at) SELECT '2026-01-01Z'::timestamptz + n / 4 * interval '1 s'
      FROM generate_series(0, 7) n`)
    const first = source(database, config)
    const records = await first.take(6)
    expect(records.map(({ sourceOffset }) => sourceOffset['timestamp'])).toEqual([
      undefined,
      undefined,
      undefined,
      ...Array(3).fill(1_767_225_600_000),
    ])
    const second = source(database, config, offsetsOf(records))
    expect(valuesOf(await second.take(4), 'id')).toEqual([5, 6, 7, 8])
  })

  it('uses the first timestamp column that is not null', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`CREATE TABLE two (id int, changed timestamp, made timestamp NOT NULL);
      INSERT INTO two VALUES (1, '2026-01-03', '2026-01-01'), (2, NULL, '2026-01-02')`)
    const run = source(database, { mode: 'timestamp', 'timestamp.column.name': 'changed,made' })
    expect(valuesOf(await run.take(2), 'id')).toEqual([2, 1])
  })

  it('reads all rows at each poll with mode=bulk', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`${CHANGES}; INSERT INTO changes (word) VALUES ('a'), ('b')`)
    const run = source(database, { mode: 'bulk' })
    expect(valuesOf(await run.take(4), 'word')).toEqual(['a', 'b', 'a', 'b'])
  })

  it('reads the rows of the configured `query`', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`${CHANGES}; INSERT INTO changes (word) VALUES ('a'), ('b')`)
    const query = 'SELECT * FROM (SELECT id AS "Number", upper(word) AS word FROM changes) AS shouted;'
    const config = { mode: 'incrementing', query, 'incrementing.column.name': 'Number', 'topic.prefix': 'shouts' }
    const records = await source(database, config).take(2)
    expect(valuesOf(records, 'word')).toEqual(['A', 'B'])
    expect(records[1]).toMatchObject({
      topic: 'shouts',
      sourcePartition: { query: 'query' },
      sourceOffset: { incrementing: 2 },
    })
    expect(records[1]!.valueSchema).not.toHaveProperty('name')
  })

  it('starts at timestamp.initial without a stored offset', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`${CHANGES}; INSERT INTO changes (at) VALUES ('2026-01-01Z'), ('2026-01-03Z')`)
    const config = { mode: 'timestamp', 'timestamp.column.name': 'at' }
    const run = source(database, { ...config, 'timestamp.initial': String(Date.UTC(2026, 0, 2)) })
    expect(valuesOf(await run.take(1), 'id')).toEqual([2])
    const now = source(database, { ...config, 'timestamp.initial': '-1' })
    await now.nextBatch()
    await database.run('INSERT INTO changes DEFAULT VALUES')
    expect(valuesOf(await now.take(1), 'id')).toEqual([3])
  })

  it('waits for open transactions that may still add an earlier row', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(CHANGES)
    for (const config of [
      { mode: 'incrementing' },
      { mode: 'timestamp+incrementing', 'timestamp.column.name': 'at' },
    ]) {
      await database.run('TRUNCATE changes')
      const slow = await database.client()
      await slow.query("BEGIN; INSERT INTO changes (word) VALUES ('early')")
      await database.run("INSERT INTO changes (word) VALUES ('late')")
      const taken = source(database, config).take(2)
      const stillOpen = source(database, { ...config, 'transactions.wait.ms': '0' })
      expect(valuesOf(await stillOpen.take(1), 'word')).toEqual(['late'])
      await slow.query('COMMIT')
      await slow.end()
      expect(valuesOf(await taken, 'word')).toEqual(['early', 'late'])
    }
  })

  it('does not wait for the transactions of other sources', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`${CHANGES}; INSERT INTO changes (word) VALUES ('a'), ('b'), ('c')`)
    const config = { mode: 'incrementing', 'batch.max.rows': '1', 'transactions.wait.ms': '3600000' }
    const [one, other] = [source(database, config), source(database, config)]
    // Each is in the middle of its reading, which is a transaction.
    expect(valuesOf(await one.take(1), 'id')).toEqual([1])
    expect(valuesOf(await other.take(1), 'id')).toEqual([1])
  })

  it('reads with the configured transaction isolation level', async () => {
    const database = await createDatabase(postgres.address.url)
    const config = { mode: 'bulk', query: "SELECT current_setting('transaction_isolation') AS level" }
    expect(valuesOf(await source(database, config).take(1), 'level')).toEqual(['read committed'])
    const strict = { ...config, 'transaction.isolation.mode': 'REPEATABLE_READ' }
    expect(valuesOf(await source(database, strict).take(1), 'level')).toEqual(['repeatable read'])
  })

  it('stops waiting for a transaction after transactions.wait.ms, and logs one warning', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(CHANGES)
    const idle = await database.client()
    await idle.query('BEGIN; INSERT INTO changes DEFAULT VALUES')
    await database.run('INSERT INTO changes DEFAULT VALUES')
    const warnings: string[] = []
    const log = { debug() {}, info() {}, error() {}, warn: (_: object, message: string) => void warnings.push(message) }
    const run = runSource(postgresSource, {
      config: {
        ...database.config,
        mode: 'incrementing',
        'topic.prefix': '',
        'poll.interval.ms': '0',
        'transactions.wait.ms': '50',
      },
      log,
    })
    onTestFinished(() => run.stop())
    expect(valuesOf(await run.take(1), 'id')).toEqual([2])
    await database.run('INSERT INTO changes DEFAULT VALUES')
    expect(valuesOf(await run.take(1), 'id')).toEqual([3])
    expect(warnings).toEqual([expect.stringContaining('transactions are still open after transactions.wait.ms')])
    await idle.end()
  })

  it('distributes the selected tables among the tasks', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`CREATE SCHEMA shop; CREATE SCHEMA other; CREATE TABLE shop."Order, paid" (id int); CREATE TABLE shop.b (id int);
      CREATE TABLE shop.c (id int); CREATE TABLE other.d (id int); CREATE VIEW shop.v AS SELECT 1`)
    const tasks = async (config: Readonly<Record<string, string>>, tasksMax = 1) => {
      const raw = { ...database.config, mode: 'bulk', 'topic.prefix': '', ...config }
      const made = await postgresSource.tasks!(postgresSource.config.parse(raw), tasksMax, raw, UNRESTRICTED)
      return made.map((task) => task['tables'])
    }
    expect(await tasks({}, 2)).toEqual(['"other"."d","shop"."Order, paid"', '"shop"."b","shop"."c"'])
    expect(await tasks({}, 9)).toHaveLength(4)
    expect(await tasks({ 'schema.pattern': 'sho_' })).toEqual(['"shop"."Order, paid","shop"."b","shop"."c"'])
    expect(await tasks({ 'table.whitelist': 'shop.b,d' })).toEqual(['"other"."d","shop"."b"'])
    expect(await tasks({ 'table.blacklist': 'b,"shop"."c",other.d' })).toEqual(['"shop"."Order, paid"'])
    expect(await tasks({ 'table.include.list': 'shop\\..*', 'table.exclude.list': '.*O.*' })).toEqual([
      '"shop"."b","shop"."c"',
    ])
    expect(await tasks({ 'table.types': 'view' })).toEqual(['"shop"."v"'])
    expect(await tasks({ 'table.whitelist': 'nowhere' }, 4)).toEqual([''])
    await database.run('CREATE TABLE other.b (id int)')
    await expect(tasks({})).rejects.toThrow('several schemas have a table b')
  })

  it('resumes from the offsets of every version of the JDBC connectors', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`${CHANGES}; INSERT INTO changes (word) VALUES ('a'), ('b'), ('c')`)
    const partitions: Position[] = [
      { protocol: '1', table: 'public.changes' },
      { protocol: '1', table: `${database.name}.public.changes` },
      { table: 'changes' },
    ]
    for (const partition of partitions) {
      const run = source(database, { mode: 'incrementing' }, [{ partition, offset: { incrementing: 2 } }])
      expect(valuesOf(await run.take(1), 'word')).toEqual(['c'])
    }
  })

  it('continues if the columns of a table change', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`${CHANGES}; INSERT INTO changes (word) VALUES ('a')`)
    const run = source(database, { mode: 'incrementing' })
    await run.take(1)
    await database.run("ALTER TABLE changes ADD COLUMN more int; INSERT INTO changes (word, more) VALUES ('b', 7)")
    expect((await run.take(1))[0]!.value).toMatchObject({ word: 'b', more: 7 })
  })

  it('reconnects if the connection is lost', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`${CHANGES}; INSERT INTO changes (word) SELECT n FROM generate_series(1, 3000) n`)
    const run = source(database, { mode: 'incrementing', 'batch.max.rows': '1000' })
    const begun = await run.take(500)
    await database.run(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'weir%' AND datname = current_database()",
    )
    const ids = valuesOf([...begun, ...(await run.take(2500))], 'id')
    expect(ids).toEqual(Array.from({ length: 3000 }, (_, index) => index + 1))
  })
})
