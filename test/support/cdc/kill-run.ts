import type pg from 'pg'
import { onTestFinished } from 'vitest'
import type { Broker, StoredRecord } from '../../../src/broker/broker.ts'
import type { ConnectorProperties } from '../../../src/clients/worker-client.ts'
import { type Postgres, startPostgres } from '../../env/postgres.ts'
import { createDatabase, type Database } from '../database.ts'
import { parseJson, postgresSource } from '../debezium.ts'
import { openDisposableBroker, readRecords } from '../topic.ts'
import { until } from '../until.ts'
import { clientOf, WorkerGroup } from '../worker-group.ts'
import type { WeirWorker } from '../worker-process.ts'
import { ALL_TABLES, createTables, fillTables } from './concurrent-writers.ts'
import { DeliveredChanges } from './delivered-changes.ts'
import { type AuditReport, type Change, EventAudit, type Kill } from './event-audit.ts'

const JSON_CONVERTER = 'org.apache.kafka.connect.json.JsonConverter'
const SETTINGS = {
  'offset.flush.interval.ms': '500',
  'offset.storage.partitions': '1',
  'producer.compression.type': 'lz4',
  'heartbeat.interval.ms': '500',
  'session.timeout.ms': '6000',
  'scheduled.rebalance.max.delay.ms': '0',
  // A machine that is busy with other tests gives no processor for long.
  'worker.thread.blocked.max.ms': '60000',
}

/** Advisory lock that the snapshot waits for before it reads `clients`: the SELECT statement of the table acquires it. */
const GATE = 1
const GATED_STATEMENT = `SELECT c.* FROM clients c, (SELECT pg_advisory_lock_shared(${GATE})) AS gate`
const WAITING_SQL = `SELECT count(DISTINCT pid)::int AS waiting FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`

export type KillRunOptions = {
  readonly bootstrap: string
  /** Of the server for the copy, which is not restarted. */
  readonly targetUrl: string
  readonly snapshotRows: number
  readonly timeoutMs: number
}

/** A database whose changes are copied through topics into another one by a worker. Worker and server can be killed. */
export class KillRun implements AsyncDisposable {
  readonly source: Database
  readonly #server: Postgres
  readonly #target: Database
  readonly #group: WorkerGroup
  readonly #broker: Broker
  readonly #options: KillRunOptions
  readonly #kills: Kill[] = []
  readonly #phases: Phase[] = []
  readonly #delivered: DeliveredChanges
  readonly #gate: pg.Client
  #worker: WeirWorker

  private constructor(of: {
    readonly server: Postgres
    readonly source: Database
    readonly target: Database
    readonly group: WorkerGroup
    readonly worker: WeirWorker
    readonly broker: Broker
    readonly gate: pg.Client
    readonly options: KillRunOptions
  }) {
    this.#server = of.server
    this.source = of.source
    this.#target = of.target
    this.#group = of.group
    this.#worker = of.worker
    this.#broker = of.broker
    this.#options = of.options
    this.#gate = of.gate
    this.#delivered = new DeliveredChanges(of.broker, this.#topic('clients'))
  }

  /** Creates the connectors. The snapshot has read some tables, and waits before the others, when it resolves. */
  static async start(options: KillRunOptions): Promise<KillRun> {
    const { bootstrap, targetUrl } = options
    // A session that waits for a lock notices the end of its client at this interval only.
    const server = await startPostgres({ wal_level: 'logical', client_connection_check_interval: '100ms' })
    onTestFinished(() => server.stop())
    const source = await createDatabase(server.url, () => undefined)
    const target = await createDatabase(targetUrl)
    for (const database of [source, target]) await createTables(database)
    await fillTables(source, options.snapshotRows)
    const gate = await source.client()
    await gate.query(`SELECT pg_advisory_lock(${GATE})`)
    const group = new WorkerGroup(bootstrap, SETTINGS)
    const worker = await group.startOne()
    const broker = await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': bootstrap } })
    const run = new KillRun({ server, source, target, group, worker, broker, gate, options })
    await clientOf(worker).create('source', sourceConfig(source, group.id))
    await clientOf(worker).create('sink', sinkConfig(target, group.id))
    await run.untilSnapshotWaits()
    return run
  }

  /** Waits until the snapshot, which has read some tables, waits before the others. */
  async untilSnapshotWaits(): Promise<void> {
    await this.until('the snapshot to wait', async () => {
      const [row] = await this.source.run(WAITING_SQL)
      return row?.['waiting'] === 1 && (await this.#phase()) === 'snapshot'
    })
  }

  async untilStreaming(): Promise<void> {
    await this.until('the snapshot to be complete', async () => (await this.#phase()) === 'stream')
  }

  /** Number of changes of `ConcurrentWriters` that the stream has delivered. */
  delivered(): Promise<number> {
    return this.#delivered.count()
  }

  /** What the stored offset was in at each kill. */
  get phases(): readonly string[] {
    return this.#phases
  }

  async killWorker(): Promise<void> {
    await this.#worker.kill()
    await this.#recordKill()
    this.#group.forget(this.#worker)
    this.#worker = await this.#group.startOne()
  }

  /** Crashes the server while a transaction with `rows` inserted rows is open. The snapshot does not wait any more afterwards. */
  async crashServer(rows = 10_000): Promise<void> {
    const client = await this.source.client()
    await client.query(`BEGIN; INSERT INTO plain SELECT -n, 1 FROM generate_series(1, ${rows}) n`)
    await this.#recordKill()
    await this.#server.crash()
    for (const lost of [client, this.#gate]) await lost.end().catch(() => undefined)
    await this.#server.restart()
  }

  /**
   * Stops the source and resumes it. Returns whether it was stopped within a transaction. The stored offset is that of the last
   * record, so a change that is left out after it is missing. After a kill it would be in the topics already, behind the offset.
   */
  async restartSource(): Promise<boolean> {
    await this.#stopSource()
    const offset = await this.#storedOffset()
    this.#kills.push({ atMs: Date.now(), offset })
    await clientOf(this.#worker).resume('source')
    return Number(offset?.['position_index'] ?? -1) >= 0
  }

  /** Waits until the second database has the rows of the first one. */
  async untilCopied(): Promise<void> {
    const isCopied = async (table: string) =>
      (await digestOf(this.source, table)) === (await digestOf(this.#target, table))
    for (const table of ALL_TABLES) {
      await this.until(`${table} to be copied`, () => isCopied(table)).catch(async (error: Error) => {
        throw new Error(`${error.message}\n${await differencesOf(this.source, this.#target, table)}`)
      })
    }
  }

  async until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const wait = { everyMs: 100, timeoutMs: this.#options.timeoutMs }
    await until(what, wait, async () => {
      await this.#refuseFailed()
      return isSo()
    })
  }

  /** Waits until the stream has delivered the last transaction of each client, and audits the topics. */
  async audit(): Promise<AuditReport> {
    const [committed] = await this.source.run('SELECT sum(changes)::int AS changes FROM clients')
    await this.until('the last changes', async () => (await this.delivered()) >= Number(committed?.['changes']))
    // A task that has ended has written all records that it read.
    await this.#stopSource()
    const audit = new EventAudit()
    // The rows of the clients first: they have the order of the transactions.
    for (const table of [...ALL_TABLES].reverse()) {
      for await (const { key, value, timestampMs } of recordsOf(this.#broker, this.#topic(table))) {
        audit.add({ table, key: String(key), timestampMs, change: parseJson(value) as Change | null })
      }
    }
    return audit.report(this.#kills)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#broker.close()
  }

  async #phase(): Promise<Phase> {
    return phaseOf(await this.#storedOffset())
  }

  async #stopSource(): Promise<void> {
    const client = clientOf(this.#worker)
    await client.stop('source')
    await this.until('the source to stop', async () => (await client.status('source')).tasks.length === 0)
  }

  async #recordKill(): Promise<void> {
    const offset = await this.#storedOffset()
    this.#kills.push({ atMs: Date.now(), offset })
    this.#phases.push(phaseOf(offset))
  }

  #topic(table: string): string {
    return `${this.#group.id}.public.${table}`
  }

  async #refuseFailed(): Promise<void> {
    for (const name of ['source', 'sink']) {
      const status = await clientOf(this.#worker)
        .status(name)
        .catch(() => undefined)
      const failed = [status?.connector, ...(status?.tasks ?? [])].find((one) => one?.state === 'FAILED')
      if (failed !== undefined) throw new Error(`${name} failed: ${failed.trace}`)
    }
  }

  async #storedOffset(): Promise<Kill['offset']> {
    const records = await readRecords(this.#broker, `${this.#group.id}-offsets`)
    const last = records.findLast(({ key }) => String(key).startsWith('["source"'))
    return parseJson(last?.value ?? null) ?? undefined
  }
}

type Phase = 'nothing' | 'snapshot' | 'stream'

function phaseOf(offset: Kill['offset']): Phase {
  if (offset === undefined) return 'nothing'
  return offset['snapshot_completed'] === false ? 'snapshot' : 'stream'
}

function sourceConfig(database: Database, prefix: string): ConnectorProperties {
  return {
    ...postgresSource(
      database,
      prefix,
      ALL_TABLES.map((table) => `public.${table}`),
    ),
    'poll.interval.ms': '50',
    'snapshot.select.statement.overrides': 'public.clients',
    'snapshot.select.statement.overrides.public.clients': GATED_STATEMENT,
    'retriable.restart.connector.wait.ms': '500',
    // Topics of one partition, so that the changes of a table have an order.
    'topic.creation.default.partitions': '1',
    'topic.creation.default.replication.factor': '1',
  }
}

function sinkConfig({ config }: Database, prefix: string): ConnectorProperties {
  return {
    ...config,
    'connector.class': 'PostgresSink',
    'tasks.max': '2',
    topics: ALL_TABLES.map((table) => `${prefix}.public.${table}`).join(','),
    'key.converter': JSON_CONVERTER,
    'value.converter': JSON_CONVERTER,
    'insert.mode': 'upsert',
    'delete.enabled': 'true',
    'pk.mode': 'record_key',
    'max.retries': '100',
    'retry.backoff.ms': '500',
    transforms: 'row,table',
    'transforms.row.type': 'ExtractNewRecordState',
    'transforms.row.delete.tombstone.handling.mode': 'delete-to-tombstone',
    'transforms.table.type': 'RegexRouter',
    'transforms.table.regex': '.*[.](.*)',
    'transforms.table.replacement': '$1',
  }
}

/** Reads all records of partition 0, which may not fit in memory. */
async function* recordsOf(broker: Broker, topic: string): AsyncGenerator<StoredRecord> {
  const [end] = await broker.topics.offsets(topic, 'latest')
  const reader = broker.reader()
  reader.seek([{ topic, partition: 0, offset: 0 }])
  for (let next = 0; next < end!.offset; ) {
    for (const polled of await reader.poll(1_000)) {
      yield* polled.records
      next = polled.nextOffset
    }
  }
  await reader.close()
}

/** Of all rows of a table. The server may be starting. */
async function digestOf(database: Database, table: string): Promise<unknown> {
  const sql = `SELECT count(*), md5(string_agg(md5(t::text), '' ORDER BY id)) AS digest FROM ${table} t`
  return JSON.stringify(await database.run(sql))
}

/** The first rows that differ. */
async function differencesOf(source: Database, target: Database, table: string): Promise<string> {
  const rowsOf = async (database: Database) => {
    const rows = await database.run(`SELECT id, t::text AS row FROM ${table} t`)
    return new Map(rows.map(({ id, row }) => [Number(id), String(row).slice(0, 200)]))
  }
  const [left, right] = [await rowsOf(source), await rowsOf(target)]
  const ids = [...new Set([...left.keys(), ...right.keys()])].filter((id) => left.get(id) !== right.get(id))
  const shown = ids.slice(0, 5).map((id) => `${id}: ${left.get(id)} → ${right.get(id)}`)
  return [`${ids.length} rows of ${table} differ`, ...shown].join('\n')
}
