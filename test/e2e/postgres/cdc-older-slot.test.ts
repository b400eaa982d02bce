import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Position, SourceRecord, SourceRun } from '../../../src/sdk/index.ts'
import { type Postgres, startPostgres } from '../../env/postgres.ts'
import { describeOn, real } from '../../env/real.ts'
import { lastOffset, shownEvents, slotOf, startCdcSource } from '../../support/cdc-source.ts'
import { createDatabase, type Database } from '../../support/database.ts'

const postgres = await real('postgres')

const ROWS = 100
const CONFIG = { 'snapshot.mode': 'initial', 'max.batch.size': '20' }

let server: Postgres
beforeAll(async () => {
  server = await startPostgres({ wal_level: 'logical' })
})
afterAll(() => server?.stop())

/** A slot, and then rows, some of which are changed. */
async function databaseWithSlot(): Promise<Database> {
  const db = await createDatabase(server.url)
  await db.run('CREATE TABLE orders (id int PRIMARY KEY, item text); CREATE PUBLICATION dbz_publication FOR ALL TABLES')
  await db.run("SELECT pg_create_logical_replication_slot($1, 'pgoutput')", [slotOf(db)])
  return db
}

async function insertRows(db: Database): Promise<void> {
  for (let id = 1; id <= ROWS; id += 1) await db.run(`INSERT INTO orders VALUES (${id}, 'a')`)
  await db.run('UPDATE orders SET item = item')
}

async function takeUntil(source: SourceRun, end: string): Promise<readonly SourceRecord[]> {
  const records: SourceRecord[] = []
  while (!shownEvents(records.slice(-1)).includes(end)) records.push(...(await source.take(1)))
  return records
}

const changesOf = (records: readonly SourceRecord[]) => shownEvents(records).filter((text) => !text.startsWith('r '))
const start = (db: Database, offset?: Position, config = {}) =>
  startCdcSource(db, { config: { ...CONFIG, ...config }, offset, isAwaited: false })

describeOn([postgres], 'a snapshot with a slot that is older', () => {
  it('writes each row once, also after a stop at any record, and each transaction that it does not see', async () => {
    const db = await databaseWithSlot()
    const open = await db.client()
    await open.query("BEGIN; INSERT INTO orders VALUES (1000, 'open')")
    await insertRows(db)
    await db.run("DELETE FROM orders WHERE id = 50; INSERT INTO orders VALUES (50, 'again')")
    const first = await start(db)
    const records = [...(await first.take(1))]
    // The snapshot is taken, and does not see these transactions.
    await open.query('COMMIT')
    await db.run("UPDATE orders SET item = 'b' WHERE id = 1; INSERT INTO orders VALUES (2000, 'last')")
    const last = 'c {"id":2000,"item":"last"}'
    records.push(...(await takeUntil(first, last)))
    await first.stop()
    expect(shownEvents(records).filter((text) => text.startsWith('r '))).toHaveLength(ROWS)
    const again = ['d {"id":50,"item":null}', 'tombstone', 'c {"id":50,"item":"again"}']
    const changes = [...again, 'c {"id":1000,"item":"open"}', 'u {"id":1,"item":"b"}', last]
    expect(changesOf(records)).toEqual(changes)
    for (const at of [0, 30, ROWS - 2, ROWS - 1, ROWS + 1, ROWS + 2, ROWS + 3]) {
      const next = await start(db, lastOffset(records.slice(0, at + 1)))
      const delivered = changesOf(records.slice(0, at + 1)).length
      expect(changesOf(await takeUntil(next, last)), `after the record ${at}`).toEqual(changes.slice(delivered))
      await next.stop()
    }
    await open.end()
  })

  it('writes the changes of tables that it does not read, and of the rows that its statement leaves out', async () => {
    const db = await databaseWithSlot()
    await db.run('CREATE TABLE other (id int PRIMARY KEY); CREATE TABLE part (id int PRIMARY KEY)')
    await insertRows(db)
    await db.run('INSERT INTO other VALUES (1); INSERT INTO part VALUES (1); INSERT INTO part VALUES (2)')
    const source = await start(db, undefined, {
      'snapshot.include.collection.list': 'public.orders,public.part',
      'snapshot.select.statement.overrides': 'public.part',
      'snapshot.select.statement.overrides.public.part': 'SELECT * FROM public.part WHERE id > 1',
    })
    const records = await takeUntil(source, 'c {"id":2}')
    expect(changesOf(records)).toEqual(['c {"id":1}', 'c {"id":1}', 'c {"id":2}'])
  })
})
