import { afterAll, expect, it, onTestFinished } from 'vitest'
import { postgresSink } from '../../../src/plugins/connectors/postgres/sink/postgres-sink.ts'
import { extractNewRecordState } from '../../../src/plugins/transforms/debezium/extract-new-record-state.ts'
import { parseConfig, runSink, type SourceRecord } from '../../../src/sdk/index.ts'
import { startPostgres } from '../../env/postgres.ts'
import { describeOn, real } from '../../env/real.ts'
import { lastOffset, startCdcSource } from '../../support/cdc-source.ts'
import { createDatabase, type Database } from '../../support/database.ts'

const postgres = await real('postgres')

const LARGE = "repeat('large ', 2000)"
const TABLE = 'CREATE TABLE pages (site text, id int, title text, body text, PRIMARY KEY (id, site))'

let server: ReturnType<typeof startPostgres> | undefined

async function database(): Promise<Database> {
  server ??= startPostgres({ wal_level: 'logical' })
  const created = await createDatabase((await server).url)
  // The values are compressed to a few bytes otherwise, and stored in the row.
  await created.run(`${TABLE}; ALTER TABLE pages ALTER body SET STORAGE EXTERNAL`)
  return created
}

afterAll(async () => (await server)?.stop())

const rowOf = (record: SourceRecord) =>
  (record.value as { readonly after: Readonly<Record<string, unknown>> | null }).after ?? null

describeOn([postgres], 'unchanged values that are stored out of line', () => {
  it('are the placeholder by default', async () => {
    const db = await database()
    const source = await startCdcSource(db)
    await db.run(`INSERT INTO pages VALUES ('a', 1, 'x', ${LARGE}); UPDATE pages SET title = 'y'`)
    const [, updated] = await source.take(2)
    expect(rowOf(updated!)).toEqual({ site: 'a', id: 1, title: 'y', body: '__debezium_unavailable_value' })
  })

  it('are read from the table with unavailable.value.mode=reselect', async () => {
    const db = await database()
    const source = await startCdcSource(db, { config: { 'unavailable.value.mode': 'reselect' } })
    await db.run(`INSERT INTO pages SELECT 'a', n, 'x', n || ${LARGE} FROM generate_series(1, 600) n;
      UPDATE pages SET title = 'y'; UPDATE pages SET title = 'z' WHERE id = 2; DELETE FROM pages WHERE id = 1`)
    const records = await source.take(1203)
    const updated = records.slice(600, 1201).map((record) => rowOf(record)!)
    // The row was deleted before it could be read.
    expect(updated[0]).toMatchObject({ id: 1, title: 'y', body: '__debezium_unavailable_value' })
    const bodies = updated.slice(1).map(({ id, body }) => `${id} ${String(body).slice(0, 9)} ${String(body).length}`)
    expect(bodies.at(0)).toBe('2 2large la 12001')
    expect(bodies.at(-1)).toBe('2 2large la 12001')
    expect(bodies.filter((text) => /^(\d+) \1large /.test(text))).toHaveLength(600)
  })

  it('are the placeholder with unavailable.value.mode=reselect if the table was dropped or altered since', async () => {
    const db = await database()
    await db.run('CREATE TABLE other (LIKE pages INCLUDING ALL)')
    const first = await startCdcSource(db)
    await db.run(`INSERT INTO pages VALUES ('a', 1, 'x', ${LARGE}); INSERT INTO other SELECT * FROM pages`)
    const offset = lastOffset(await first.take(2))
    await first.stop()
    await db.run(`UPDATE pages SET title = 'y'; UPDATE other SET title = 'y'; DROP TABLE pages;
      ALTER TABLE other ALTER body TYPE bytea USING 'x'`)
    const source = await startCdcSource(db, { offset, config: { 'unavailable.value.mode': 'reselect' } })
    const updated = { site: 'a', id: 1, title: 'y', body: '__debezium_unavailable_value' }
    expect((await source.take(2)).map(rowOf)).toEqual([updated, updated])
  })

  it('are left out with unavailable.value.mode=omit, so that the sink keeps them', async () => {
    const [from, to] = [await database(), await database()]
    const source = await startCdcSource(from, { config: { 'unavailable.value.mode': 'omit' } })
    await from.run(`INSERT INTO pages VALUES ('a', 1, 'x', ${LARGE}), ('b', 1, 'x', 'small');
      UPDATE pages SET title = 'y'; UPDATE pages SET body = NULL WHERE site = 'b'`)
    const records = await source.take(5)
    expect(records.map((record) => Object.keys(rowOf(record)!).join())).toEqual([
      ...['site,id,title,body', 'site,id,title,body', 'site,id,title', 'site,id,title,body', 'site,id,title,body'],
    ])
    const transform = extractNewRecordState.create(parseConfig(extractNewRecordState.config, {}))
    const sink = await runSink(postgresSink, {
      config: { ...to.config, 'insert.mode': 'upsert', 'pk.mode': 'record_key', 'table.name.format': 'pages' },
    })
    onTestFinished(() => sink.stop())
    await sink.put(
      records.map((record) => {
        const { topic, key = null, keySchema = null, value, valueSchema = null } = record
        return transform({ topic, key, keySchema, value, valueSchema, headers: [], timestampMs: null })!
      }),
    )
    const rows = 'SELECT site, id, title, body FROM pages ORDER BY site'
    expect(await to.run(rows)).toEqual(await from.run(rows))
  })
})
