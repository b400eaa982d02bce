import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Position, SourceRecord } from '../../../src/sdk/index.ts'
import { type Postgres, startPostgres } from '../../env/postgres.ts'
import { describeOn, real } from '../../env/real.ts'
import { lastOffset, PREFIX, startCdcSource } from '../../support/cdc-source.ts'
import { createDatabase, type Database } from '../../support/database.ts'
import { randomOf } from '../../support/hostile-requests.ts'
import { ReplayedTables } from '../../support/replayed-tables.ts'

const postgres = await real('postgres')

/** Longer: `WEIR_SNAPSHOT_KILLS=100`. */
const KILLS = Number(process.env['WEIR_SNAPSHOT_KILLS'] ?? 8)
const ROWS = 3_000

let server: Postgres
beforeAll(async () => {
  server = await startPostgres({ wal_level: 'logical' })
})
afterAll(() => server?.stop())

const TABLES = `
  CREATE TABLE accounts (id int PRIMARY KEY, n int, text text);
  CREATE TABLE documents (id int PRIMARY KEY, n int, body text);
  ALTER TABLE documents ALTER body SET STORAGE EXTERNAL;
  CREATE TABLE events (n int, text text);
  CREATE TABLE finish (id int PRIMARY KEY);
  INSERT INTO accounts SELECT i, 0, repeat('x', 300) FROM generate_series(1, ${ROWS}) i;
  INSERT INTO documents SELECT i, 0, repeat(md5(i::text), 100) FROM generate_series(1, ${ROWS / 10}) i;
  INSERT INTO events SELECT i, repeat('y', 300) FROM generate_series(1, ${ROWS}) i`

/** Changes rows until it is stopped. */
class Writer {
  readonly #client: pg.Client
  readonly #random: () => number
  readonly #index: number
  #isStopped = false
  readonly #done: Promise<void>

  constructor(client: pg.Client, index: number) {
    this.#client = client
    this.#random = randomOf(index)
    this.#index = index
    this.#done = this.#run()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#done
    await this.#client.end()
  }

  /** Ids of the two writers alternate, so that they are different however many statements a writer executes. */
  #idOf(n: number): number {
    return 2 * (ROWS + n) + this.#index
  }

  async #run(): Promise<void> {
    for (let n = 1; !this.#isStopped; n += 1) {
      const id = 1 + Math.floor(this.#random() * ROWS)
      const document = 1 + (id % (ROWS / 10))
      const statements = [
        `UPDATE accounts SET n = ${n} WHERE id = ${id}`,
        // The large value does not change, so it is not in the stream.
        `UPDATE documents SET n = ${n} WHERE id = ${document}`,
        `DELETE FROM accounts WHERE id = ${id}`,
        `INSERT INTO accounts VALUES (${this.#idOf(n)}, ${n}, 'new')`,
        `UPDATE accounts SET id = ${this.#idOf(n)} WHERE id = ${id}`,
        `INSERT INTO events VALUES (${this.#idOf(n)}, 'new')`,
        `UPDATE documents SET body = repeat('${n} ', 2000) WHERE id = ${document}`,
      ]
      await this.#client.query(statements[Math.floor(this.#random() * statements.length)]!)
    }
  }
}

describeOn([postgres], 'a snapshot that is killed while rows change', () => {
  it('leaves a topic that is equal to the tables, row for row', async () => {
    const database = await createDatabase(server.url)
    await database.run(TABLES)
    const writers = await Promise.all([0, 1].map(async (index) => new Writer(await database.client(), index)))
    const topic: SourceRecord[] = []
    const random = randomOf(7)
    let stored: Position | undefined
    let snapshots = 0
    for (let kill = 0; kill < KILLS; kill += 1) {
      const source = await start(database, stored)
      const taken = await source.take(1 + Math.floor(random() * 900))
      await source.stop()
      topic.push(...taken)
      if (stored === undefined || stored['snapshot_completed'] === false) snapshots += 1
      // The worker has stored the offset of some of the records before it was killed.
      stored = lastOffset(taken.slice(0, Math.floor(random() * (taken.length + 1)))) ?? stored
    }
    expect(snapshots).toBeGreaterThan(2)
    const last = await start(database, stored)
    topic.push(...(await last.take(1)))
    await Promise.all(writers.map((writer) => writer.stop()))
    await database.run('INSERT INTO finish VALUES (1)')
    while (topic.at(-1)?.topic !== `${PREFIX}.public.finish`) topic.push(...(await last.take(1)))
    const replayed = new ReplayedTables()
    replayed.apply(topic)
    for (const table of ['accounts', 'documents', 'events']) {
      const expected = new ReplayedTables()
      const rows = await database.run(`SELECT * FROM ${table}`)
      expected.apply(
        rows.map((after) => ({ topic: table, key: after['id'] ?? null, value: { op: 'r', after } }) as never),
      )
      expect(replayed.rows(`${PREFIX}.public.${table}`)).toEqual(expected.rows(table))
    }
  })
})

function start(database: Database, offset: Position | undefined) {
  const config = { 'snapshot.mode': 'initial', 'snapshot.max.threads': '3', 'max.batch.size': '40' }
  return startCdcSource(database, { config, offset, isAwaited: false })
}
