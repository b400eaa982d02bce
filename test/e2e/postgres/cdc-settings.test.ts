import { afterAll, expect, it } from 'vitest'
import { type Postgres, startPostgres } from '../../env/postgres.ts'
import { describeOn, real } from '../../env/real.ts'
import { failureOf, PREFIX, shownEvents, slotOf, startCdcSource } from '../../support/cdc-source.ts'
import { createDatabase, type Database } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const postgres = await real('postgres')

const WAIT = { everyMs: 20, timeoutMs: 120_000 }

let shared: Promise<Postgres> | undefined

async function database(sql: string): Promise<Database> {
  shared ??= startPostgres({ wal_level: 'logical' })
  const created = await createDatabase((await shared).url)
  await created.run(sql)
  return created
}

afterAll(async () => (await shared)?.stop())

describeOn([postgres], 'settings of the PostgreSQL CDC source', () => {
  it('leave out the tables of excluded schemas, and what options of the output plugin leave out', async () => {
    const db = await database('CREATE SCHEMA hidden; CREATE TABLE hidden.a (id int); CREATE TABLE a (id int)')
    const config = { 'schema.exclude.list': 'hid.*', 'slot.stream.params': 'messages=false;binary=false' }
    const source = await startCdcSource(db, { config })
    await db.run(`INSERT INTO hidden.a VALUES (1); SELECT pg_logical_emit_message(true, 'a', 'x');
      INSERT INTO a VALUES (2)`)
    expect(shownEvents(await source.take(1))).toEqual(['c {"id":2}'])
  })

  it('execute the query of heartbeats with each heartbeat, and the initial statements on sessions for queries', async () => {
    const db = await database('CREATE TABLE beats (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text)')
    const source = await startCdcSource(db, {
      config: {
        'heartbeat.interval.ms': '50',
        'heartbeat.action.query': "INSERT INTO beats (name) VALUES (current_setting('application_name'))",
        'database.initial.statements': "SET application_name = 'a;;b'; SET work_mem = '1MB'",
        'topic.heartbeat.prefix': 'beat',
      },
    })
    const records = await source.take(6)
    const beats = records.filter(({ topic }) => topic === `beat.${PREFIX}`)
    const rows = records.filter(({ topic }) => topic === `${PREFIX}.public.beats`)
    expect([beats.length > 0, rows.length > 0, beats.length + rows.length]).toEqual([true, true, 6])
    expect(shownEvents(rows.slice(0, 1))).toEqual(['c {"id":1,"name":"a;b"}'])
    expect(beats[0]!.key).toEqual({ serverName: PREFIX })
  })

  it('create a publication without tables, to which they can be added while changes are captured', async () => {
    const db = await database('CREATE TABLE a (id int PRIMARY KEY)')
    const source = await startCdcSource(db, { config: { 'publication.autocreate.mode': 'no_tables' } })
    await db.run('INSERT INTO a VALUES (1); ALTER PUBLICATION dbz_publication ADD TABLE a; INSERT INTO a VALUES (2)')
    expect(shownEvents(await source.take(1))).toEqual(['c {"id":2}'])
  })

  it('read the tables of a snapshot in the order of their sizes', async () => {
    const db = await database(`CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY);
      INSERT INTO a VALUES (1), (2), (3); INSERT INTO b VALUES (4); ANALYZE`)
    for (const [order, ids] of [
      ['ascending', [4, 1, 2, 3]],
      ['descending', [1, 2, 3, 4]],
    ] as const) {
      const config = { 'snapshot.mode': 'initial', 'snapshot.tables.order.by.row.count': order, 'slot.name': order }
      const source = await startCdcSource(db, { config, isAwaited: false })
      expect((await source.take(4)).map(({ key }) => key)).toEqual(ids.map((id) => ({ id })))
      await source.stop()
      await until('the slot to be free', WAIT, async () => {
        const sql =
          'SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = $1 AND NOT active'
        return (await db.run(sql, [order])).length === 1
      })
    }
  })

  it('let a connector without a stream start again, although it has no slot', async () => {
    const db = await database('CREATE TABLE a (id int PRIMARY KEY); INSERT INTO a VALUES (1)')
    const config = { 'snapshot.mode': 'initial_only' }
    const first = await startCdcSource(db, { config, isAwaited: false })
    expect(await first.take(1)).toHaveLength(1)
    await first.nextBatch()
    const offset = first.advanced.at(-1)!.offset
    await first.stop()
    const second = await startCdcSource(db, { config, offset })
    expect(await second.nextBatch()).toEqual([])
  })

  it.each([
    // The slot would keep the log of the server meanwhile.
    ['snapshot.delay.ms', 'no slot', [], []],
    ['streaming.delay.ms', 'a slot that nobody reads', ['r {"id":1}'], [{ active: false }]],
  ])('let the source wait with %s, during which there is %s, until it is stopped', async (key, _, rows, slots) => {
    const db = await database('CREATE TABLE a (id int PRIMARY KEY); INSERT INTO a VALUES (1)')
    const waits: object[] = []
    const ignore = () => undefined
    const log = { debug: ignore, warn: ignore, error: ignore, info: (fields: object) => void waits.push(fields) }
    const config = { 'snapshot.mode': 'initial', [key]: '86400000' }
    const source = await startCdcSource(db, { config, log, isAwaited: false })
    const read: string[] = []
    const ended = (async () => {
      for (;;) read.push(...shownEvents(await source.nextBatch()))
    })().catch((error: Error) => error.message)
    await until('the delay', WAIT, async () => waits.some((fields) => 'delayMs' in fields))
    const sql = 'SELECT active FROM pg_replication_slots WHERE slot_name = $1'
    expect([read, await db.run(sql, [slotOf(db)])]).toEqual([rows, slots])
    await source.stop()
    expect([await ended, read]).toEqual([expect.stringContaining('the source ended'), rows])
  })

  it('delay the snapshot and the changes after it, which are then complete', async () => {
    const db = await database('CREATE TABLE a (id int PRIMARY KEY); INSERT INTO a VALUES (1)')
    const started: string[] = []
    const inserted: Promise<unknown>[] = []
    const ignore = () => undefined
    const info = (fields: object, message: string) => {
      if (!('delayMs' in fields)) return
      started.push(message)
      inserted.push(db.run(`INSERT INTO a VALUES (${started.length + 1})`))
    }
    const log = { debug: ignore, warn: ignore, error: ignore, info }
    const config = { 'snapshot.mode': 'initial', 'snapshot.delay.ms': '1', 'streaming.delay.ms': '1' }
    const source = await startCdcSource(db, { config, log, isAwaited: false })
    // A row that is inserted during the first delay is read by the snapshot, or it is a change after it.
    const events = shownEvents(await source.take(3))
    await Promise.all(inserted)
    expect(started).toEqual(['snapshot.delay.ms', 'streaming.delay.ms'].map((key) => `waiting because of ${key}`))
    expect(events.map((event) => event.slice(2)).sort()).toEqual(['{"id":1}', '{"id":2}', '{"id":3}'])
    expect([events[0], events.at(-1)?.[0]]).toEqual(['r {"id":1}', 'c'])
  })

  it('let a snapshot wait for the locks of its tables, and ask for a retry after their timeout', async () => {
    const db = await database('CREATE TABLE a (id int PRIMARY KEY); INSERT INTO a VALUES (1)')
    // The creation of a slot would wait for the transaction.
    await (await startCdcSource(db)).stop()
    const other = await db.client()
    await other.query('BEGIN; LOCK TABLE a IN ACCESS EXCLUSIVE MODE')
    const config = { 'snapshot.mode': 'initial', 'snapshot.locking.mode': 'shared', 'snapshot.lock.timeout.ms': '100' }
    const error = await failureOf(startCdcSource(db, { config, isAwaited: false }))
    expect(error).toMatchObject({ code: 'retriable', message: expect.stringContaining('lock') })
    await other.query('ROLLBACK')
    await other.end()
  })
})
