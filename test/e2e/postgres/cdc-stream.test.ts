import { afterAll, expect, it } from 'vitest'
import { parseLsn } from '../../../src/plugins/connectors/postgres/cdc/replication/lsn.ts'
import { startPostgres } from '../../env/postgres.ts'
import { describeOn, real } from '../../env/real.ts'
import {
  cdcConfigOf,
  failureOf,
  lastOffset,
  PARTITION,
  PREFIX,
  shownEvents,
  startCdcSource,
} from '../../support/cdc-source.ts'
import { createDatabase, type Database } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const postgres = await real('postgres')

const WAIT = { everyMs: 20, timeoutMs: 120_000 }
const ORDERS = 'CREATE TABLE orders (id int PRIMARY KEY, item text)'

let server: ReturnType<typeof startPostgres> | undefined

async function database(): Promise<Database> {
  server ??= startPostgres({ wal_level: 'logical' })
  return createDatabase((await server).url)
}

afterAll(async () => (await server)?.stop())

describeOn([postgres], 'the PostgreSQL CDC source', () => {
  it('writes the changes of captured tables in the order of the commits', async () => {
    const db = await database()
    await db.run(`${ORDERS}; CREATE TABLE other (id int PRIMARY KEY)`)
    const source = await startCdcSource(db, {
      config: { 'table.include.list': 'public.orders', 'skipped.operations': 'none' },
    })
    await db.run(`INSERT INTO orders VALUES (1, 'tea'); INSERT INTO other VALUES (1);
      UPDATE orders SET item = 'cake' WHERE id = 1; UPDATE orders SET id = 2; DELETE FROM orders; TRUNCATE orders, other`)
    expect(shownEvents(await source.take(8))).toEqual([
      'c {"id":1,"item":"tea"}',
      'u {"id":1,"item":"cake"}',
      'd {"id":1,"item":null}',
      'tombstone',
      'c {"id":2,"item":"cake"}',
      'd {"id":2,"item":null}',
      'tombstone',
      't null',
    ])
  })

  it('continues behind any change of a transaction, without a loss or a repetition', async () => {
    const db = await database()
    await db.run(ORDERS)
    const first = await startCdcSource(db)
    // COPY writes many rows with one LSN.
    await db.run(`INSERT INTO orders SELECT n, 'a' FROM generate_series(1, 4) n;
      BEGIN; UPDATE orders SET item = 'b'; DELETE FROM orders WHERE id = 4; COMMIT; INSERT INTO orders VALUES (5, 'c')`)
    const records = await first.take(11)
    await first.stop()
    const events = shownEvents(records)
    for (let at = 0; at < records.length - 1; at++) {
      // A record and its tombstone have one offset, and are stored together.
      if (records[at]!.sourceOffset === records[at + 1]!.sourceOffset) continue
      const next = await startCdcSource(db, { offset: records[at]!.sourceOffset })
      expect(shownEvents(await next.take(records.length - 1 - at))).toEqual(events.slice(at + 1))
      await next.stop()
    }
  })

  it.each([{ 'lsn.flush.mode': 'manual' }, { 'flush.lsn.source': 'false' }])(
    'leaves the slot where it is with %j, also after a restart',
    async (setting) => {
      const db = await database()
      await db.run(ORDERS)
      const config = { ...setting }
      const first = await startCdcSource(db, { config })
      const before = await confirmedLsn(db)
      await db.run("INSERT INTO orders VALUES (1, 'a')")
      const offset = lastOffset(await first.take(1))!
      first.committed(PARTITION, offset)
      await db.run("INSERT INTO orders VALUES (2, 'b')")
      expect(shownEvents(await first.take(1))).toEqual(['c {"id":2,"item":"b"}'])
      await first.stop()
      expect(await confirmedLsn(db)).toBe(before)
      const second = await startCdcSource(db, { config, offset })
      expect(shownEvents(await second.take(1))).toEqual(['c {"id":2,"item":"b"}'])
      await second.stop()
      expect(await confirmedLsn(db)).toBe(before)
    },
  )

  it('lets the server delete its log only up to what is committed', async () => {
    const db = await database()
    await db.run(ORDERS)
    const source = await startCdcSource(db)
    await db.run("INSERT INTO orders VALUES (1, 'a')")
    const records = await source.take(1)
    const before = await confirmedLsn(db)
    await db.run("INSERT INTO orders VALUES (2, 'b')")
    await source.take(1)
    expect(await confirmedLsn(db)).toBe(before)
    const stored = lastOffset(records)!
    source.committed(PARTITION, stored)
    await until('the confirmed position', WAIT, async () => (await confirmedLsn(db)) > before)
    expect(await confirmedLsn(db)).toBeLessThanOrEqual(BigInt(stored['position_lsn'] as number))
    await source.stop()
    const next = await startCdcSource(db, { offset: stored })
    expect(shownEvents(await next.take(1))).toEqual(['c {"id":2,"item":"b"}'])
  })

  it.each([
    ['of the same database', (db: Database) => Promise.resolve(db)],
    ['of another database of the server', () => database()],
  ])('advances the slot while only tables %s change that are not captured', async (_, chooseBusy) => {
    const db = await database()
    await db.run(ORDERS)
    const busy = await chooseBusy(db)
    await busy.run('CREATE TABLE noise (n int)')
    const source = await startCdcSource(db, { config: { 'table.include.list': 'public.orders' } })
    await busy.run('INSERT INTO noise SELECT generate_series(1, 1000)')
    const [end] = await busy.run('SELECT pg_current_wal_lsn() AS lsn')
    const written = parseLsn(String(end?.['lsn']))
    await until('the offset to advance', WAIT, async () => {
      expect(await source.nextBatch()).toEqual([])
      const reached = source.advanced.at(-1)
      if (reached !== undefined) source.committed(reached.partition, reached.offset)
      return (await confirmedLsn(db)) >= written
    })
  })

  it('writes heartbeats into its database while only another database of the server grows, and no events of them', async () => {
    const db = await database()
    const busy = await database()
    await busy.run('CREATE TABLE noise (text text)')
    await db.run("SELECT pg_create_logical_replication_slot('observer', 'pgoutput')")
    const source = await startCdcSource(db, { config: { 'heartbeat.message.interval.ms': '50' } })
    await busy.run("INSERT INTO noise SELECT repeat('x', 1000) FROM generate_series(1, 2000)")
    const beats = `SELECT lsn FROM pg_logical_slot_peek_binary_changes('observer', NULL, NULL,
      'proto_version', '1', 'publication_names', 'dbz_publication', 'messages', 'true')
      WHERE encode(data, 'escape') LIKE '%weir.heartbeat%'`
    let written: bigint | undefined
    await until('a heartbeat before the slot', WAIT, async () => {
      expect(await source.nextBatch()).toEqual([])
      const reached = source.advanced.at(-1)
      if (reached !== undefined) source.committed(reached.partition, reached.offset)
      const [first] = await db.run(beats)
      if (first !== undefined) written = parseLsn(String(first['lsn']))
      return written !== undefined && (await confirmedLsn(db)) >= written
    })
    await db.run("SELECT pg_drop_replication_slot('observer')")
  })

  it('writes no heartbeats without the right to, which it logs once, and streams all the same', async () => {
    const db = await database()
    const role = `quiet_${db.name}`
    await db.run(`${ORDERS}; CREATE TABLE noise (text text); CREATE PUBLICATION dbz_publication FOR TABLE orders;
      CREATE ROLE ${role} LOGIN REPLICATION PASSWORD 'x';
      DO $$ DECLARE f regprocedure; BEGIN FOR f IN SELECT oid FROM pg_proc WHERE proname = 'pg_logical_emit_message' LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f); END LOOP; END $$`)
    const messages: string[] = []
    const note = (_: object, message: string) => void messages.push(message)
    const log = { debug: note, info: note, warn: note, error: note }
    const config = { 'database.user': role, 'database.password': 'x', 'heartbeat.message.interval.ms': '50' }
    const source = await startCdcSource(db, { config, log })
    const refusals = () => messages.filter((message) => message.startsWith('no heartbeat messages are written'))
    for (let round = 0; round < 2; round += 1) {
      await db.run("INSERT INTO noise SELECT repeat('x', 1000) FROM generate_series(1, 2000)")
      await until('the position behind the noise', WAIT, async () => {
        await source.nextBatch()
        return refusals().length > 0
      })
    }
    await db.run("INSERT INTO orders VALUES (1, 'a')")
    expect(shownEvents(await source.take(1))).toEqual(['c {"id":1,"item":"a"}'])
    expect(refusals()).toHaveLength(1)
  })

  it('reports how much log the server retains for it', async () => {
    const db = await database()
    await db.run(ORDERS)
    const source = await startCdcSource(db)
    await until('a report', WAIT, () => source.lags.length > 0)
    expect(source.lags[0]).toMatchObject({ ms: 0, bytes: expect.any(Number), retainedBytes: expect.any(Number) })
    expect(source.lags[0]!.retainedBytes).toBeGreaterThan(0)
  })

  it('follows a table that is changed', async () => {
    const db = await database()
    await db.run(ORDERS)
    const source = await startCdcSource(db)
    await db.run(`INSERT INTO orders VALUES (1, 'a'); ALTER TABLE orders ADD COLUMN price numeric(10, 2);
      INSERT INTO orders VALUES (2, 'b', 1.5); ALTER TABLE orders RENAME COLUMN item TO article;
      INSERT INTO orders VALUES (3, 'c', NULL); ALTER TABLE orders DROP COLUMN article;
      INSERT INTO orders VALUES (4, 2); ALTER TABLE orders ALTER COLUMN price TYPE text;
      INSERT INTO orders VALUES (5, 'x')`)
    const records = await source.take(5)
    const fields = records.map(({ valueSchema }) =>
      valueSchema?.fields?.find(({ name }) => name === 'after')?.schema.fields?.map(({ name }) => name),
    )
    expect(fields).toEqual([
      ['id', 'item'],
      ['id', 'item', 'price'],
      ['id', 'article', 'price'],
      ['id', 'price'],
      ['id', 'price'],
    ])
    expect(records.at(-1)?.value).toMatchObject({ after: { id: 5, price: 'x' } })
  })

  it('writes whole keys of changes that are older than the names of their columns', async () => {
    const db = await database()
    await db.run(`CREATE TABLE full_key (tenant int, id int, note text, PRIMARY KEY (id, tenant));
      CREATE TABLE sent_key (tenant int, id int, note text, PRIMARY KEY (id, tenant));
      ALTER TABLE full_key REPLICA IDENTITY FULL; ALTER TABLE full_key ADD gone int; ALTER TABLE full_key DROP gone`)
    const first = await startCdcSource(db)
    await first.stop()
    await db.run("INSERT INTO full_key VALUES (1, 2, 'a'); INSERT INTO sent_key VALUES (1, 2, 'a')")
    for (const table of ['full_key', 'sent_key']) {
      await db.run(`ALTER TABLE ${table} RENAME tenant TO customer; ALTER TABLE ${table} ADD more int;
        INSERT INTO ${table} VALUES (3, 4, 'b')`)
    }
    const source = await startCdcSource(db, { isAwaited: false })
    const records = await source.take(4)
    expect(records.map(({ topic, key }) => [topic, JSON.stringify(key)])).toEqual([
      [`${PREFIX}.public.full_key`, '{"id":2,"tenant":1}'],
      [`${PREFIX}.public.sent_key`, '{"id":2,"tenant":1}'],
      [`${PREFIX}.public.full_key`, '{"id":4,"customer":3}'],
      [`${PREFIX}.public.sent_key`, '{"id":4,"customer":3}'],
    ])
  })

  it('stops at a change of which the key is not known, and continues with the columns of message.key.columns', async () => {
    const db = await database()
    await db.run(`CREATE TABLE moved (tenant int, id int, PRIMARY KEY (id, tenant)); ALTER TABLE moved REPLICA IDENTITY FULL;
      CREATE TABLE other (LIKE moved); ALTER TABLE other REPLICA IDENTITY FULL`)
    await (await startCdcSource(db)).stop()
    for (const table of ['moved', 'other']) {
      await db.run(`INSERT INTO ${table} VALUES (1, 2); ALTER TABLE ${table} DROP tenant; ALTER TABLE ${table} ADD area int DEFAULT 7;
        ALTER TABLE ${table} ADD PRIMARY KEY (id, area)`)
    }
    const config = { 'table.include.list': 'public.moved' }
    expect((await failureOf(startCdcSource(db, { config, isAwaited: false }))).message).toMatch(
      /^the key of public\.moved is not known: its column area .* the columns tenant, id\. Set message\.key\.columns=public\.moved:/,
    )
    const keys = { ...config, 'message.key.columns': 'public.moved:id,tenant' }
    const source = await startCdcSource(db, { config: keys, isAwaited: false })
    expect((await source.take(1))[0]?.key).toEqual({ id: 2, tenant: 1 })
  })

  it('reads values as they are, whatever text formats the database is set to', async () => {
    const db = await database()
    await db.run(`CREATE TABLE exact (id int PRIMARY KEY, f4 real, f8 float8, at timestamptz, raw bytea, lasts interval);
      ALTER DATABASE ${db.name} SET extra_float_digits = 0; ALTER DATABASE ${db.name} SET TimeZone = 'Asia/Tokyo';
      ALTER DATABASE ${db.name} SET DateStyle = 'German'; ALTER DATABASE ${db.name} SET bytea_output = 'escape';
      ALTER DATABASE ${db.name} SET IntervalStyle = 'iso_8601'`)
    const row = "16777218, 0.1::float8 + 0.2::float8, '2026-11-27 12:00Z', '\\x00ff', '1 day 1 second'"
    await db.run(`INSERT INTO exact VALUES (1, ${row})`)
    const source = await startCdcSource(db, { config: { 'snapshot.mode': 'initial' }, isAwaited: false })
    const [read] = await source.take(1)
    await db.run(`INSERT INTO exact VALUES (2, ${row})`)
    const [inserted] = await source.take(1)
    for (const record of [read, inserted]) {
      expect(record?.value).toMatchObject({
        after: {
          ...{ f4: 16_777_218, f8: 0.1 + 0.2, at: '2026-11-27T12:00:00.000000Z' },
          ...{ raw: Buffer.from([0, 255]), lasts: 86_401_000_000 },
        },
      })
    }
  })

  it('captures logical messages by their prefix', async () => {
    const db = await database()
    const source = await startCdcSource(db, { config: { 'message.prefix.exclude.list': 'noise.*' } })
    await db.run(`SELECT pg_logical_emit_message(true, 'noise1', 'x'), pg_logical_emit_message(true, 'a', 'inside'),
      pg_logical_emit_message(false, 'b', 'outside')`)
    const records = await source.take(2)
    // A message outside of transactions is sent when it is written.
    expect(records.map(({ key }) => key)).toEqual([{ prefix: 'b' }, { prefix: 'a' }])
  })

  it('continues behind a message with the transaction whose commit is the next record of the log', async () => {
    const db = await database()
    await db.run(ORDERS)
    const first = await startCdcSource(db)
    await db.run("BEGIN; INSERT INTO orders VALUES (1, 'a'); SELECT pg_logical_emit_message(false, 'p', 'x'); COMMIT")
    const [message, row] = await first.take(2)
    expect(message!.key).toEqual({ prefix: 'p' })
    await first.stop()
    const next = await startCdcSource(db, { offset: message!.sourceOffset })
    await db.run("INSERT INTO orders VALUES (2, 'b')")
    expect(shownEvents(await next.take(2))).toEqual([...shownEvents([row!]), 'c {"id":2,"item":"b"}'])
  })

  it('writes the xmin of its slot into events if xmin.fetch.interval.ms is set', async () => {
    const db = await database()
    await db.run(ORDERS)
    const source = await startCdcSource(db, { config: { 'xmin.fetch.interval.ms': '60000' } })
    const [slot] = await slots(db)
    await db.run("INSERT INTO orders VALUES (1, 'a')")
    const [record] = await source.take(1)
    expect(record?.value).toMatchObject({ source: { xmin: Number(slot!['catalog_xmin']) } })
  })

  it('drops its slot at the end if slot.drop.on.stop is set', async () => {
    const db = await database()
    const source = await startCdcSource(db, { config: { 'slot.drop.on.stop': 'true' } })
    expect(await slots(db)).toHaveLength(1)
    const stopped = source.nextBatch().catch(() => undefined)
    await source.stop()
    await stopped
    await until('the slot to be dropped', WAIT, async () => (await slots(db)).length === 0)
  })
})

async function slots(db: Database) {
  return db.run('SELECT * FROM pg_replication_slots WHERE slot_name = $1', [cdcConfigOf(db)['slot.name']])
}

async function confirmedLsn(db: Database): Promise<bigint> {
  return parseLsn(String((await slots(db))[0]?.['confirmed_flush_lsn']))
}
