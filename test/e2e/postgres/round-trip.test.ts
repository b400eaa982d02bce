import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { createWorkerClient } from '../../../src/clients/worker-client.ts'
import { type Postgres, startPostgres } from '../../env/postgres.ts'
import { describeOn, real } from '../../env/real.ts'
import { createDatabase, type Database } from '../../support/database.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { until } from '../../support/until.ts'
import { startWorkerProcess, type WeirWorker } from '../../support/worker-process.ts'

/** Of all tables together; 1,000,000 take minutes: WEIR_POSTGRES_ROWS=1000000 asks for them. */
const ROWS = Number(process.env['WEIR_POSTGRES_ROWS'] ?? 100_000)
const TABLES = ['one', 'two', 'three', 'four'] as const
/** Two for each table, so that transactions overlap and commit out of order. */
const WRITERS = TABLES.flatMap((table) => [table, table])
const ROWS_AT_ONCE = 200
/** Writers stay this close to the copy, so that there is something to be read at every kill. */
const AHEAD_MAX = ROWS / 4
const TIMEOUT_MS = Math.max(240_000, ROWS * 1.5)
const WAIT = { everyMs: 50, timeoutMs: TIMEOUT_MS }
/** At which part of the rows somebody is killed. */
const TROUBLE = [
  [0.1, 'worker'],
  [0.2, 'server'],
  [0.3, 'worker'],
  [0.45, 'worker'],
  [0.55, 'server'],
  [0.7, 'worker'],
  [0.85, 'worker'],
] as const

const postgres = await real('postgres')

const COLUMNS = `(id bigserial PRIMARY KEY, word text, amount numeric(12, 2), tags int[], doc jsonb, key uuid, raw bytea,
  at timestamptz NOT NULL DEFAULT now())`

describeOn([postgres], 'PostgresSource and PostgresSink', () => {
  it(
    'copy all rows while other clients write, the worker is killed five times and the server twice',
    async () => {
      const server = await startPostgres()
      onTestFinished(() => server.stop())
      const database = await createDatabase(server.url, () => undefined)
      for (const table of TABLES) {
        await database.run(`CREATE TABLE ${table} ${COLUMNS}; CREATE INDEX ON ${table} (at, id);
          CREATE SCHEMA IF NOT EXISTS copy; CREATE TABLE copy.${table} (LIKE ${table} INCLUDING INDEXES)`)
      }
      const start = workerStarter()
      let worker = await start()
      await createConnectors(worker, database)

      const progress = { copied: 0, written: 0 }
      const writing = Promise.all(WRITERS.map((table) => write(table, database, progress)))
      writing.catch(() => undefined)
      for (const [part, victim] of TROUBLE) {
        await until(`${part} of the rows to be copied`, WAIT, async () => {
          progress.copied = await copiedRows(database)
          return progress.copied >= part * ROWS
        })
        if (victim === 'server') await crashAndRestart(server)
        else {
          await worker.kill()
          worker = await start()
        }
      }
      progress.copied = Number.POSITIVE_INFINITY
      await writing

      await until('the copies to be equal', { ...WAIT, everyMs: 500 }, async () => {
        return (await areLikely(database)) && (await sumsOf(database)).every(({ source, copy }) => source === copy)
      })
      const [counted] = await database.run(`SELECT ${TABLES.map(countOf).join(' + ')} AS rows`)
      expect(Number(counted?.['rows'])).toBeGreaterThanOrEqual(ROWS)
      const client = createWorkerClient({ url: worker.url })
      const states = await Promise.all(['source', 'sink'].map((name) => client.status(name)))
      expect(states.flatMap(({ tasks }) => tasks.map(({ state }) => state))).toEqual(Array(6).fill('RUNNING'))
    },
    TIMEOUT_MS + 60_000,
  )
})

function workerStarter(): () => Promise<WeirWorker> {
  const log = ['--data', join(temporaryDirectory(), 'data')]
  const settings = {
    'offset.flush.interval.ms': '500',
    'session.timeout.ms': '6000',
    'heartbeat.interval.ms': '2000',
    // A machine that is busy with other tests gives no processor for long.
    'worker.thread.blocked.max.ms': '60000',
  }
  return async () => {
    const worker = await startWorkerProcess({ log, groupId: 'postgres', settings })
    onTestFinished(() => worker.kill())
    return worker
  }
}

async function createConnectors({ url }: WeirWorker, { config }: Database): Promise<void> {
  const client = createWorkerClient({ url })
  const both = {
    ...config,
    'connection.backoff.ms': '1000',
    'connection.attempts': '60',
    'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
    'value.converter.schemas.enable': 'true',
  }
  await client.create('source', {
    ...both,
    'connector.class': 'io.confluent.connect.jdbc.JdbcSourceConnector',
    'tasks.max': '4',
    'table.whitelist': TABLES.map((table) => `public.${table}`).join(','),
    mode: 'timestamp+incrementing',
    'incrementing.column.name': 'id',
    'timestamp.column.name': 'at',
    'timestamp.granularity': 'micros_iso_datetime_string',
    'topic.prefix': 'rows-',
    'poll.interval.ms': '100',
    'topic.creation.default.partitions': '1',
    'topic.creation.default.replication.factor': '1',
  })
  await client.create('sink', {
    ...both,
    'connector.class': 'io.confluent.connect.jdbc.JdbcSinkConnector',
    'tasks.max': '2',
    topics: TABLES.map((table) => `rows-${table}`).join(','),
    'table.name.format': '${topic}',
    'insert.mode': 'upsert',
    'pk.mode': 'record_value',
    'pk.fields': 'id',
    'max.retries': '100',
    'retry.backoff.ms': '500',
    transforms: 'place',
    'transforms.place.type': 'org.apache.kafka.connect.transforms.RegexRouter',
    'transforms.place.regex': 'rows-(.*)',
    'transforms.place.replacement': 'copy.$1',
  })
}

type Progress = { readonly copied: number; written: number }

/** A client that adds and changes rows until there are enough, and does again what a crash has undone. */
async function write(table: string, database: Database, progress: Progress): Promise<void> {
  let client: pg.Client | undefined
  for (let left = ROWS / WRITERS.length; left > 0; ) {
    if (progress.written - progress.copied > AHEAD_MAX) {
      await sleep(20)
      continue
    }
    try {
      client ??= await database.client()
      await client.query(transaction(table, Math.min(left, ROWS_AT_ONCE)))
      progress.written += Math.min(left, ROWS_AT_ONCE)
      left -= ROWS_AT_ONCE
    } catch {
      await client?.end().catch(() => undefined)
      client = undefined
      await sleep(100)
    }
  }
  await client?.end()
}

/** Changes come before and behind what is added, and some transactions take longer than others. */
function transaction(table: string, rows: number): string {
  const change = `UPDATE ${table} SET word = word || '*', at = now()
    WHERE id IN (SELECT id FROM ${table} WHERE id % 97 = floor(random() * 97) ORDER BY id LIMIT 10 FOR UPDATE SKIP LOCKED)`
  return `BEGIN; ${change}; INSERT INTO ${table} (word, amount, tags, doc, key, raw)
    SELECT 'word "' || n || '"', n * 1.01, CASE WHEN n % 3 > 0 THEN ARRAY[n, NULL] END, jsonb_build_object('n', n, 'a', '[1]'),
      gen_random_uuid(), decode(md5(n::text), 'hex') FROM generate_series(1, ${rows}) n;
    SELECT pg_sleep(random() * 0.02); ${change}; COMMIT`
}

async function crashAndRestart(server: Postgres): Promise<void> {
  await server.crash()
  await server.restart()
}

/** Ids have no gaps to speak of, and asking for the last one is cheap. */
async function copiedRows(database: Database): Promise<number> {
  const sql = TABLES.map((table) => `coalesce((SELECT max(id) FROM copy.${table}), 0)`).join(' + ')
  const [row] = await database.run(`SELECT ${sql} AS rows`).catch(() => [])
  return Number(row?.['rows'] ?? 0)
}

/** Asked before the sums, which cost more. */
async function areLikely(database: Database): Promise<boolean> {
  const place = (name: string) => `(SELECT (count(*), max(at)) FROM ${name})`
  const sql = TABLES.map((table) => `${place(table)} = ${place(`copy.${table}`)}`).join(' AND ')
  return (await database.run(`SELECT ${sql} AS equal`))[0]?.['equal'] === true
}

const countOf = (table: string) => `(SELECT count(*) FROM ${table})`

/** Of everything that is in each table and in its copy. */
async function sumsOf(database: Database) {
  const sumOf = async (name: string) => {
    const [row] = await database.run(`SELECT md5(string_agg(t::text, '\n' ORDER BY id)) AS sum FROM ${name} AS t`)
    return row?.['sum']
  }
  const sums: { readonly source: unknown; readonly copy: unknown }[] = []
  for (const table of TABLES) sums.push({ source: await sumOf(table), copy: await sumOf(`copy.${table}`) })
  return sums
}
