import { expect, it, onTestFinished } from 'vitest'
import { postgresSource } from '../../../src/plugins/connectors/postgres/source/postgres-source.ts'
import { type Position, runSource } from '../../../src/sdk/index.ts'
import { freePort } from '../../env/ports.ts'
import { describeOn, real } from '../../env/real.ts'
import { createDatabase, type Database } from '../../support/database.ts'

const postgres = await real('postgres')

const TABLE = 'CREATE TABLE rows (id serial PRIMARY KEY, word text, at timestamp)'

/** What the first batch of the source fails with. */
async function failureOf(
  { config }: Pick<Database, 'config'>,
  own: Readonly<Record<string, string>>,
  offsets: readonly { readonly partition: Position; readonly offset: Position }[] = [],
): Promise<string> {
  const base = { mode: 'incrementing', 'topic.prefix': '', 'connection.attempts': '2', 'connection.backoff.ms': '1' }
  const run = runSource(postgresSource, { config: { ...config, ...base, ...own }, offsets })
  onTestFinished(() => run.stop())
  const failure = await run.take(1).catch((error: Error) => error)
  return failure instanceof Error ? failure.message : 'it did not fail'
}

describeOn([postgres], 'errors of the PostgreSQL source', () => {
  it('name the wrong host, port, password or database', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(TABLE)
    const { host } = new URL(postgres.address.url)
    const nobody = await freePort()
    expect(await failureOf(database, { 'connection.url': 'jdbc:postgresql://nowhere.invalid/db' })).toMatch(
      /could not connect to the database at nowhere\.invalid:5432: .*; correct the host in connection\.url/,
    )
    expect(await failureOf(database, { 'connection.url': `jdbc:postgresql://127.0.0.1:${nobody}/db` })).toMatch(
      /ECONNREFUSED.*; start the server, or correct the host and port/,
    )
    expect(await failureOf(database, { 'connection.password': 'a wrong one' })).toMatch(
      /password authentication failed.*\[28P01\]; correct connection\.user and connection\.password/,
    )
    expect(await failureOf(database, { 'connection.url': `jdbc:postgresql://${host}/no_such` })).toMatch(
      /database "no_such" does not exist.*\[3D000\]; correct the name of the database/,
    )
  })

  it('report tables that do not exist or that the role may not read', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`${TABLE}; INSERT INTO rows (word) VALUES ('a')`)
    const role = database.name
    await database.run(`CREATE ROLE ${role} LOGIN PASSWORD 'x'`)
    onTestFinished(async () => void (await database.run(`DROP OWNED BY ${role}; DROP ROLE ${role}`)))
    expect(await failureOf(database, { 'table.whitelist': 'absent' })).toMatch(
      /there is no table to read: .* table\.whitelist=absent/,
    )
    expect(await failureOf(database, { tables: '"public"."absent"' })).toMatch(
      /could not read the columns of the table public\.absent: the table does not exist; create it/,
    )
    expect(await failureOf(database, { 'connection.user': role, 'connection.password': 'x' })).toMatch(
      /permission denied for table rows \[42501\]; grant the privilege to the role of connection\.user/,
    )
  })

  it('are retried until the server accepts connections, without losing rows', async () => {
    const database = await createDatabase(postgres.address.url)
    const role = database.name
    await database.run(`${TABLE}; INSERT INTO rows (word) VALUES ('a');
      CREATE ROLE ${role} LOGIN PASSWORD 'x'; GRANT SELECT ON rows TO ${role}`)
    onTestFinished(async () => void (await database.run(`DROP OWNED BY ${role}; DROP ROLE ${role}`)))
    const warned: string[] = []
    const log = {
      debug() {},
      info() {},
      error() {},
      warn: (fields: object) => void warned.push(String((fields as { err?: Error }).err)),
    }
    const config = {
      ...database.config,
      'connection.user': role,
      'connection.password': 'x',
      mode: 'incrementing',
      'topic.prefix': '',
      'poll.interval.ms': '1',
    }
    const run = runSource(postgresSource, { config, log })
    onTestFinished(() => run.stop())
    await run.take(1)
    await database.run("INSERT INTO rows (word) VALUES ('b')")
    // As of a server that has no room: who is in is thrown out, and nobody is let in.
    await database.run(`ALTER ROLE ${role} CONNECTION LIMIT 0`)
    await database.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`)
    const batches = run.take(1)
    await expect.poll(() => warned.length).toBeGreaterThan(1)
    await database.run(`ALTER ROLE ${role} CONNECTION LIMIT -1`)
    expect((await batches)[0]!.value).toMatchObject({ word: 'b' })
    expect(warned.join('\n')).toMatch(/too many connections for role .* \[53300\]; increase max_connections/)
  })

  it('report columns that are unsuitable for the mode', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`${TABLE}; CREATE TABLE bare (n int); INSERT INTO bare VALUES (NULL)`)
    const byTime = { mode: 'timestamp', 'table.whitelist': 'rows' }
    expect(await failureOf(database, { ...byTime, 'timestamp.column.name': 'when' })).toMatch(
      /the table public\.rows has no column 'when' \(timestamp\.column\.name\); its columns are id, word, at/,
    )
    expect(await failureOf(database, { ...byTime, 'timestamp.column.name': 'at' })).toMatch(
      /the timestamp of the table public\.rows \('at'\) may be null: declare it NOT NULL, or set validate\.non\.null=false/,
    )
    expect(await failureOf(database, { 'table.whitelist': 'bare' })).toMatch(/has no identity or serial column/)
    const loose = { 'table.whitelist': 'bare', 'incrementing.column.name': 'n', 'validate.non.null': 'false' }
    expect(await failureOf(database, { ...loose, 'transactions.wait.ms': '0' })).toMatch(
      /the incrementing column 'n' of the table public\.bare is null: it must be an integer/,
    )
    expect(await failureOf(database, { query: 'SELECT nonsense', 'incrementing.column.name': 'n' })).toMatch(
      /column "nonsense" does not exist \[42703\]/,
    )
  })

  it('report a database clock that was set back before rows are skipped', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`${TABLE}; INSERT INTO rows (at) VALUES (now())`)
    const config = { mode: 'timestamp', 'timestamp.column.name': 'at', 'validate.non.null': 'false' }
    const offset = { timestamp: Date.UTC(2100, 0, 1), timestamp_nanos: 0 }
    expect(await failureOf(database, config, [{ partition: { protocol: '1', table: 'public.rows' }, offset }])).toMatch(
      /the clock of the database is at .*, but the table public\.rows was already read up to 2100-01-01 00:00:00\.000000\+00:00:00/,
    )
  })

  it('report a database clock that is set back while a table is read, without losing rows', async () => {
    const database = await createDatabase(postgres.address.url)
    // The clock that a role sees whose search path has another function before PostgreSQL's own.
    const clock = (at: string) => `CREATE OR REPLACE FUNCTION skewed.clock_timestamp() RETURNS timestamptz LANGUAGE sql
      AS $$ SELECT pg_catalog.clock_timestamp() ${at} $$`
    const insert = 'INSERT INTO rows (at) VALUES (timezone($$UTC$$, skewed.clock_timestamp()) - interval $$1 s$$)'
    await database.run(`${TABLE}; CREATE SCHEMA skewed; ${clock('')}; ${insert}`)
    const config = {
      ...database.config,
      'connection.url': `${database.config['connection.url']}?currentSchema=skewed,pg_catalog,public`,
      'topic.prefix': '',
      'poll.interval.ms': '1',
      mode: 'timestamp',
      'timestamp.column.name': 'at',
      'validate.non.null': 'false',
    }
    const first = runSource(postgresSource, { config })
    onTestFinished(() => first.stop())
    const [read] = await first.take(1)
    await database.run(`${clock("- interval '1 h'")}; ${insert}`)
    await expect(first.take(1)).rejects.toThrow(
      /the clock of the database is at .*, but the table public\.rows was already read up to .*: rows written now would be skipped\. Correct the clock/,
    )
    // As the message says: set back to before the clock was.
    const hoursAgo = Number(read!.sourceOffset['timestamp']) - 2 * 3_600_000
    const offsets = [{ partition: read!.sourcePartition, offset: { ...read!.sourceOffset, timestamp: hoursAgo } }]
    const second = runSource(postgresSource, { config, offsets })
    onTestFinished(() => second.stop())
    expect((await second.take(1))[0]!.value).toMatchObject({ id: 2 })
    await database.run(clock(''))
    expect((await second.take(1))[0]!.value).toMatchObject({ id: 1 })
  })

  it('are avoided for rows with a future timestamp, which are read later', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(
      `${TABLE}; INSERT INTO rows (at) VALUES (timezone('UTC', now()) + interval '1 hour'), (timezone('UTC', now()))`,
    )
    const run = runSource(postgresSource, {
      config: {
        ...database.config,
        'topic.prefix': '',
        'poll.interval.ms': '10',
        mode: 'timestamp',
        'timestamp.column.name': 'at',
        'validate.non.null': 'false',
      },
    })
    onTestFinished(() => run.stop())
    expect((await run.take(1))[0]!.value).toMatchObject({ id: 2 })
    expect(await run.nextBatch()).toEqual([])
  })

  it('reject a row that cannot be converted once, and continue after it', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`CREATE TABLE odd (id int PRIMARY KEY, n numeric(4, 1));
      INSERT INTO odd SELECT n, 'NaN' FROM generate_series(1, 3) n`)
    const config = {
      ...database.config,
      'topic.prefix': '',
      'poll.interval.ms': '1',
      'batch.max.rows': '1',
      mode: 'incrementing',
      'incrementing.column.name': 'id',
    }
    const run = runSource(postgresSource, { config })
    onTestFinished(() => run.stop())
    // Nothing but an empty batch, before which the rows went to the dead letters; then they are behind.
    for (let batch = 1; batch <= 3; batch += 1) {
      expect(await run.nextBatch()).toEqual([])
      expect(run.rejected).toHaveLength(batch)
    }
    expect(run.rejected.map(({ record }) => record.sourceOffset)).toEqual(
      [1, 2, 3].map((incrementing) => ({ incrementing })),
    )
    expect(run.advanced.map(({ offset }) => offset)).toEqual([1, 2, 3].map((incrementing) => ({ incrementing })))
    await database.run('INSERT INTO odd VALUES (4, 1)')
    expect((await run.take(1))[0]).toMatchObject({ value: { id: 4 }, sourceOffset: { incrementing: 4 } })
    expect(run.rejected).toHaveLength(3)
  })

  it('reject a row at the end of a table once, also after a restart', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`CREATE TABLE odd (id int PRIMARY KEY, at timestamptz NOT NULL, n numeric(4, 0));
      INSERT INTO odd VALUES (1, '2026-01-01', 1), (2, '2026-01-02', 'NaN')`)
    const modes = [
      { mode: 'incrementing', 'incrementing.column.name': 'id' },
      { mode: 'timestamp', 'timestamp.column.name': 'at' },
      { mode: 'timestamp+incrementing', 'timestamp.column.name': 'at', 'incrementing.column.name': 'id' },
    ]
    for (const mode of modes) {
      const config = { ...database.config, 'topic.prefix': '', 'poll.interval.ms': '1', ...mode }
      const first = runSource(postgresSource, { config })
      onTestFinished(() => first.stop())
      expect(await first.take(1)).toMatchObject([{ value: { id: 1 } }])
      expect(first.rejected).toHaveLength(1)
      const next = runSource(postgresSource, { config, offsets: first.advanced.slice(-1) })
      onTestFinished(() => next.stop())
      for (let batch = 0; batch < 3; batch += 1) expect(await next.nextBatch()).toEqual([])
      expect(next.rejected, mode.mode).toEqual([])
    }
  })

  it('are avoided for large rows, which are fetched in small batches', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`${TABLE}; INSERT INTO rows (word) SELECT repeat('x', 2000000) FROM generate_series(1, 40)`)
    const run = runSource(postgresSource, { config: { ...database.config, 'topic.prefix': '', mode: 'incrementing' } })
    onTestFinished(() => run.stop())
    const sizes: number[] = []
    while (sizes.reduce((sum, size) => sum + size, 0) < 40) sizes.push((await run.nextBatch()).length)
    expect(new Set(sizes)).toEqual(new Set([1]))
  })
})
