import type { TaskLog } from '../../../../../sdk/index.ts'
import { DatabaseError } from '../../../jdbc/database-error.ts'
import type { Session } from '../../session.ts'
import { CaptureFilter, type CaptureFilterConfig } from '../config/capture-filter.ts'
import type { CdcOffset } from '../offset.ts'
import { createOnce } from './concurrent-start.ts'
import {
  describeProblems,
  findSetupProblems,
  findSetupWarnings,
  type ReadsRows,
  type SetupConfig,
} from './preflight.ts'
import { preparationSql } from './preparation-sql.ts'
import { readServerState, type ServerState } from './server-state.ts'
import { decideStart, type StartConfig, type StartPosition } from './start-position.ts'

export type PrepareConfig = SetupConfig & StartConfig & CaptureFilterConfig

export type PreparedStart = {
  readonly state: ServerState
  readonly filter: CaptureFilter
  readonly position: Exclude<StartPosition, { readonly kind: 'impossible' | 'later' }>
}

/**
 * Checks the server, then sets replica identities and creates or updates the publication. Throws a `DatabaseError` with
 * everything that is wrong; nothing is changed then.
 */
export async function prepareStart(
  session: Session,
  config: PrepareConfig,
  stored: CdcOffset | undefined,
  { readsRows, log }: { readonly readsRows: ReadsRows; readonly log: TaskLog },
): Promise<PreparedStart> {
  const filter = new CaptureFilter(config)
  const names = { slot: config['slot.name'], publication: config['publication.name'] }
  const state = await readServerState(session, names, filter)
  const problems = findSetupProblems(state, config, readsRows)
  if (problems.length > 0) {
    const message = `the database ${state.database} is not ready for the capture of changes:\n${describeProblems(problems)}`
    throw new DatabaseError(message, { isTransient: false })
  }
  const position = decideStart(state, stored, config)
  if (position.kind === 'impossible') throw new DatabaseError(position.message, { isTransient: false })
  if (position.kind === 'later') throw new DatabaseError(position.message, { isTransient: true })
  if (position.warning !== undefined) log.warn({}, position.warning)
  for (const sql of preparationSql(state, config)) {
    log.info({ sql }, 'preparing the database')
    // The statement may wait for a lock.
    await createOnce(session.query('prepare the database for the capture of changes', sql, [], 0))
  }
  for (const { message, remedy } of findSetupWarnings(state, config, readsRows)) log.warn({ remedy }, message)
  return { state, filter, position }
}
