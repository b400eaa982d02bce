import { randomUUID } from 'node:crypto'
import type { Broker } from '../../src/broker/broker.ts'
import type { WorkerClient } from '../../src/clients/worker-client.ts'
import type { MariadbAddress } from '../env/mariadb.ts'
import { type ChangeEvent, type EventComparison, parseEvent } from './cdc/event-comparison.ts'
import { withRowsOnly } from './mysql-cdc-allowances.ts'
import type { MysqlDatabase } from './mysql-database.ts'
import { readRecords } from './topic.ts'
import { until } from './until.ts'

const WAIT = { everyMs: 100, timeoutMs: 180_000 }
const JSON_CONVERTER = 'org.apache.kafka.connect.json.JsonConverter'
const SHOWN_CHARS = 1_500

type Side = { readonly client: WorkerClient; readonly prefix: string; readonly serverId: number }

export type MysqlSideBySideOptions = {
  readonly bootstrap: string
  readonly broker: Broker
  readonly mariadb: MariadbAddress
  readonly database: MysqlDatabase
  readonly ours: WorkerClient
  readonly theirs: WorkerClient
}

/** The configuration of a connector of Debezium, which either worker runs. */
export function mariadbConnector(
  { mariadb, database, bootstrap }: Pick<MysqlSideBySideOptions, 'mariadb' | 'database' | 'bootstrap'>,
  { prefix, serverId }: Pick<Side, 'prefix' | 'serverId'>,
): Readonly<Record<string, string>> {
  return {
    'connector.class': 'io.debezium.connector.mariadb.MariaDbConnector',
    'tasks.max': '1',
    'database.hostname': '127.0.0.1',
    'database.port': String(mariadb.port),
    'database.user': mariadb.user,
    'database.password': mariadb.password,
    'database.server.id': String(serverId),
    'database.ssl.mode': 'disable',
    'topic.prefix': prefix,
    'database.include.list': database.name,
    'schema.history.internal.kafka.bootstrap.servers': bootstrap,
    'schema.history.internal.kafka.topic': `history-${prefix}`,
    'schema.history.internal.store.only.captured.tables.ddl': 'true',
    'provide.transaction.metadata': 'true',
    'key.converter': JSON_CONVERTER,
    'value.converter': JSON_CONVERTER,
    'header.converter': JSON_CONVERTER,
    'topic.creation.default.partitions': '1',
    'topic.creation.default.replication.factor': '1',
    'skipped.operations': 'none',
  }
}

/** A connector of Weir and one of Debezium with the same configuration, which read one database. */
export class MysqlSideBySide {
  readonly #options: MysqlSideBySideOptions
  readonly #sides: readonly [ours: Side, theirs: Side]
  #markers = 0

  private constructor(options: MysqlSideBySideOptions) {
    const id = randomUUID().slice(0, 8)
    this.#options = options
    this.#sides = [
      { client: options.ours, prefix: `left_${id}`, serverId: 7001 },
      { client: options.theirs, prefix: `rght_${id}`, serverId: 7002 },
    ]
  }

  /** Creates the connectors, and waits for the end of their snapshots. */
  static async start(options: MysqlSideBySideOptions): Promise<MysqlSideBySide> {
    const run = new MysqlSideBySide(options)
    const { database } = options
    await database.run(
      'CREATE TABLE markers (id INT PRIMARY KEY)',
      'CREATE TABLE signals (id VARCHAR(42) PRIMARY KEY, type VARCHAR(32), data VARCHAR(2048))',
    )
    const signals = { 'signal.data.collection': `${database.name}.signals` }
    for (const side of run.#sides) {
      await side.client.create(side.prefix, { ...mariadbConnector(options, side), ...signals })
    }
    for (const side of run.#sides) {
      await until(`the snapshot of ${side.prefix}`, WAIT, async () => {
        await refuseFailed(side)
        return (await run.#count(side, 'types')) > 1
      })
    }
    await run.untilRead()
    return run
  }

  /** Lets both connectors read the rows of a table again, in chunks, and waits for as many rows of each. */
  async readInChunks(table: string, rows: number): Promise<void> {
    const { database } = this.#options
    const before = await Promise.all(this.#sides.map((side) => this.#count(side, table)))
    const data = JSON.stringify({ 'data-collections': [`${database.name}.${table}`], type: 'incremental' })
    await database.run(`INSERT INTO signals VALUES ('read ${table}', 'execute-snapshot', '${data}')`)
    for (const [index, side] of this.#sides.entries()) {
      await until(`the rows of ${table} in ${side.prefix}`, WAIT, async () => {
        await refuseFailed(side)
        return (await this.#count(side, table)) >= before[index]! + rows
      })
    }
  }

  /** Waits until both connectors have written what the database contains now. */
  async untilRead(): Promise<void> {
    this.#markers += 1
    await this.#options.database.run(`INSERT INTO markers VALUES (${this.#markers})`)
    for (const side of this.#sides) {
      await until(`marker ${this.#markers} of ${side.prefix}`, WAIT, async () => {
        if ((await this.#count(side, 'markers')) >= this.#markers) return true
        await refuseFailed(side)
        return false
      })
    }
  }

  /** Deletes the connectors, and describes what differs in each topic. */
  async differences(comparison: EventComparison): Promise<readonly string[]> {
    const [ours, theirs] = [await this.#events(this.#sides[0]), await this.#events(this.#sides[1])]
    const topics = [...new Set([...ours.keys(), ...theirs.keys()])].sort()
    return topics.flatMap((topic) => {
      const [found, expected] = [ours, theirs].map((events) => withRowsOnly(topic, events.get(topic) ?? []))
      return differencesOf(topic, found!, expected!, comparison)
    })
  }

  async #count({ prefix }: Side, table: string): Promise<number> {
    const { broker, database } = this.#options
    const topic = `${prefix}.${database.name}.${table}`
    if ((await broker.topics.describe(topic)) === undefined) return 0
    return (await broker.topics.offsets(topic, 'latest'))[0]!.offset
  }

  async #events({ prefix, client }: Side): Promise<ReadonlyMap<string, readonly ChangeEvent[]>> {
    const { broker, database } = this.#options
    await client.delete(prefix)
    const events = new Map<string, readonly ChangeEvent[]>()
    for (const name of (await broker.topics.list()).filter((topic) => topic.startsWith(prefix))) {
      const records = await readRecords(broker, name)
      events.set(
        name.replace(prefix, '').replace(database.name, 'db'),
        records.map((record) => parseEvent(record, prefix)),
      )
    }
    return events
  }
}

async function refuseFailed({ client, prefix }: Side): Promise<void> {
  const status = await client.status(prefix).catch(() => undefined)
  const failed = status?.tasks.find(({ state }) => state === 'FAILED')
  if (failed !== undefined) throw new Error(`the task of ${prefix} failed: ${failed.trace}`)
}

function differencesOf(
  topic: string,
  ours: readonly ChangeEvent[],
  theirs: readonly ChangeEvent[],
  comparison: EventComparison,
): readonly string[] {
  const counts = ours.length === theirs.length ? [] : [`${topic}: ${ours.length} events, Debezium has ${theirs.length}`]
  const both = ours.slice(0, theirs.length)
  const different = both.flatMap((event, index) => {
    const found = comparison.differences(event, theirs[index]!)
    return found.length === 0 ? [] : [`${topic} ${index}: ${JSON.stringify(found).slice(0, SHOWN_CHARS)}`]
  })
  return [...counts, ...different]
}
