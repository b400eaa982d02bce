import type { ConfigProblem, TaskLog, ValidationUse } from '../../../../sdk/index.ts'
import { DatabaseError } from '../../jdbc/database-error.ts'
import { CaptureFilter } from './config/capture-filter.ts'
import type { CdcConfig } from './config/cdc-config.ts'
import { databaseSessionOptions, openDatabaseSession } from './database-session.ts'
import { findSetupProblems } from './replication/preflight.ts'
import { readServerState } from './replication/server-state.ts'
import { readsRowsOf } from './snapshot/snapshot-phase.ts'

/** A server that does not answer is reported before the validation itself ends, so that the report has a key. */
const CONNECT_TIMEOUT_MS_MAX = 5_000

/** Keys of errors of the connection, by the beginning of the SQLSTATE. Others are errors of the host, as with Debezium. */
const KEYS: readonly (readonly [sqlState: string, key: keyof CdcConfig & string])[] = [
  ['28', 'database.user'],
  ['3D', 'database.dbname'],
]

const SILENT: TaskLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Connects to the database, and returns what a start would refuse. Nothing is changed. */
export async function validateDatabase(config: CdcConfig, use: ValidationUse): Promise<readonly ConfigProblem[]> {
  try {
    return await findProblems(config, use)
  } catch (error) {
    if (use.signal.aborted) {
      const message = 'the database did not answer in time; check that the server is reachable from this worker'
      return [{ key: 'database.hostname', message }]
    }
    if (!(error instanceof DatabaseError)) throw error
    const key = KEYS.find(([beginning]) => error.sqlState?.startsWith(beginning))?.[1] ?? 'database.hostname'
    return [{ key, message: error.message }]
  }
}

async function findProblems(config: CdcConfig, use: ValidationUse): Promise<readonly ConfigProblem[]> {
  const options = databaseSessionOptions({ connector: 'validation', config, log: SILENT, ...use })
  const connectTimeoutMs = Math.min(options.url.connectTimeoutMs, CONNECT_TIMEOUT_MS_MAX)
  await using session = await openDatabaseSession({ ...options, url: { ...options.url, connectTimeoutMs } }, config)
  const names = { slot: config['slot.name'], publication: config['publication.name'] }
  const state = await readServerState(session, names, new CaptureFilter(config))
  // A connector whose slot exists has started before, and has read what it reads.
  const readsRows = state.slot === undefined ? readsRowsOf(config, undefined) : () => false
  return findSetupProblems(state, config, readsRows).map(({ key, message, remedy }) => ({
    key,
    message: `${message}; remedy: ${remedy}`,
  }))
}
