import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { CATALOG_QUERY } from '../../src/plugins/connectors/postgres/cdc/values/type-catalog.ts'
import { createDatabase } from '../support/database.ts'
import type {
  RecordedEvent,
  RecordedMessage,
  RecordedTable,
  Recording,
  RecordingPlan,
} from '../support/debezium-recording.ts'
import { RECORDING_PLANS } from '../support/debezium-recording-plans.ts'
import { resolveClasspath, resolveJars } from './jars.ts'
import { startPostgres } from './postgres.ts'

// Records the events of Debezium: `node test/env/record-debezium.ts [PLAN…]`. It needs Java, Maven and PostgreSQL.

const MAIN = join(import.meta.dirname, 'java-debezium.java')
const FILES = join(import.meta.dirname, '../golden/debezium-postgres')
const DEBEZIUM = '3.4.0.Final'
const KAFKA = '4.3.1'
const SLOT = 'recorded'
/** The last change of each plan is an update of this table, whose event ends the recording. */
const END = 'the_end'

const AS_TEXT = { getTypeParser: () => (text: string) => text } as unknown as pg.CustomTypesConfig
const SETTINGS =
  "SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'postgres'; SET bytea_output = 'hex'"

/** The built-in types, which all recordings share. */
async function recordCatalog(): Promise<void> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const { rows } = await client.query({ text: CATALOG_QUERY, rowMode: 'array', types: AS_TEXT })
  await client.end()
  const types = (rows as (string | null)[][]).filter(([id]) => Number(id) < USER_TYPES)
  writeFileSync(join(FILES, 'catalog.golden.json'), `[\n${types.map((type) => JSON.stringify(type)).join(',\n')}\n]\n`)
}

async function record(plan: RecordingPlan): Promise<Recording<number>> {
  const cleanups: (() => Promise<void>)[] = []
  const database = await createDatabase(server.url, (clean) => cleanups.push(clean))
  const client = await database.client()
  const query = async (sql: string) =>
    (await client.query({ text: sql, rowMode: 'array', types: AS_TEXT })).rows as (string | null)[][]
  try {
    await client.query(SETTINGS)
    await client.query(
      `${plan.setup}; CREATE TABLE ${END} (id int PRIMARY KEY, n int); INSERT INTO ${END} VALUES (1, 1)`,
    )
    await client.query(`CREATE PUBLICATION ${SLOT} FOR ALL TABLES`)
    await client.query(`SELECT pg_create_logical_replication_slot('${SLOT}', 'pgoutput')`)
    const tables = await describeTables(query)
    const events = await runDebezium(configOf(plan, database.name), async () => {
      for (const change of plan.changes) await client.query(change)
      await client.query(`UPDATE ${END} SET n = 2`)
    })
    const messages =
      await query(`SELECT lsn, xid, encode(data, 'hex') FROM pg_logical_slot_peek_binary_changes('${SLOT}',
      NULL, NULL, 'proto_version', '1', 'publication_names', '${SLOT}', 'messages', 'true')`)
    const types = await query(CATALOG_QUERY)
    const [version] = await query('SHOW server_version')
    const schemas = new Map<string, number>()
    return {
      versions: { debezium: DEBEZIUM, kafka: KAFKA, postgresql: version![0]! },
      config: plan.config,
      database: database.name,
      tables,
      types: types.filter(([id]) => Number(id) >= USER_TYPES),
      messages: messages.map(
        ([lsn, id, hex]): RecordedMessage => ({ lsn: lsn!, transactionId: Number(id), hex: hex! }),
      ),
      events: events.map((event) => withSchemaIndexes(event, schemas)),
      schemas: [...schemas.keys()],
    }
  } finally {
    await client.query(`SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active`)
    await client.end()
    for (const clean of cleanups) await clean()
  }
}

/** The OIDs of types that are not built in begin here. */
const USER_TYPES = 16_384

const TABLES = `SELECT c.oid, n.nspname, c.relname, c.relreplident,
  (SELECT json_agg(json_build_object('name', a.attname, 'typeId', a.atttypid::int8, 'modifier', a.atttypmod,
     'keyPosition', array_position(i.indkey::int[], a.attnum::int),
     'isOptional', NOT a.attnotnull, 'defaultExpression', CASE a.attgenerated WHEN '' THEN pg_get_expr(d.adbin, d.adrelid) END) ORDER BY a.attnum)
   FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
   LEFT JOIN pg_index i ON i.indexrelid = (
     SELECT k.indexrelid FROM pg_index k WHERE k.indrelid = c.oid AND k.indisunique ORDER BY k.indisprimary DESC LIMIT 1)
   WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema') ORDER BY n.nspname, c.relname`

async function describeTables(query: (sql: string) => Promise<(string | null)[][]>): Promise<RecordedTable[]> {
  const tables: RecordedTable[] = []
  for (const [id, schema, name, replicaIdentity, columns] of await query(TABLES)) {
    const rows = await query(`SELECT * FROM "${schema}"."${name}"`)
    tables.push({
      id: Number(id),
      schema: schema!,
      name: name!,
      replicaIdentity: replicaIdentity!,
      columns: JSON.parse(columns!),
      rows,
    })
  }
  return tables
}

function configOf(plan: RecordingPlan, database: string): Readonly<Record<string, string>> {
  const url = new URL(server.url)
  return {
    name: 'recorder',
    'connector.class': 'io.debezium.connector.postgresql.PostgresConnector',
    'plugin.name': 'pgoutput',
    'database.hostname': url.hostname,
    'database.port': url.port,
    'database.user': url.username,
    'database.password': decodeURIComponent(url.password),
    'database.dbname': database,
    'topic.prefix': 'p',
    'publication.name': SLOT,
    'publication.autocreate.mode': 'disabled',
    'slot.drop.on.stop': 'true',
    'poll.interval.ms': '20',
    ...plan.config,
  }
}

/** Runs Debezium until the event of the last change. `change` is called after the snapshot. */
async function runDebezium(
  config: Readonly<Record<string, string>>,
  change: () => Promise<void>,
): Promise<RecordedEvent[]> {
  const directory = mkdtempSync(join(tmpdir(), 'weir-debezium-'))
  try {
    const file = join(directory, 'config.json')
    writeFileSync(file, JSON.stringify(config))
    const jars = [
      await resolveClasspath('plugins', KAFKA),
      await resolveJars(`debezium-connector-postgres-${DEBEZIUM}`, [
        ['io.debezium', 'debezium-connector-postgres', DEBEZIUM],
      ]),
    ]
    const java = spawn('java', ['-Xmx256m', '-Duser.timezone=UTC', '-cp', jars.join(delimiter), MAIN, file], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const events: RecordedEvent[] = []
    let isChanged = false
    for await (const line of createInterface(java.stdout)) {
      if (!line.startsWith('{"topic"')) {
        console.error(line)
        continue
      }
      const event = JSON.parse(line) as RecordedEvent
      events.push(event)
      if (/"snapshot":"last"/.test(event.value?.payload ?? '') && !isChanged) {
        isChanged = true
        await change()
      }
      const payload = event.value?.payload ?? ''
      const isEnd = payload.includes(`"table":"${END}"`) && payload.includes('"op":"u"')
      // An event of the end of the transaction may follow.
      if (isEnd) setTimeout(() => java.stdin.end(), 500)
    }
    return events
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function withSchemaIndexes(event: RecordedEvent, schemas: Map<string, number>): RecordedEvent<number> {
  const indexed = (part: RecordedEvent['key']) => {
    if (part === null) return null
    if (!schemas.has(part.schema)) schemas.set(part.schema, schemas.size)
    return { schema: schemas.get(part.schema)!, payload: part.payload }
  }
  return {
    ...event,
    key: indexed(event.key),
    value: indexed(event.value),
    headers: event.headers.map(({ key, value }) => ({ key, value: indexed(value) })),
  }
}

/** One line for each element, so that differences can be read. */
function text(recording: Recording<number>): string {
  const members = Object.entries(recording).map(([name, value]) => {
    const shown = Array.isArray(value)
      ? `[\n${value.map((item) => JSON.stringify(item)).join(',\n')}\n]`
      : JSON.stringify(value)
    return `${JSON.stringify(name)}: ${shown}`
  })
  return `{\n${members.join(',\n')}\n}\n`
}

const server = await startPostgres({ wal_level: 'logical' })
try {
  await recordCatalog()
  const names = process.argv.slice(2)
  for (const plan of RECORDING_PLANS) {
    if (names.length > 0 && !names.includes(plan.name)) continue
    const recording = await record(plan)
    writeFileSync(join(FILES, `${plan.name}.golden.json`), text(recording))
    console.log(plan.name, recording.events.length, 'events')
  }
} finally {
  await server.stop()
}
