import { connect, createServer, type Socket } from 'node:net'
import pg from 'pg'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { SourceRecord, SourceRun } from '../../../src/sdk/index.ts'
import type { Postgres } from '../../env/postgres.ts'
import { startPostgres18, startPostgresPair } from '../../env/postgres-18.ts'
import { describeOn, real } from '../../env/real.ts'
import {
  failureOf,
  lastOffset,
  PARTITION,
  shownEvents,
  slotOf,
  startCdcSource,
  untilSlotIsFree,
} from '../../support/cdc-source.ts'
import { createDatabase, type Database } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const postgres18 = await real('postgres18')

const WAIT = { everyMs: 50, timeoutMs: 120_000 }
const ORDERS = 'CREATE TABLE orders (id int PRIMARY KEY, item text)'
const ROWS = 2_000
/** Where the standby is promoted: in the middle of a transaction. */
const DELIVERED = 1_234

/** The primary server sends changes only after the standby has them, as PostgreSQL recommends for failover slots. */
const WAITS_FOR_STANDBY = { synchronized_standby_slots: 'standby' }

const idsOf = (records: readonly SourceRecord[]) => records.map(({ key }) => (key as { readonly id: number }).id)
const numbers = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)

/** The configuration of a connector that reads from another server, as after a change of a DNS entry. */
const on = ({ port }: { readonly port: number }) => ({ 'database.port': String(port) })

async function startPair(settings: Readonly<Record<string, string>> = {}) {
  const { primary, standby, stop } = await startPostgresPair(settings)
  onTestFinished(stop)
  const db = await createDatabase(primary.url, () => undefined)
  await db.run(ORDERS)
  const sameDatabase = new URL(standby.url)
  sameDatabase.pathname = `/${db.name}`
  return { primary, standby, db, onStandby: (sql: string) => query(sameDatabase.href, sql) }
}

async function query(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/**
 * Copies slots of the primary server to the standby until the slot may be used after a promotion. For that, the slot must be as
 * far as the standby: the primary server notes in the log that no transaction is open, and the source commits what follows.
 */
async function untilSynchronized(db: Database, standby: Postgres, source: SourceRun): Promise<void> {
  const sql = 'SELECT FROM pg_replication_slots WHERE synced AND NOT temporary AND invalidation_reason IS NULL'
  // A message outside of transactions needs no transaction id.
  const move = "SELECT pg_log_standby_snapshot(), pg_logical_emit_message(false, 'test', '')"
  await until('the slot to be synchronized', WAIT, async () => {
    await db.run(move)
    source.committed(PARTITION, lastOffset(await source.take(1))!)
    await untilReceived(db, standby)
    await query(standby.url, 'SELECT pg_sync_replication_slots()')
    return (await query(standby.url, sql)).length === 1
  })
}

/**
 * Waits until the standby has everything that the primary server has written. Asks in the database `postgres`: the standby may
 * not have that of the test yet.
 */
async function untilReceived(db: Database, standby: Postgres): Promise<void> {
  const [end] = await db.run('SELECT pg_current_wal_flush_lsn() AS lsn')
  await until('the standby to have the log', WAIT, async () => {
    const sql = `SELECT pg_last_wal_replay_lsn() >= '${String(end!['lsn'])}' AS is_reached`
    const [row] = await query(standby.url, sql)
    return row!['is_reached'] === true
  })
}

async function failOver(primary: Postgres, standby: Postgres, source: SourceRun): Promise<Error> {
  await primary.crash()
  const lost = await failureOf(source)
  await query(standby.url, 'SELECT pg_promote(false)')
  await until('the standby to be promoted', WAIT, async () => {
    const [row] = await query(standby.url, 'SELECT pg_is_in_recovery() AS is_standby')
    return row!['is_standby'] === false
  })
  return lost
}

describeOn([postgres18], 'the PostgreSQL CDC source after a failover to a standby', () => {
  it('continues in the middle of a transaction with a synchronized slot, and loses nothing', async () => {
    const { primary, standby, db, onStandby } = await startPair(WAITS_FOR_STANDBY)
    const source = await startCdcSource(db, { config: { 'slot.failover': 'true' } })
    await untilSynchronized(db, standby, source)
    await db.run(`INSERT INTO orders SELECT n, 'of one transaction' FROM generate_series(1, ${ROWS}) n`)
    const before = await source.take(DELIVERED)
    await untilReceived(db, standby)
    expect(await failOver(primary, standby, source)).toMatchObject({ code: 'retriable' })
    const config = { 'slot.failover': 'true', ...on(standby) }
    const next = await startCdcSource(db, { config, offset: lastOffset(before) })
    await onStandby(`INSERT INTO orders VALUES (${ROWS + 1}, 'on the new primary server')`)
    const after = await next.take(ROWS + 1 - DELIVERED)
    expect(idsOf([...before, ...after])).toEqual(numbers(1, ROWS + 1))
  })

  it('fails when the slot was not synchronized, names the choices, and continues by choice', async () => {
    const { primary, standby, db, onStandby } = await startPair()
    const source = await startCdcSource(db)
    await db.run('INSERT INTO orders VALUES (1)')
    const offset = lastOffset(await source.take(1))
    await untilReceived(db, standby)
    await failOver(primary, standby, source)
    const error = await failureOf(startCdcSource(db, { config: on(standby), offset }))
    expect(error).not.toMatchObject({ code: 'retriable' })
    expect(error.message).toContain(`the replication slot ${slotOf(db)} does not exist, but an offset is stored`)
    expect(error.message).toContain('the server is a standby that was promoted without it')
    expect(error.message).toContain('set offset.mismatch.strategy=trust_slot')
    const config = { ...on(standby), 'offset.mismatch.strategy': 'trust_slot' }
    const next = await startCdcSource(db, { config, offset })
    await next.nextBatch()
    await onStandby('INSERT INTO orders VALUES (2)')
    expect(shownEvents(await next.take(1))).toEqual(['c {"id":2,"item":null}'])
  })
})

describeOn([postgres18], 'the PostgreSQL CDC source whose slot was not used', () => {
  it('fails when the slot was invalidated by idle_replication_slot_timeout, and says so', async () => {
    const server = await startPostgres18({ wal_level: 'logical', idle_replication_slot_timeout: '1s' })
    onTestFinished(() => server.stop())
    const db = await createDatabase(server.url, () => undefined)
    await db.run(ORDERS)
    const source = await startCdcSource(db)
    await db.run('INSERT INTO orders VALUES (1)')
    const offset = lastOffset(await source.take(1))
    await source.stop()
    await until('the slot to be invalidated', WAIT, async () => {
      await db.run('CHECKPOINT')
      const slots = await db.run('SELECT invalidation_reason AS reason FROM pg_replication_slots')
      return slots[0]?.['reason'] === 'idle_timeout'
    })
    const error = await failureOf(startCdcSource(db, { offset }))
    expect(error).not.toMatchObject({ code: 'retriable' })
    expect(error.message).toContain(
      `the replication slot ${slotOf(db)} was invalidated: the slot was not used for longer than idle_replication_slot_timeout`,
    )
    expect(error.message).toContain(`SELECT pg_drop_replication_slot('${slotOf(db)}')`)
  })
})

describeOn([postgres18], 'the PostgreSQL CDC source whose network is cut', () => {
  it('asks for a retry when the server is silent, without an end of the connection, and loses nothing', async () => {
    const server = await startPostgres18({ wal_level: 'logical' })
    onTestFinished(() => server.stop())
    const db = await createDatabase(server.url, () => undefined)
    await db.run(ORDERS)
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const network = await Network.open(server)
    onTestFinished(() => network.close())
    const source = await startCdcSource(db, { config: on(network) })
    await db.run('INSERT INTO orders VALUES (1)')
    const offset = lastOffset(await source.take(1))
    network.cut()
    await db.run('INSERT INTO orders VALUES (2)')
    const lost = failureOf(source)
    await vi.advanceTimersByTimeAsync(90_000)
    const error = await lost
    expect(error).toMatchObject({ code: 'retriable', message: expect.stringContaining('the server has not answered') })
    vi.useRealTimers()
    await network.close()
    await untilSlotIsFree(db)
    const next = await startCdcSource(db, { offset })
    expect(idsOf(await next.take(1))).toEqual([2])
  })
})

/** Forwards connections to a server, until it is cut: then nothing arrives any more, and no connection is closed. */
class Network {
  readonly port: number
  readonly #server: ReturnType<typeof createServer>
  readonly #sockets: Socket[]

  private constructor(server: ReturnType<typeof createServer>, sockets: Socket[]) {
    this.#server = server
    this.#sockets = sockets
    this.port = (server.address() as { readonly port: number }).port
  }

  static async open({ port }: Postgres): Promise<Network> {
    const sockets: Socket[] = []
    const server = createServer((near) => {
      const far = connect(port, '127.0.0.1')
      sockets.push(near, far)
      near.pipe(far).pipe(near)
      for (const socket of [near, far]) socket.on('error', () => undefined)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new Network(server, sockets)
  }

  cut(): void {
    for (const socket of this.#sockets) {
      socket.unpipe()
      socket.pause()
    }
  }

  /** The ends of all connections are closed, also that of the server. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
