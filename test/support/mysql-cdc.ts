import { randomInt } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { mariadbCdcSource } from '../../src/plugins/connectors/mysql/cdc/mysql-cdc-sources.ts'
import { type Position, runSource, type SourceRecord, type SourceRun, type TaskLog } from '../../src/sdk/index.ts'
import type { MariadbAddress } from '../env/mariadb.ts'
import type { MysqlDatabase } from './mysql-database.ts'

export type CdcStart = {
  readonly config?: Readonly<Record<string, string>>
  readonly offset?: Position | undefined
  /** Records of the schema history that a former run has written. */
  readonly history?: readonly string[]
  readonly log?: TaskLog
}

export const HISTORY = 'history'
export const PREFIX = 'server'

/** A source of changes on a database; it ends with the test. */
export function startMysqlCdc(
  { port, user, password }: MariadbAddress,
  database: MysqlDatabase,
  { config = {}, offset, history = [], log }: CdcStart = {},
): SourceRun {
  const run = runSource(mariadbCdcSource, {
    config: {
      'database.hostname': '127.0.0.1',
      'database.port': String(port),
      'database.user': user,
      'database.password': password,
      // Test files run at the same time on one server.
      'database.server.id': String(randomInt(10_000, 2 ** 31)),
      'database.ssl.mode': 'disable',
      'topic.prefix': PREFIX,
      'schema.history.internal.kafka.topic': HISTORY,
      'database.include.list': database.name,
      ...config,
    },
    ...(offset !== undefined && { offsets: [{ partition: { server: PREFIX }, offset }] }),
    ...(log !== undefined && { log }),
  })
  for (const record of history) run.produce(HISTORY, null, record)
  onTestFinished(() => run.stop())
  return run
}

/** Records of rows, without those of changes of tables. */
export function rowsOf(records: readonly SourceRecord[]): readonly SourceRecord[] {
  return records.filter(({ topic }) => topic !== PREFIX)
}

/** Takes records of rows. */
export async function takeRows(run: SourceRun, count: number): Promise<readonly SourceRecord[]> {
  const rows: SourceRecord[] = []
  while (rows.length < count) rows.push(...rowsOf(await run.take(1)))
  return rows
}
