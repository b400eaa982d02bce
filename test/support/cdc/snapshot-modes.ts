import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { undefinedIfNotFound } from '../../../src/clients/http-client.ts'
import type { Database } from '../database.ts'
import { openDisposableBroker, readRecords } from '../topic.ts'
import { until } from '../until.ts'
import type { CdcWorker } from './cdc-workers.ts'
import { type ChangeEvent, type EventComparison, parseEvent } from './event-comparison.ts'
import { describeDifferences, sideConfig } from './side-by-side.ts'

const WAIT = { everyMs: 100, timeoutMs: 120_000 }
const TABLE = 'mode_rows'

/** A configuration of snapshots, and what a connector with it does. */
export type SnapshotModeCase = {
  readonly name: string
  readonly config: Readonly<Record<string, string>>
  /** Whether the slots are dropped while the connectors are stopped. */
  readonly isSlotLost?: boolean
  /** Operation and id of each event: of the first start, and of the second one. */
  readonly events: readonly (readonly string[])[]
  /** Events that Debezium does not write. Later events have another `source.sequence` then, which names the commit before. */
  readonly onlyOfWeir?: readonly string[]
}

const BASED = 'snapshot.mode.configuration.based'
const MODE = 'snapshot.mode'
const FIRST = ['r 1', 'r 2']

/** Row 3 is inserted after the first start, row 4 while the connectors are stopped, and row 5 after the second start. */
export const SNAPSHOT_MODE_CASES: readonly SnapshotModeCase[] = [
  {
    name: 'initial',
    config: { [MODE]: 'initial' },
    events: [
      [...FIRST, 'c 3'],
      ['c 4', 'c 5'],
    ],
  },
  { name: 'initial_only', config: { [MODE]: 'initial_only' }, events: [FIRST, []] },
  {
    name: 'always',
    config: { [MODE]: 'always' },
    events: [
      [...FIRST, 'c 3'],
      [...FIRST, 'r 3', 'r 4', 'c 4', 'c 5'],
    ],
    // Its stream continues at the new snapshot, which has no trace of rows that were deleted meanwhile.
    onlyOfWeir: ['c 4'],
  },
  { name: 'no_data', config: { [MODE]: 'no_data' }, events: [['c 3'], ['c 4', 'c 5']] },
  {
    name: 'when_needed',
    config: { [MODE]: 'when_needed' },
    events: [
      [...FIRST, 'c 3'],
      ['c 4', 'c 5'],
    ],
  },
  {
    name: 'when_needed without its slot',
    config: { [MODE]: 'when_needed' },
    isSlotLost: true,
    events: [
      [...FIRST, 'c 3'],
      [...FIRST, 'r 3', 'r 4', 'c 5'],
    ],
  },
  {
    name: 'configuration_based without data',
    config: { [MODE]: 'configuration_based', [`${BASED}.start.stream`]: 'true' },
    events: [['c 3'], ['c 4', 'c 5']],
  },
  {
    name: 'configuration_based without stream',
    config: { [MODE]: 'configuration_based', [`${BASED}.snapshot.data`]: 'true' },
    events: [FIRST, [...FIRST, 'r 3', 'r 4']],
  },
  {
    name: 'configuration_based with data and stream',
    config: {
      [MODE]: 'configuration_based',
      [`${BASED}.snapshot.data`]: 'true',
      [`${BASED}.start.stream`]: 'true',
    },
    events: [
      [...FIRST, 'c 3'],
      [...FIRST, 'r 3', 'r 4', 'c 4', 'c 5'],
    ],
    onlyOfWeir: ['c 4'],
  },
]

type Run = {
  readonly bootstrap: string
  readonly database: Database
  readonly workers: readonly CdcWorker[]
}

/** Runs a connector of each worker, each with a slot of its own, over two starts. Returns how their events differ. */
export async function runSnapshotMode(
  { bootstrap, database, workers }: Run,
  { name, config, isSlotLost = false, events, onlyOfWeir = [] }: SnapshotModeCase,
  comparison: EventComparison,
): Promise<readonly string[]> {
  await using broker = await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': bootstrap } })
  await database.run(`DROP TABLE IF EXISTS ${TABLE}; CREATE TABLE ${TABLE} (id int PRIMARY KEY, word text)`)
  const insert = (id: number) => database.run(`INSERT INTO ${TABLE} VALUES (${id}, 'word ${id}')`)
  for (const id of [1, 2]) await insert(id)
  const sides = workers.map((worker) => ({
    worker,
    prefix: `mode_${worker.name.toLowerCase()}_${randomUUID().slice(0, 8)}`,
  }))
  const eventsOf = async (prefix: string): Promise<readonly ChangeEvent[]> => {
    const topic = `${prefix}.public.${TABLE}`
    if ((await broker.topics.describe(topic)) === undefined) return []
    return (await readRecords(broker, topic)).map((record) => parseEvent(record, prefix))
  }
  /** Waits for the events of the starts until now; row 3 or 5 is inserted when the connector reads its slot. */
  const untilStarted = async ({ worker, prefix }: (typeof sides)[number]) => {
    await until(`${prefix} to run`, WAIT, async () => {
      // A connector that was just created has no status yet.
      const tasks = (await undefinedIfNotFound(worker.client.status(prefix)))?.tasks ?? []
      const failed = tasks.find(({ state }) => state === 'FAILED')
      if (failed !== undefined) throw new Error(`${name}: ${failed.trace}`)
      return tasks.some(({ state }) => state === 'RUNNING')
    })
  }
  const untilSlots = (count: number) =>
    until('the slots to be read', WAIT, async () => {
      const prefixes = sides.map(({ prefix }) => prefix)
      const sql = 'SELECT count(*)::int AS active FROM pg_replication_slots WHERE active AND slot_name = ANY ($1)'
      return (await database.run(sql, [prefixes]))[0]?.['active'] === count
    })
  const untilEvents = async (expected: readonly string[]) => {
    for (const { worker, prefix } of sides) {
      const count = expectedOf(worker, expected, onlyOfWeir).length
      await until(`${count} events of ${prefix}`, WAIT, async () => (await eventsOf(prefix)).length >= count)
    }
  }
  const streams = events[0]!.includes('c 3')
  const complete = async (start: number) => {
    const known = events.slice(0, start).flat()
    const rows = events[start]!.filter((event) => event.startsWith('r'))
    for (const side of sides) await untilStarted(side)
    await untilEvents([...known, ...rows])
    if (streams) await untilSlots(sides.length)
    await insert(start === 0 ? 3 : 5)
    await untilEvents([...known, ...events[start]!])
  }
  const stop = async () => {
    for (const { worker, prefix } of sides) {
      await worker.client.stop(prefix)
      await until(`${prefix} to stop`, WAIT, async () => (await worker.client.status(prefix)).tasks.length === 0)
    }
  }
  for (const { worker, prefix } of sides) {
    const all = { ...sideConfig(database, prefix, { name, config }), 'table.include.list': `public.${TABLE}` }
    await worker.client.create(prefix, all)
  }
  await complete(0)
  await stop()
  await insert(4)
  if (isSlotLost) for (const { prefix } of sides) await database.run('SELECT pg_drop_replication_slot($1)', [prefix])
  for (const { worker, prefix } of sides) await worker.client.resume(prefix)
  await complete(1)
  await stop()
  const found: ChangeEvent[][] = []
  for (const { worker, prefix } of sides) {
    const written = await eventsOf(prefix)
    expect(written.map(shownEvent), `${worker.name} with ${name}`).toEqual(
      expectedOf(worker, events.flat(), onlyOfWeir),
    )
    found.push(written.filter((event) => !onlyOfWeir.includes(shownEvent(event))))
  }
  for (const { worker, prefix } of sides) await worker.client.delete(prefix)
  await database.run(
    'SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = ANY ($1) AND NOT active',
    [sides.map(({ prefix }) => prefix)],
  )
  const [ours, theirs] = sides.map(({ worker }) => worker.name)
  const differences = describeDifferences({ left: ours!, right: theirs! }, found[0]!, found[1]!, comparison)
  return differences.filter(
    (text) => onlyOfWeir.length === 0 || !/^event \d+: value[.]payload[.]source[.]sequence:/.test(text),
  )
}

function expectedOf({ name }: CdcWorker, events: readonly string[], onlyOfWeir: readonly string[]): readonly string[] {
  return name === 'Weir' ? events : events.filter((event) => !onlyOfWeir.includes(event))
}

/** Operation and id. */
function shownEvent({ value }: ChangeEvent): string {
  const { op, after } = Reflect.get(Object(value), 'payload')
  return `${op} ${after.id}`
}
