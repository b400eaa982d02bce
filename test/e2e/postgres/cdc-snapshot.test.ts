import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { javaRegex } from '../../../src/java-compat/java-regex.ts'
import { SnapshotProgress } from '../../../src/plugins/connectors/postgres/cdc/snapshot/snapshot-progress.ts'
import {
  readSnapshot,
  type SnapshotBatch,
  type SnapshotOptions,
} from '../../../src/plugins/connectors/postgres/cdc/snapshot/snapshot-reader.ts'

import { parseConnectionUrl } from '../../../src/plugins/connectors/postgres/connection-url.ts'
import { Session } from '../../../src/plugins/connectors/postgres/session.ts'
import { UNRESTRICTED } from '../../../src/sdk/index.ts'
import { type Postgres, startPostgres } from '../../env/postgres.ts'
import { createDatabase, type Database } from '../../support/database.ts'

let server: Postgres
beforeAll(async () => {
  server = await startPostgres({ wal_level: 'logical' })
})
afterAll(() => server.stop())

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

function optionsFor(database: Database, changed: Partial<SnapshotOptions> = {}): SnapshotOptions {
  const openSession = () =>
    Session.open(
      {
        url: parseConnectionUrl(database.config['connection.url']),
        user: database.config['connection.user'],
        password: database.config['connection.password'],
        applicationName: 'snapshot',
        log,
        access: UNRESTRICTED,
        signal: new AbortController().signal,
      },
      { attempts: 1, backoffMs: 0 },
    )
  return {
    openSession,
    exportedSnapshot: undefined,
    isolation: 'repeatable_read',
    lockTimeoutMs: 1_000,
    tables: {
      isCaptured: () => true,
      included: [],
      order: [],
      rowCountOrder: 'disabled',
      statements: new Map(),
      publishesRoot: false,
    },
    threads: 1,
    locksAllTables: false,
    progress: undefined,
    lsn: undefined,
    log,
    nowMs: () => Date.now(),
    onStatus: () => {},
    ...changed,
  }
}

async function readAll(options: SnapshotOptions): Promise<readonly SnapshotBatch[]> {
  return Array.fromAsync(readSnapshot(options))
}

const rowsOf = (batches: readonly SnapshotBatch[]) => batches.flatMap(({ rows }) => rows)

describe('readSnapshot', () => {
  it('reads every row of every table once, with several sessions and page ranges', async () => {
    const database = await createDatabase(server.url)
    await database.run(`
      CREATE TABLE large (id int PRIMARY KEY, text text);
      INSERT INTO large SELECT i, repeat('x', 100) || i FROM generate_series(1, 30000) i;
      CREATE TABLE empty (id int PRIMARY KEY);
      CREATE SCHEMA "Other";
      CREATE TABLE "Other"."Odd ""name""" ("a b" int, "C" text);
      INSERT INTO "Other"."Odd ""name""" VALUES (1, NULL), (2, E'tab\\t newline\\n backslash\\\\ \\\\N');
      CREATE TABLE parts (id int, day int) PARTITION BY RANGE (day);
      CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
      CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (10) TO (20);
      INSERT INTO parts VALUES (1, 5), (2, 15)`)
    const statuses: unknown[] = []
    const batches = await readAll(optionsFor(database, { threads: 4, onStatus: (status) => statuses.push(status) }))
    const byTable = Map.groupBy(rowsOf(batches), ({ table }) => `${table.schema}.${table.name}`)
    expect(
      byTable
        .get('public.large')!
        .map(({ row }) => Number(row[0]))
        .toSorted((a, b) => a - b),
    ).toEqual(Array.from({ length: 30_000 }, (_, index) => index + 1))
    expect(byTable.get('Other.Odd "name"')!.map(({ row }) => row)).toEqual([
      ['1', null],
      ['2', 'tab\t newline\n backslash\\ \\N'],
    ])
    expect([...byTable.keys()].toSorted()).toEqual([
      'Other.Odd "name"',
      'public.large',
      'public.parts_1',
      'public.parts_2',
    ])
    expect(batches.at(-1)!.after).toBeUndefined()
    expect(rowsOf(batches).at(-1)!.marker).toBe('last')
    expect(byTable.get('Other.Odd "name"')![0]).toMatchObject({
      marker: 'first',
      readAtUs: expect.any(BigInt),
      lsn: expect.any(BigInt),
    })
    expect(statuses.at(-1)).toMatchObject({ tables: 5, tablesDone: 5, rows: 30_004, percent: 100, remainingMs: 0 })
  })
})

describe('a snapshot that was killed', () => {
  it('continues with what is missing, in a newer snapshot', async () => {
    const database = await createDatabase(server.url)
    await database.run(`
      CREATE TABLE a (id int PRIMARY KEY, text text);
      CREATE TABLE b (id int PRIMARY KEY, text text);
      CREATE TABLE keyless (id int, text text);
      CREATE TABLE toasted (id int PRIMARY KEY, counter int, text text);
      ALTER TABLE toasted ALTER text SET STORAGE EXTERNAL;
      INSERT INTO a SELECT i, repeat('x', 100) FROM generate_series(1, 20000) i;
      INSERT INTO b SELECT i, repeat('x', 100) FROM generate_series(1, 20000) i;
      INSERT INTO keyless SELECT i, repeat('x', 100) FROM generate_series(1, 20000) i;
      INSERT INTO toasted SELECT i, 0, repeat('x', 5000) FROM generate_series(1, 100) i`)
    const read = new Map<string, string[]>(['a', 'b', 'keyless', 'toasted'].map((name) => [name, []]))
    const take = ({ rows }: SnapshotBatch) => {
      for (const { table, row } of rows) read.get(table.name)!.push(row[0] as string)
    }
    let progress: string | undefined
    const tables = {
      ...optionsFor(database).tables,
      order: ['public.toasted', 'public.a', '.*'].map((text) => javaRegex(text, { whole: true })),
    }
    const [{ oid }] = (await database.run(`SELECT 'toasted'::regclass::oid::int AS oid`)) as [{ oid: number }]
    for await (const batch of readSnapshot(optionsFor(database, { threads: 2, tables }))) {
      take(batch)
      progress = batch.after
      // Either table may be read first, because two sessions read. The end of a table may be in the progress of a later batch.
      const isDone = progress !== undefined && SnapshotProgress.parse(progress).isDone(oid)
      if (isDone && read.get('a')!.length > 5_000) break
    }
    // Nothing is left of the snapshot: its sessions are closed.
    const sessions =
      "SELECT count(*)::int FROM pg_stat_activity WHERE application_name = 'snapshot' AND state LIKE 'idle in%'"
    expect(await database.run(sessions)).toEqual([{ count: 0 }])
    await database.run(`
      UPDATE toasted SET counter = 1 WHERE id <= 3;
      INSERT INTO keyless VALUES (20001, 'new');
      INSERT INTO b VALUES (20001, 'new');
      TRUNCATE a; INSERT INTO a VALUES (1, 'only')`)
    const before = read.get('a')!.length
    for (const batch of await readAll(optionsFor(database, { threads: 2, tables, progress }))) take(batch)
    expect(read.get('toasted')!.length).toBe(103)
    expect(new Set(read.get('keyless')).has('20001')).toBe(false)
    expect(read.get('keyless')!.length).toBe(20_000)
    expect(new Set(read.get('b')).size).toBe(20_001)
    // The table was truncated, so all of its rows are read.
    expect(read.get('a')!.length).toBe(before + 1)
  })

  it.each([
    ['dropped', 'DROP TABLE b'],
    ['renamed', 'ALTER TABLE b RENAME TO other'],
    ['altered', 'ALTER TABLE b DROP COLUMN text'],
    ['rewritten', 'ALTER TABLE b ALTER id TYPE bigint'],
  ])('asks for a retry when a table was %s before it was read, and continues with the others', async (_change, sql) => {
    const database = await createDatabase(server.url)
    await database.run(`CREATE TABLE a (id int PRIMARY KEY, text text); CREATE TABLE b (LIKE a); CREATE TABLE c (LIKE a);
      INSERT INTO a SELECT i, repeat('x', 1000) FROM generate_series(1, 20000) i; INSERT INTO b VALUES (1); INSERT INTO c VALUES (1)`)
    const batches: SnapshotBatch[] = []
    const first = readSnapshot(optionsFor(database))
    batches.push((await first.next()).value as SnapshotBatch)
    await database.run(sql)
    const rest = (async () => {
      for await (const batch of first) batches.push(batch)
    })()
    await expect(rest).rejects.toMatchObject({ isTransient: true, message: expect.stringContaining('public.b') })
    const next = await readAll(optionsFor(database, { progress: batches.at(-1)!.after }))
    const read = new Set(next.flatMap(({ rows }) => rows.map(({ table }) => table.name)))
    expect(read.has('c')).toBe(true)
    expect(next.at(-1)?.after).toBeUndefined()
  })
})
