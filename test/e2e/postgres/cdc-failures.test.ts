import { afterAll, expect, it, onTestFinished } from 'vitest'
import type { Position, SourceRecord } from '../../../src/sdk/index.ts'
import { freePort } from '../../env/ports.ts'
import { type Postgres, startPostgres } from '../../env/postgres.ts'
import { describeOn, real } from '../../env/real.ts'
import { failureOf, lastOffset, PARTITION, shownEvents, slotOf, startCdcSource } from '../../support/cdc-source.ts'
import { createDatabase, type Database } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const postgres = await real('postgres')

const WAIT = { everyMs: 20, timeoutMs: 120_000 }
const ORDERS = 'CREATE TABLE orders (id int PRIMARY KEY, item text)'

let shared: Promise<Postgres> | undefined

/** A database on a server that the tests of this file share. */
async function database(): Promise<Database> {
  shared ??= startPostgres({ wal_level: 'logical' })
  return createDatabase((await shared).url)
}

/** A database on a server of its own, and the server. */
async function ownServer(settings: Readonly<Record<string, string>>): Promise<readonly [Database, Postgres]> {
  const server = await startPostgres(settings)
  onTestFinished(() => server.stop())
  return [await createDatabase(server.url, () => undefined), server]
}

afterAll(async () => (await shared)?.stop())

/** Writes a row, and stops behind it. Returns the offset. */
async function captureOne(db: Database, id: number): Promise<Position> {
  const source = await startCdcSource(db)
  await db.run('INSERT INTO orders VALUES ($1)', [id])
  const stored = lastOffset(await source.take(1))!
  await source.stop()
  return stored
}

describeOn([postgres], 'the PostgreSQL CDC source that would lose changes', () => {
  it('fails when the slot of a stored offset does not exist, unless it is told to continue', async () => {
    const db = await database()
    await db.run(ORDERS)
    const offset = await captureOne(db, 1)
    await db.run(`SELECT pg_drop_replication_slot('${slotOf(db)}')`)
    const error = await failureOf(startCdcSource(db, { offset }))
    expect(error).not.toMatchObject({ code: 'retriable' })
    expect(error.message).toContain(`the replication slot ${slotOf(db)} does not exist, but an offset is stored`)
    const next = await startCdcSource(db, { offset, config: { 'offset.mismatch.strategy': 'trust_slot' } })
    await next.nextBatch()
    await db.run('INSERT INTO orders VALUES (2)')
    expect(shownEvents(await next.take(1))).toEqual(['c {"id":2,"item":null}'])
  })

  it('fails when the slot is ahead of the stored offset, unless it is told to continue', async () => {
    const db = await database()
    await db.run(ORDERS)
    const offset = await captureOne(db, 1)
    await db.run('INSERT INTO orders VALUES (2)')
    await db.run(`SELECT pg_replication_slot_advance('${slotOf(db)}', pg_current_wal_lsn())`)
    const error = await failureOf(startCdcSource(db, { offset }))
    expect(error.message).toContain('ahead of the stored offset')
    expect(error.message).toContain('set offset.mismatch.strategy=trust_slot to continue without them')
    const next = await startCdcSource(db, { offset, config: { 'offset.mismatch.strategy': 'trust_greater_lsn' } })
    await db.run('INSERT INTO orders VALUES (3)')
    expect(shownEvents(await next.take(1))).toEqual(['c {"id":3,"item":null}'])
  })

  it('fails when the server has removed log that the slot needs', async () => {
    const [db] = await ownServer({
      wal_level: 'logical',
      max_slot_wal_keep_size: '1MB',
      min_wal_size: '32MB',
      max_wal_size: '32MB',
    })
    await db.run(`${ORDERS}; CREATE TABLE noise (text text)`)
    const offset = await captureOne(db, 1)
    await until('the slot to be invalidated', WAIT, async () => {
      await db.run(
        "INSERT INTO noise SELECT repeat('x', 1000) FROM generate_series(1, 20000); SELECT pg_switch_wal(); CHECKPOINT",
      )
      const slots = await db.run('SELECT wal_status FROM pg_replication_slots')
      return slots[0]?.['wal_status'] === 'lost'
    })
    const error = await failureOf(startCdcSource(db, { offset }))
    expect(error.message).toContain('was invalidated: the server has removed log that the slot needs')
    expect(error.message).toContain('exceeded max_slot_wal_keep_size')
    expect(error.message).toContain(`SELECT pg_drop_replication_slot('${slotOf(db)}')`)
  })
})

describeOn([postgres], 'the PostgreSQL CDC source whose server fails', () => {
  it('asks for a retry when the server crashes, and continues without a loss', async () => {
    const [db, server] = await ownServer({ wal_level: 'logical' })
    await db.run(ORDERS)
    const source = await startCdcSource(db)
    await db.run('INSERT INTO orders VALUES (1), (2), (3)')
    const records = await source.take(2)
    await server.crash()
    const lost = await failureOf(source)
    expect(lost).toMatchObject({ code: 'retriable' })
    const away = await failureOf(startCdcSource(db, { offset: lastOffset(records) }))
    expect(away).toMatchObject({ code: 'retriable', message: expect.stringContaining('ECONNREFUSED') })
    await server.restart()
    const next = await startCdcSource(db, { offset: lastOffset(records.slice(0, 2)) })
    await db.run('INSERT INTO orders VALUES (4)')
    const ids = (taken: readonly SourceRecord[]) => taken.map(({ key }) => (key as { readonly id: number }).id)
    expect([...ids(records.slice(0, 2)), ...ids(await next.take(2))]).toEqual([1, 2, 3, 4])
  })

  it('asks for as many retries as errors.max.retries permits, and for none with a wrong password', async () => {
    const db = await database()
    const port = String(await freePort())
    const config = { 'database.port': port, 'errors.max.retries': '3', 'retriable.restart.connector.wait.ms': '70' }
    const limited = await failureOf(startCdcSource(db, { config }))
    expect(limited).toMatchObject({ code: 'retriable', retriesMax: 3, retryAfterMs: 70 })
    const unlimited = await failureOf(startCdcSource(db, { config: { 'database.port': port } }))
    expect(unlimited).toMatchObject({ code: 'retriable', retriesMax: undefined, retryAfterMs: undefined })
    const refused = await failureOf(startCdcSource(db, { config: { 'database.password': 'wrong' } }))
    expect(refused).not.toMatchObject({ code: 'retriable' })
    expect(refused.message).toMatch(/password authentication failed/)
  })

  it('asks for a retry when the server does not answer a query of its catalog in time', async () => {
    const db = await database()
    const error = await failureOf(startCdcSource(db, { config: { 'database.query.timeout.ms': '1' } }))
    expect(error).toMatchObject({ code: 'retriable', message: expect.stringContaining('has not answered for 1 ms') })
  })

  it('throws a retriable error when its connection for queries is lost, because heartbeats need it', async () => {
    const db = await database()
    const source = await startCdcSource(db)
    const failure = failureOf(source)
    await db.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = '${db.name}' AND application_name LIKE 'weir%' AND backend_type = 'client backend'`)
    const message = expect.stringContaining('the connection for queries of the catalog was closed')
    expect(await failure).toMatchObject({ code: 'retriable', message })
  })

  it('throws a retriable error while the server is still creating the slot for an earlier run, which waits for open transactions', async () => {
    const db = await database()
    await db.run(ORDERS)
    const writer = await db.client()
    onTestFinished(() => writer.end())
    await writer.query('BEGIN; INSERT INTO orders VALUES (1)')
    const first = await startCdcSource(db, { isAwaited: false, freesSlot: false })
    const ended = failureOf(first)
    const creating = 'SELECT FROM pg_replication_slots WHERE slot_name = $1 AND confirmed_flush_lsn IS NULL'
    await until('the slot to be created', WAIT, async () => (await db.run(creating, [slotOf(db)])).length > 0)
    await first.stop()
    await ended
    const message = expect.stringMatching(/is being created by the process \d+/)
    expect(await failureOf(startCdcSource(db))).toMatchObject({ code: 'retriable', message })
    await writer.query('COMMIT')
  })

  it('throws a retriable error when another connector creates the publication at the same time', async () => {
    const db = await database()
    await db.run(ORDERS)
    const sources = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) =>
        startCdcSource(db, { config: { 'slot.name': `${slotOf(db)}_${name}` }, isAwaited: false }),
      ),
    )
    const starts = await Promise.allSettled(sources.map((source) => source.nextBatch()))
    const reasons = starts.flatMap((start) => (start.status === 'rejected' ? [start.reason] : []))
    expect(reasons.length).toBeLessThan(sources.length)
    for (const reason of reasons) expect(reason).toMatchObject({ code: 'retriable' })
  })

  it('asks for a retry while another client uses the slot', async () => {
    const db = await database()
    await db.run(ORDERS)
    const first = await startCdcSource(db)
    const error = await failureOf(startCdcSource(db))
    expect(error).toMatchObject({ code: 'retriable', message: expect.stringContaining('is active for PID') })
    await first.stop()
  })
})

describeOn([postgres], 'the PostgreSQL CDC source on a server that is not ready', () => {
  it('lists everything that is wrong, and changes nothing', async () => {
    const [db, server] = await ownServer({ wal_level: 'replica', max_replication_slots: '0' })
    await db.run(`${ORDERS}; CREATE ROLE poor LOGIN PASSWORD 'x'; CREATE ROLE poor2`)
    const config = { 'database.user': 'poor', 'database.password': 'x' }
    const error = await failureOf(startCdcSource(db, { config }))
    expect(error).not.toMatchObject({ code: 'retriable' })
    expect(error.message).toContain(`the database ${db.name} is not ready for the capture of changes:\n1. wal_level`)
    for (const remedy of [
      'wal_level = logical',
      'max_replication_slots = 4',
      'ALTER ROLE "poor" REPLICATION',
      'FOR ALL TABLES',
    ]) {
      expect(error.message).toContain(remedy)
    }
    expect(await db.run('SELECT * FROM pg_publication')).toEqual([])
    await server.stop()
  })

  it('runs with the least rights when a filtered publication is possible', async () => {
    const db = await database()
    const role = `reader_${db.name}`
    await db.run(`CREATE ROLE ${role} LOGIN REPLICATION PASSWORD 'x'; GRANT CREATE ON DATABASE ${db.name} TO ${role};
      ${ORDERS}; ALTER TABLE orders OWNER TO ${role}; CREATE TABLE secret (id int PRIMARY KEY)`)
    const source = await startCdcSource(db, {
      config: {
        'database.user': role,
        'database.password': 'x',
        'publication.autocreate.mode': 'filtered',
        'table.include.list': 'public.orders',
        'replica.identity.autoset.values': 'public.orders:FULL',
      },
    })
    await db.run("INSERT INTO orders VALUES (1, 'a'); UPDATE orders SET item = 'b'; INSERT INTO secret VALUES (1)")
    const [, update] = await source.take(2)
    expect(update?.value).toMatchObject({ before: { item: 'a' }, after: { item: 'b' } })
    const published = await db.run('SELECT tablename FROM pg_publication_tables')
    expect(published).toEqual([{ tablename: 'orders' }])
    source.committed(PARTITION, lastOffset([update!])!)
  })
})
