import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { ConnectorProperties } from '../../../src/clients/worker-client.ts'
import { type Postgres, startPostgres } from '../../env/postgres.ts'
import { findClientProgram } from '../../env/postgres-server.ts'
import { run } from '../../env/process.ts'
import { until } from '../../support/until.ts'
import type { MeasuredDatabase } from './rates.ts'

const COLUMNS = '(id bigint PRIMARY KEY, word text, amount numeric(12, 2), at timestamptz NOT NULL)'
/** Of a changed or created row with this id. */
const VALUES = "n, 'word ' || n || repeat('.', 50), n * 0.01, now()"
/** Several rows in each transaction. */
const TRANSACTION_ROWS = 100
const WAIT = { everyMs: 20, timeoutMs: 600_000 }

/** A server whose changes are captured, with the programs of PostgreSQL that do the same. */
export class SourceDatabase implements AsyncDisposable, MeasuredDatabase {
  readonly client: pg.Client
  readonly #server: Postgres

  private constructor(server: Postgres, client: pg.Client) {
    this.#server = server
    this.client = client
  }

  /** The table `made` has rows for a snapshot; `changed` is empty. */
  static async start(rows: number): Promise<SourceDatabase> {
    const server = await startPostgres({ wal_level: 'logical', max_wal_size: '8GB', max_replication_slots: '20' })
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    await client.query(`CREATE TABLE made ${COLUMNS}; CREATE TABLE changed ${COLUMNS};
      CREATE PUBLICATION recvlogical FOR TABLE changed;
      INSERT INTO made SELECT ${VALUES} FROM generate_series(1, ${rows}) n`)
    await client.query('VACUUM ANALYZE made')
    return new SourceDatabase(server, client)
  }

  config(id: string, table: string, converters: ConnectorProperties): ConnectorProperties {
    const { username, password, pathname } = new URL(this.#server.url)
    return {
      'connector.class': 'io.debezium.connector.postgresql.PostgresConnector',
      'tasks.max': '1',
      ...converters,
      'database.hostname': '127.0.0.1',
      'database.port': String(this.#server.port),
      'database.user': username,
      'database.password': decodeURIComponent(password),
      'database.dbname': pathname.slice(1),
      'plugin.name': 'pgoutput',
      'topic.prefix': id,
      'slot.name': id,
      'publication.name': id,
      'publication.autocreate.mode': 'filtered',
      'slot.drop.on.stop': 'false',
      'table.include.list': `public.${table}`,
    }
  }

  readonly snapshotOnly = { 'slot.drop.on.stop': 'true' }

  topicOf(id: string, table: string): string {
    return `${id}.public.${table}`
  }

  async clear(): Promise<void> {
    await this.client.query('TRUNCATE changed')
  }

  /** Waits until a connector reads its slot, which keeps its position. */
  async untilStreaming(slot: string): Promise<void> {
    const sql = 'SELECT active FROM pg_replication_slots WHERE slot_name = $1'
    await until(`the slot ${slot} to be read`, WAIT, async () => {
      const { rows } = await this.client.query(sql, [slot])
      return rows[0]?.active === true
    })
  }

  async change(changes: number): Promise<void> {
    for (let first = 1; first <= changes / 3; first += TRANSACTION_ROWS) {
      const last = Math.min(first + TRANSACTION_ROWS - 1, Math.floor(changes / 3))
      const rows = `BETWEEN ${first} AND ${last}`
      await this.client.query(`BEGIN; INSERT INTO changed SELECT ${VALUES} FROM generate_series(${first}, ${last}) n;
        UPDATE changed SET word = 'changed' WHERE id ${rows}; DELETE FROM changed WHERE id ${rows}; COMMIT`)
    }
  }

  /** Time of COPY to a file of the server, in ms. */
  async copyMs(): Promise<number> {
    const file = join(tmpdir(), `weir-bench-${process.pid}`)
    const startMs = performance.now()
    await this.client.query(`COPY made TO '${file}'`)
    const ms = performance.now() - startMs
    rmSync(file, { force: true })
    return ms
  }

  async createSlot(slot: string): Promise<void> {
    await this.client.query(`SELECT pg_create_logical_replication_slot('${slot}', 'pgoutput')`)
  }

  /** Time in which `pg_recvlogical` reads all changes of a slot, in ms. */
  async receiveMs(slot: string): Promise<number> {
    const file = findClientProgram('pg_recvlogical')
    if (file === undefined) throw new Error('pg_recvlogical is not installed: install the PostgreSQL client programs')
    const { rows } = await this.client.query<{ lsn: string }>('SELECT pg_current_wal_lsn() AS lsn')
    const { username, password, pathname } = new URL(this.#server.url)
    const where = ['-h', '127.0.0.1', '-p', String(this.#server.port), '-U', username, '-d', pathname.slice(1)]
    const options = ['-o', 'proto_version=1', '-o', 'publication_names=recvlogical', `--endpos=${rows[0]!.lsn}`]
    const args = [...where, '--slot', slot, '--start', ...options, '-f', '-']
    const startMs = performance.now()
    const command = ['-c', '"$0" "$@" > /dev/null', file, ...args]
    const env = { PGPASSWORD: decodeURIComponent(password) }
    const { code, stderr } = await run({ file: 'sh', args: command, directory: '.', env })
    if (code !== 0) throw new Error(`pg_recvlogical failed: ${stderr}`)
    return performance.now() - startMs
  }

  async dropSlots(): Promise<void> {
    await this.client.query('SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.end()
    await this.#server.stop()
  }
}
