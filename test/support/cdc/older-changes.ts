import { randomUUID } from 'node:crypto'
import { undefinedIfNotFound } from '../../../src/clients/http-client.ts'
import type { Database } from '../database.ts'
import { openDisposableBroker, readRecords } from '../topic.ts'
import { until } from '../until.ts'
import type { CdcWorker } from './cdc-workers.ts'
import { type ChangeEvent, parseEvent } from './event-comparison.ts'
import { sideConfig } from './side-by-side.ts'

const WAIT = { everyMs: 100, timeoutMs: 120_000 }
const FINISH = 'finish'

/** Changes that the server has logged for the slot of a connector before the connector starts, and its events of them. */
export type OlderChangesCase = {
  readonly name: string
  readonly config: Readonly<Record<string, string>>
  readonly table: string
  readonly setup: string
  /** Each statement is a transaction. */
  readonly changes: readonly string[]
  readonly events: readonly string[]
  /** Default: those of Weir. */
  readonly eventsOfDebezium?: readonly string[]
}

/** The events of a table whose column `tenant` is renamed, with `note` of the deleted row. */
const renamed = (note: string) => [
  'c {id:2,tenant:1} {tenant:1,id:2,note:a}',
  'u {id:2,tenant:1} {tenant:1,id:2,note:b}',
  'c {id:4,customer:3} {customer:3,id:4,note:c,more:5}',
  `d {id:2,customer:1} {customer:1,id:2,note:${note},more:null}`,
  'tombstone {id:2,customer:1}',
]
/** Debezium takes the key from the catalog, by the names of today. */
const withoutTenant = (event: string) => event.replace(',tenant:1}', '}')

/** The slot is created, then the rows are changed, and then the connector starts for the first time. */
export const OLDER_CHANGES: readonly OlderChangesCase[] = [
  {
    name: 'rows that are inserted after the slot and before the snapshot',
    config: { 'snapshot.mode': 'initial' },
    table: 'orders',
    setup: 'CREATE TABLE orders (id int PRIMARY KEY, item text)',
    changes: [
      "INSERT INTO orders VALUES (1, 'a')",
      "INSERT INTO orders VALUES (2, 'b')",
      "UPDATE orders SET item = 'c' WHERE id = 1",
    ],
    events: ['r {id:2} {id:2,item:b}', 'r {id:1} {id:1,item:c}'],
  },
  {
    name: 'a row that is deleted and inserted again before the snapshot',
    config: { 'snapshot.mode': 'initial' },
    table: 'deleted',
    setup: 'CREATE TABLE deleted (id int PRIMARY KEY, item text)',
    changes: [
      "INSERT INTO deleted VALUES (1, 'a')",
      "INSERT INTO deleted VALUES (2, 'b')",
      'DELETE FROM deleted WHERE id = 1',
      "INSERT INTO deleted VALUES (1, 'again')",
      "UPDATE deleted SET item = 'c' WHERE id = 2",
    ],
    // The topic may have the deleted row, from a start that was killed before it stored an offset.
    events: [
      'r {id:1} {id:1,item:again}',
      'r {id:2} {id:2,item:c}',
      'd {id:1} {id:1,item:null}',
      'tombstone {id:1}',
      'c {id:1} {id:1,item:again}',
      'u {id:2} {id:2,item:c}',
    ],
    eventsOfDebezium: ['r {id:1} {id:1,item:again}', 'r {id:2} {id:2,item:c}'],
  },
  {
    name: 'a column of the key that is renamed, with the full replica identity',
    config: { 'snapshot.mode': 'no_data' },
    table: 'renamed',
    setup:
      'CREATE TABLE renamed (tenant int, id int, note text, PRIMARY KEY (id, tenant)); ALTER TABLE renamed REPLICA IDENTITY FULL',
    changes: [
      "INSERT INTO renamed VALUES (1, 2, 'a')",
      "UPDATE renamed SET note = 'b'",
      'ALTER TABLE renamed RENAME tenant TO customer; ALTER TABLE renamed ADD more int',
      "INSERT INTO renamed VALUES (3, 4, 'c', 5)",
      'DELETE FROM renamed WHERE id = 2',
    ],
    events: renamed('b'),
    eventsOfDebezium: renamed('b').map(withoutTenant),
  },
  {
    name: 'a column of the key that is renamed, with the default replica identity',
    config: { 'snapshot.mode': 'no_data' },
    table: 'sent',
    setup: 'CREATE TABLE sent (tenant int, id int, note text, PRIMARY KEY (id, tenant))',
    changes: [
      "INSERT INTO sent VALUES (1, 2, 'a')",
      "UPDATE sent SET note = 'b'",
      'ALTER TABLE sent RENAME tenant TO customer; ALTER TABLE sent ADD more int',
      "INSERT INTO sent VALUES (3, 4, 'c', 5)",
      'DELETE FROM sent WHERE id = 2',
    ],
    events: renamed('null'),
    eventsOfDebezium: renamed('null').map(withoutTenant),
  },
]

type Run = {
  readonly bootstrap: string
  readonly database: Database
  readonly workers: readonly CdcWorker[]
}

/** The events of each worker, by its name. */
export async function runOlderChanges(
  { bootstrap, database, workers }: Run,
  { config, table, setup, changes }: OlderChangesCase,
): Promise<ReadonlyMap<CdcWorker['name'], readonly string[]>> {
  await using broker = await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': bootstrap } })
  await database.run(`DROP TABLE IF EXISTS ${FINISH}; CREATE TABLE ${FINISH} (id int PRIMARY KEY); ${setup}`)
  const sides = workers.map((worker) => ({
    worker,
    prefix: `older_${worker.name.toLowerCase()}_${randomUUID().slice(0, 8)}`,
  }))
  for (const { prefix } of sides) {
    await database.run(`CREATE PUBLICATION ${prefix} FOR ALL TABLES`)
    await database.run("SELECT pg_create_logical_replication_slot($1, 'pgoutput')", [prefix])
  }
  for (const sql of changes) await database.run(sql)
  for (const { worker, prefix } of sides) {
    const all = sideConfig(database, prefix, { name: table, config })
    await worker.client.create(prefix, { ...all, 'table.include.list': `public.${table},public.${FINISH}` })
  }
  await until('the slots to be read', WAIT, async () => {
    for (const { worker, prefix } of sides) {
      // A connector that was just created has no status yet.
      const tasks = (await undefinedIfNotFound(worker.client.status(prefix)))?.tasks ?? []
      const failed = tasks.find(({ state }) => state === 'FAILED')
      if (failed !== undefined) throw new Error(`${worker.name}: ${failed.trace}`)
    }
    const sql = 'SELECT count(*)::int AS active FROM pg_replication_slots WHERE active AND slot_name = ANY ($1)'
    return (await database.run(sql, [sides.map(({ prefix }) => prefix)]))[0]?.['active'] === sides.length
  })
  await database.run(`INSERT INTO ${FINISH} VALUES (1)`)
  const eventsOf = async (prefix: string, of: string): Promise<readonly ChangeEvent[]> => {
    const topic = `${prefix}.public.${of}`
    if ((await broker.topics.describe(topic)) === undefined) return []
    return (await readRecords(broker, topic)).map((record) => parseEvent(record, prefix))
  }
  const found = new Map<CdcWorker['name'], readonly string[]>()
  for (const { worker, prefix } of sides) {
    await until(`the last event of ${prefix}`, WAIT, async () => (await eventsOf(prefix, FINISH)).length === 1)
    await worker.client.stop(prefix)
    await until(`${prefix} to stop`, WAIT, async () => (await worker.client.status(prefix)).tasks.length === 0)
    found.set(worker.name, (await eventsOf(prefix, table)).map(shownEvent))
    await worker.client.delete(prefix)
    await until('the slot to be dropped', WAIT, async () => {
      const sql =
        'SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = $1 AND NOT active'
      return (await database.run(sql, [prefix])).length === 1
    })
  }
  return found
}

/** Operation, key and row. */
function shownEvent({ key, value }: ChangeEvent): string {
  const payload = (part: unknown) => Reflect.get(Object(part), 'payload')
  const row = payload(value)
  const shown = (part: unknown) =>
    JSON.stringify(part)
      .replaceAll(/"#(-?\d+)"/g, '$1')
      .replaceAll('"', '')
  if (value === null) return `tombstone ${shown(payload(key))}`
  return `${row.op} ${shown(payload(key))} ${shown(row.op === 'd' ? row.before : row.after)}`
}
