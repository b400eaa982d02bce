import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { openBroker } from '../../src/broker/open-broker.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import type { DebeziumAddress, DebeziumConnector } from '../env/debezium.ts'
import type { JavaHostAddress } from '../env/java-host.ts'
import { startPostgres } from '../env/postgres.ts'
import { tail } from '../env/process.ts'
import { createDatabase, type Database } from './database.ts'
import { temporaryDirectory } from './temporary-directory.ts'
import { until } from './until.ts'
import { clientOf } from './worker-group.ts'
import type { WeirWorker } from './worker-process.ts'

/** A JVM with Debezium takes 5 s to start, and ten times as long on a machine that is busy with other tests. */
const WAIT = { everyMs: 100, timeoutMs: 120_000 }

/** Worker settings with these connectors in the plugin path, each in a directory with its jars. */
export function debeziumSettings(
  javaHost: JavaHostAddress,
  debezium: DebeziumAddress,
  connectors: readonly DebeziumConnector[],
): Readonly<Record<string, string>> {
  const pluginPath = join(temporaryDirectory(), 'plugins')
  for (const connector of connectors) {
    const location = join(pluginPath, `debezium-connector-${connector}`)
    mkdirSync(location, { recursive: true })
    for (const jar of debezium[connector]) symlinkSync(jar, join(location, basename(jar)))
  }
  return {
    'plugin.path': pluginPath,
    'java.host.directory': javaHost.directory,
    'java.host.heap.max': '256m',
    'offset.flush.interval.ms': '500',
    'heartbeat.interval.ms': '500',
    'session.timeout.ms': '6000',
    'scheduled.rebalance.max.delay.ms': '0',
    // A machine that is busy with other tests gives no processor for long.
    'worker.thread.blocked.max.ms': '60000',
  }
}

/** A database on a server of its own, from which changes can be read. */
export async function startSourceDatabase(settings: Readonly<Record<string, string>> = {}): Promise<Database> {
  const server = await startPostgres({ wal_level: 'logical', ...settings })
  onTestFinished(() => server.stop())
  return createDatabase(server.url, () => undefined)
}

/** A source in the configuration of Debezium's documentation. `pgoutput` is the plugin that each server has. */
export function postgresSource(
  database: Database,
  prefix: string,
  tables: readonly string[],
): Readonly<Record<string, string>> {
  const url = new URL(database.config['connection.url'].slice('jdbc:'.length))
  return {
    'connector.class': 'io.debezium.connector.postgresql.PostgresConnector',
    'plugin.name': 'pgoutput',
    'database.hostname': url.hostname,
    'database.port': url.port,
    'database.user': database.config['connection.user'],
    'database.password': database.config['connection.password'],
    'database.dbname': database.name,
    'topic.prefix': prefix,
    'table.include.list': tables.join(','),
    'heartbeat.interval.ms': '1000',
    'key.converter': 'org.apache.kafka.connect.json.JsonConverter',
    'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
  }
}

/** Waits for a condition. If it does not become true, the error has the statuses of all connectors and the worker's log. */
export async function untilOn(worker: WeirWorker, what: string, isSo: () => Promise<boolean>): Promise<void> {
  await until(what, WAIT, isSo).catch(async (error: Error) => {
    const connectors = await clientOf(worker).list().catch(String)
    throw new Error(`${error.message}: ${JSON.stringify(connectors)}\n${tail(worker.logFile)}`)
  })
}

/** Sends SIGKILL to the JVM of a location. False if the worker has none. */
export function killJvm(worker: WeirWorker, locationName: string): boolean {
  const children = readFileSync(`/proc/${worker.pid}/task/${worker.pid}/children`, 'utf8').trim().split(' ')
  const found = children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').endsWith(`/${locationName}\0`))
  if (found !== undefined) process.kill(Number(found), 'SIGKILL')
  return found !== undefined
}

export type TopicRecord = {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: Readonly<Record<string, string>>
}

/** Reads the committed records of partition 0. Empty if the topic does not exist. */
export async function readTopic(bootstrap: string, topic: string): Promise<readonly TopicRecord[]> {
  const address = { kind: 'kafka', config: { 'bootstrap.servers': bootstrap } } as const
  const broker = await openBroker(address, { logger: silentLogger() })
  try {
    if ((await broker.topics.describe(topic)) === undefined) return []
    const [end] = await broker.topics.offsets(topic, 'latest', 'read_committed')
    const reader = broker.reader({ isolation: 'read_committed' })
    reader.seek([{ topic, partition: 0, offset: 0 }])
    const records: TopicRecord[] = []
    for (let next = 0; next < end!.offset; ) {
      for (const polled of await reader.poll(2_000)) {
        for (const { key, value, headers } of polled.records) {
          records.push({ key, value, headers: Object.fromEntries(headers.map(([name, text]) => [name, String(text)])) })
        }
        next = polled.nextOffset
      }
    }
    return records
  } finally {
    await broker.close()
  }
}

/** The value of a record that a `JsonConverter` wrote, with or without its schema. */
export function parseJson(bytes: Buffer | null): Readonly<Record<string, unknown>> | null {
  if (bytes === null) return null
  const parsed = JSON.parse(bytes.toString()) as { readonly schema?: object; readonly payload?: object | null }
  return (parsed.schema === undefined ? parsed : (parsed.payload ?? null)) as Readonly<Record<string, unknown>> | null
}
