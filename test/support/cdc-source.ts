import { onTestFinished } from 'vitest'
import { postgresCdcSource } from '../../src/plugins/connectors/postgres/cdc/postgres-cdc-source.ts'
import { type Position, runSource, type SourceRecord, type SourceRun, type TaskLog } from '../../src/sdk/index.ts'
import type { Database } from './database.ts'
import { until } from './until.ts'

export const PREFIX = 'cdc'
export const PARTITION = { server: PREFIX }

type Options = {
  readonly config?: Readonly<Record<string, string>>
  /** The stored offset. */
  readonly offset?: Position | undefined
  /** Whether to wait for the first batch, which must be empty: then the slot exists. Default: if no offset is stored. */
  readonly isAwaited?: boolean
  readonly log?: TaskLog
  /** Whether `stop` waits until the server has noticed the end, so that the next source finds a free slot. Default: true. */
  readonly freesSlot?: boolean
}

/** Connection keys of Debezium for a database. */
export function cdcConfigOf(database: Database): Readonly<Record<string, string>> {
  const url = new URL(database.config['connection.url'].slice('jdbc:'.length))
  return {
    'database.hostname': url.hostname,
    'database.port': url.port,
    'database.user': database.config['connection.user'],
    'database.password': database.config['connection.password'],
    'database.dbname': database.name,
    'topic.prefix': PREFIX,
    // A slot belongs to one database, but its name to the server.
    'slot.name': database.name.slice(0, 60),
    'snapshot.mode': 'no_data',
    'status.update.interval.ms': '100',
  }
}

/** Starts the source on a database; it ends with the test. */
export async function startCdcSource(
  database: Database,
  { config, offset, isAwaited = offset === undefined, log, freesSlot = true }: Options = {},
): Promise<SourceRun> {
  const run = runSource(postgresCdcSource, {
    config: { ...cdcConfigOf(database), ...config },
    ...(log !== undefined && { log }),
    offsets: offset === undefined ? [] : [{ partition: PARTITION, offset }],
  })
  onTestFinished(() => run.stop())
  if (isAwaited) await run.nextBatch()
  return {
    ...run,
    async stop() {
      await run.stop()
      if (freesSlot) await untilSlotIsFree(database, config?.['slot.name'])
    },
  }
}

/** A short form of events: operation and row. */
export function shownEvents(records: readonly SourceRecord[]): readonly string[] {
  return records.map(({ value }) => {
    if (value === null) return 'tombstone'
    const { op, before, after } = value as Readonly<Record<string, object | null>>
    return `${String(op)} ${JSON.stringify(after ?? before)}`
  })
}

export function lastOffset(records: readonly SourceRecord[]): Position | undefined {
  return records.at(-1)?.sourceOffset
}

/** The error with which a source ends. */
export async function failureOf(starting: Promise<SourceRun> | SourceRun): Promise<Error> {
  try {
    const source = await starting
    for (;;) await source.nextBatch()
  } catch (error) {
    return error as Error
  }
}

export function slotOf(database: Database): string {
  return cdcConfigOf(database)['slot.name']!
}

/** Waits until no client uses the slot of a source that ended in another way than by `stop`. */
export async function untilSlotIsFree(database: Database, slot = slotOf(database)): Promise<void> {
  await until('the slot to be free', { everyMs: 20, timeoutMs: 120_000 }, async () => {
    const sql = 'SELECT FROM pg_replication_slots WHERE slot_name = $1 AND active'
    return (await database.run(sql, [slot])).length === 0
  })
}
