import { copyFileSync, mkdirSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import pg from 'pg'
import type { ConnectorProperties } from '../../../src/clients/worker-client.ts'
import type { DebeziumConnector } from '../../env/debezium.ts'
import { resolveJars } from '../../env/jars.ts'
import { javaHostPart } from '../../env/java-host.ts'
import { type Postgres, startPostgres } from '../../env/postgres.ts'
import { partDirectory } from '../../env/workspace.ts'
import { writeLines } from '../../support/numbered-lines.ts'
import type { Settings } from '../settings.ts'

const DEBEZIUM_VERSION = '3.4.0.Final'
/** Debezium's rate is a tenth of that of the file source. */
const RECORDS_PER_ROW = 10
const STRING = 'org.apache.kafka.connect.storage.StringConverter'
const JSON_CONVERTER = 'org.apache.kafka.connect.json.JsonConverter'

/** Directories with the jars of the measured connectors, and of the Java host. */
export type PluginDirectories = { readonly pluginPath: string; readonly hostDirectory: string }

/** A source connector that copies a known number of records to one topic. */
export type PluginCase = {
  readonly name: string
  readonly records: number
  /** `id` is unique for each run. */
  config(id: string): ConnectorProperties
  topic(id: string): string
}

/** A plugin path with two locations, as an installation of Kafka Connect has it. */
export async function preparePlugins(): Promise<PluginDirectories> {
  const host = await javaHostPart('java-host').start(() => Promise.reject(new Error('the host needs no other part')))
  const pluginPath = await debeziumPluginPath()
  copyJars(join(pluginPath, 'connect-file'), [host.address.jars.file])
  return { pluginPath, hostDirectory: host.address.directory }
}

/** A plugin path with one of Debezium's connectors. */
export async function debeziumPluginPath(connector: DebeziumConnector = 'postgres'): Promise<string> {
  const pluginPath = partDirectory('plugins')
  const artifact = `debezium-connector-${connector}`
  const jars = await resolveJars(`${artifact}-${DEBEZIUM_VERSION}`, [['io.debezium', artifact, DEBEZIUM_VERSION]])
  copyJars(join(pluginPath, artifact), jars.split(delimiter).filter(isOfArchive))
  return pluginPath
}

/** The cases, with the file and the database that they read. */
export async function copiesOfPlugins(
  settings: Settings,
): Promise<AsyncDisposable & { readonly all: readonly PluginCase[] }> {
  const rows = Math.ceil(settings.records / RECORDS_PER_ROW)
  const server = await startPostgres({ wal_level: 'logical' })
  await fillTable(server, rows)
  return {
    all: [fileStream(settings.records), debeziumSnapshot(server, rows)],
    [Symbol.asyncDispose]: () => server.stop(),
  }
}

function fileStream(records: number): PluginCase {
  const file = join(partDirectory('lines'), 'in.txt')
  writeLines(file, records)
  return {
    name: 'FileStreamSource',
    records,
    topic: (id) => id,
    config: (id) => ({
      'connector.class': 'org.apache.kafka.connect.file.FileStreamSourceConnector',
      'key.converter': STRING,
      'value.converter': STRING,
      topic: id,
      file,
    }),
  }
}

function debeziumSnapshot({ port, url }: Postgres, records: number): PluginCase {
  const { username, password, pathname } = new URL(url)
  return {
    name: 'Debezium snapshot',
    records,
    topic: (id) => `${id}.public.made`,
    config: (id) => ({
      'connector.class': 'io.debezium.connector.postgresql.PostgresConnector',
      'key.converter': JSON_CONVERTER,
      'value.converter': JSON_CONVERTER,
      'database.hostname': '127.0.0.1',
      'database.port': String(port),
      'database.user': username,
      'database.password': decodeURIComponent(password),
      'database.dbname': pathname.slice(1),
      'plugin.name': 'pgoutput',
      'topic.prefix': id,
      'table.include.list': 'public.made',
      'snapshot.mode': 'initial_only',
    }),
  }
}

async function fillTable({ url }: Postgres, rows: number): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`CREATE TABLE made (id bigint PRIMARY KEY, word text, amount numeric(12, 2), at timestamptz NOT NULL);
    INSERT INTO made SELECT n, 'word ' || n || repeat('.', 50), n * 0.01, now() FROM generate_series(1, ${rows}) n`)
  await client.query('VACUUM ANALYZE made')
  await client.end()
}

/** Debezium's archives leave out the libraries of Kafka Connect. With two Jackson libraries, its JDBC sink does not start. */
function isOfArchive(jar: string): boolean {
  return !/^(?:jackson|connect|kafka|slf4j)-/.test(basename(jar))
}

/** Installs a plugin. */
export function copyJars(directory: string, jars: readonly string[]): void {
  mkdirSync(directory)
  for (const jar of jars) copyFileSync(jar, join(directory, basename(jar)))
}
