import type { TaskLog } from '../../../../../sdk/index.ts'
import { DatabaseError } from '../../database-error.ts'
import { quoted, quotedTable } from '../../identifier.ts'
import type { Session } from '../../session.ts'
import type { ReplicaIdentityRule } from '../config/replica-identities.ts'
import { TableFilter, type TableFilterConfig } from '../config/table-filter.ts'
import type { CdcOffset } from '../offset.ts'
import type { CapturedTable } from './captured-tables.ts'
import {
  describeProblems,
  findSetupProblems,
  findSetupWarnings,
  findStandbyProblems,
  type ReadsRows,
  type SetupConfig,
} from './preflight.ts'
import { publicationSql } from './publication.ts'
import { readServerState, type ServerState } from './server-state.ts'
import { decideStart, type StartConfig, type StartPosition } from './start-position.ts'

export type PrepareConfig = SetupConfig &
  StartConfig &
  TableFilterConfig & { readonly 'replica.identity.autoset.values': readonly ReplicaIdentityRule[] }

export type PreparedStart = {
  readonly state: ServerState
  readonly filter: TableFilter
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
  const filter = new TableFilter(config)
  const names = { slot: config['slot.name'], publication: config['publication.name'] }
  const state = await readServerState(session, names, filter)
  const statements = [
    ...identitySql(state.tables, config['replica.identity.autoset.values']),
    ...publicationSql(config, state.publication, state.tables),
  ]
  const problems = [...findSetupProblems(state, config, readsRows), ...findStandbyProblems(state, statements)]
  if (problems.length > 0) {
    const message = `the database ${state.database} is not ready for the capture of changes:\n${describeProblems(problems)}`
    throw new DatabaseError(message, { isTransient: false })
  }
  const position = decideStart(state, stored, config)
  if (position.kind === 'impossible') throw new DatabaseError(position.message, { isTransient: false })
  if (position.kind === 'later') throw new DatabaseError(position.message, { isTransient: true })
  if (position.warning !== undefined) log.warn({}, position.warning)
  for (const sql of statements) {
    log.info({ sql }, 'preparing the database')
    await session.query('prepare the database for the capture of changes', sql)
  }
  for (const { message, remedy } of findSetupWarnings(state, config)) log.warn({ remedy }, message)
  return { state, filter, position }
}

/** The statements that set replica identities where they differ. The first matching rule applies to a table. */
export function identitySql(
  tables: readonly CapturedTable[],
  rules: readonly ReplicaIdentityRule[],
): readonly string[] {
  return tables.flatMap((table) => {
    const rule = rules.find(({ tables: pattern }) => pattern.test(`${table.schema}.${table.name}`))
    if (rule === undefined || rule.identity.kind[0] === table.replicaIdentity) return []
    const { identity } = rule
    const value = identity.kind === 'index' ? `USING INDEX ${quoted(identity.index)}` : identity.kind.toUpperCase()
    return [`ALTER TABLE ${quotedTable(table)} REPLICA IDENTITY ${value}`]
  })
}
