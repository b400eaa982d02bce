import { quoted, quotedTable } from '../../../jdbc/identifier.ts'
import type { CapturedTable } from './captured-tables.ts'
import { type PreparationConfig, preparationSql, tablesWithOtherIdentity } from './preparation-sql.ts'
import type { ServerState } from './server-state.ts'
import { problem, type SetupProblem } from './setup-problem.ts'
import { findSlotProblem } from './slot-problem.ts'

export type SetupConfig = PreparationConfig & { readonly 'slot.name': string; readonly 'slot.failover': boolean }

/** PostgreSQL 10 is the first version with publications; older versions of 10 to 13 have no logical messages. */
const VERSION_MIN = 100_000
const STANDBY_VERSION_MIN = 160_000
const FAILOVER_VERSION_MIN = 170_000

/** Whether a snapshot reads the rows of a table. */
export type ReadsRows = (table: CapturedTable) => boolean

/**
 * Returns everything that must be mended before the start, so that it can be mended at once. The validation of a configuration and
 * the start have the same list.
 */
export function findSetupProblems(
  state: ServerState,
  config: SetupConfig,
  readsRows: ReadsRows,
): readonly SetupProblem[] {
  const role = [...roleProblems(state), ...unreadableTables(state, readsRows)]
  const content = [...publicationProblems(state, config), ...identityProblems(state, config)]
  return [...serverProblems(state, config), ...role, ...content, ...standbyProblems(state, config)]
}

/** Returns what is no error but leaves changes or rows out: tables that are not published, rows without an identity, hidden rows. */
export function findSetupWarnings(
  state: ServerState,
  config: SetupConfig,
  readsRows: ReadsRows,
): readonly SetupProblem[] {
  const published = [...noTables(state), ...unpublishedTables(state, config), ...tablesWithoutIdentity(state)]
  return [...published, ...hiddenRows(state, readsRows)]
}

/** One message for all problems, each with its remedy on a line of its own. */
export function describeProblems(problems: readonly SetupProblem[]): string {
  return problems.map(({ message, remedy }, index) => `${index + 1}. ${message}\n   ${remedy}`).join('\n')
}

function* serverProblems(state: ServerState, config: SetupConfig): Generator<SetupProblem> {
  const { version, walLevel, isStandby, slot } = state
  if (version < VERSION_MIN) {
    yield problem('database.hostname', `the server has version ${version}, expected 10 or later`, 'Upgrade the server')
    return
  }
  if (walLevel !== 'logical') {
    yield problem(
      'database.hostname',
      `wal_level of the server is ${walLevel}, expected logical`,
      'ALTER SYSTEM SET wal_level = logical; -- and restart the server (on Amazon RDS: rds.logical_replication = 1)',
    )
  }
  if (slot === undefined && state.slotsUsed >= state.slotsMax) {
    yield problem(
      'slot.name',
      `all ${state.slotsMax} replication slots of the server are used, so ${config['slot.name']} cannot be created`,
      `ALTER SYSTEM SET max_replication_slots = ${state.slotsMax + 4}; -- and restart the server, or drop a slot that is not used: SELECT slot_name FROM pg_replication_slots WHERE NOT active`,
    )
  }
  const unusable = slot === undefined ? undefined : findSlotProblem(slot, state.database)
  if (unusable !== undefined) yield unusable
  if (slot?.activePid === undefined && state.sendersUsed >= state.sendersMax) {
    yield problem(
      'database.hostname',
      `all ${state.sendersMax} WAL senders of the server are used`,
      `ALTER SYSTEM SET max_wal_senders = ${state.sendersMax + 4}; -- and restart the server`,
    )
  }
  if (isStandby && version < STANDBY_VERSION_MIN) {
    yield problem(
      'database.hostname',
      'the server is a standby, from which changes can be read since version 16 only',
      'Set database.hostname to the primary server',
    )
  }
  if (config['slot.failover'] && slot === undefined && version < FAILOVER_VERSION_MIN) {
    yield problem(
      'slot.failover',
      'slot.failover=true needs version 17 of the server',
      'Remove slot.failover, or upgrade the server',
    )
  }
}

function* roleProblems({ canReplicate, role }: ServerState): Generator<SetupProblem> {
  if (!canReplicate) {
    yield problem(
      'database.user',
      `the role ${role} may not replicate`,
      `ALTER ROLE ${quoted(role)} REPLICATION; -- on Amazon RDS: GRANT rds_replication TO ${quoted(role)}`,
    )
  }
}

/** Changes are read from the log, which needs no right on the tables; existing rows are read with SELECT. */
function* unreadableTables({ tables, role }: ServerState, readsRows: ReadsRows): Generator<SetupProblem> {
  const unreadable = tables.filter((table) => !table.isReadable && readsRows(table))
  if (unreadable.length === 0) return
  const shown = unreadable.slice(0, SHOWN_MAX)
  const schemas = [...new Set(shown.map(({ schema }) => quoted(schema)))].join(', ')
  const names = shown.map((table) => quotedTable(table)).join(', ')
  yield problem(
    'database.user',
    `the role ${role} may not read the existing rows of ${listed(unreadable)}`,
    `GRANT USAGE ON SCHEMA ${schemas} TO ${quoted(role)}; GRANT SELECT ON ${names} TO ${quoted(role)}; -- or set snapshot.mode=no_data`,
  )
}

function* publicationProblems(state: ServerState, config: SetupConfig): Generator<SetupProblem> {
  const { 'publication.name': name, 'publication.autocreate.mode': mode } = config
  const { publication, isSuperuser, canCreate, tables, role, database } = state
  const list = tables.map((table) => quotedTable(table)).join(', ')
  const grant = `GRANT CREATE ON DATABASE ${quoted(database)} TO ${quoted(role)}`
  if (mode === 'filtered') yield* filteredProblems(state, config)
  if (publication !== undefined) return
  if (mode === 'disabled') {
    yield problem(
      'publication.name',
      `the publication ${name} does not exist, and publication.autocreate.mode=disabled does not create it`,
      `CREATE PUBLICATION ${quoted(name)} FOR ${list === '' ? 'ALL TABLES' : `TABLE ${list}`}`,
    )
  } else if (mode === 'all_tables' && !isSuperuser) {
    yield problem(
      'publication.autocreate.mode',
      `the publication ${name} does not exist, and only a superuser can create one for all tables; ${role} is none`,
      `CREATE PUBLICATION ${quoted(name)} FOR ALL TABLES; -- as a superuser, or set publication.autocreate.mode=filtered`,
    )
  } else if (!canCreate) {
    yield problem('publication.name', `the role ${role} may not create the publication ${name} in ${database}`, grant)
  }
}

function* filteredProblems(state: ServerState, config: SetupConfig): Generator<SetupProblem> {
  const { tables, publication, isSuperuser, role } = state
  if (tables.length === 0) {
    yield problem(
      'table.include.list',
      'no table of the database is included, so the publication would be empty',
      NO_TABLE_REMEDY,
    )
  }
  if (publication?.isForAllTables) return
  const foreign = tables.filter(({ id, isOwned }) => !isOwned && !isSuperuser && !publication?.addedIds.has(id))
  if (foreign.length > 0) {
    const statements = foreign.map((table) => `ALTER TABLE ${quotedTable(table)} OWNER TO ${quoted(role)};`)
    yield problem(
      'publication.autocreate.mode',
      `the role ${role} cannot add tables to ${config['publication.name']} that it does not own: ${listed(foreign)}`,
      `${statements.slice(0, SHOWN_MAX).join(' ')} -- or GRANT the role of the owner, or let the owner create the publication`,
    )
  }
}

function* identityProblems({ tables, isSuperuser, role }: ServerState, config: SetupConfig): Generator<SetupProblem> {
  const other = tablesWithOtherIdentity(tables, config['replica.identity.autoset.values'])
  const foreign = other.map(([table]) => table).filter(({ isOwned }) => !isOwned && !isSuperuser)
  if (foreign.length === 0) return
  const shown = { tables: foreign.slice(0, SHOWN_MAX), publication: undefined }
  const statements = preparationSql(shown, { ...config, 'publication.autocreate.mode': 'disabled' })
  yield problem(
    'replica.identity.autoset.values',
    `the role ${role} cannot set the replica identity of tables that it does not own: ${listed(foreign)}`,
    `${statements.join('; ')}; -- as their owner`,
  )
}

/** Retries would not help: a standby that is promoted has the publication of its primary. */
function* standbyProblems(state: ServerState, config: SetupConfig): Generator<SetupProblem> {
  if (!state.isStandby || state.version < STANDBY_VERSION_MIN) return
  const statements = preparationSql(state, config)
  if (statements.length === 0) return
  const message = 'the server is a standby, which cannot be changed, but the capture of changes needs statements'
  yield problem('database.hostname', message, `${statements.join('; ')}; -- on the primary server`)
}

function* noTables({ tables, database }: ServerState): Generator<SetupProblem> {
  if (tables.length > 0) return
  yield problem('table.include.list', `no table of the database ${database} is captured`, NO_TABLE_REMEDY)
}

const NO_TABLE_REMEDY = 'Correct table.include.list (SCHEMA.TABLE), or create the tables first'

function* unpublishedTables({ publication, tables }: ServerState, config: SetupConfig): Generator<SetupProblem> {
  const { 'publication.name': name, 'publication.autocreate.mode': mode } = config
  if (publication === undefined || publication.isForAllTables || mode === 'filtered') return
  const missing = tables.filter(({ id }) => !publication.publishedIds.has(id))
  if (missing.length === 0) return
  yield problem(
    'publication.name',
    `the publication ${name} does not contain captured tables, so their changes are not sent: ${listed(missing)}`,
    `ALTER PUBLICATION ${quoted(name)} ADD TABLE ${missing.map((table) => quotedTable(table)).join(', ')}`,
  )
}

function* tablesWithoutIdentity({ tables }: ServerState): Generator<SetupProblem> {
  const bare = tables.filter(
    ({ replicaIdentity, hasPrimaryKey }) => replicaIdentity === 'n' || (replicaIdentity === 'd' && !hasPrimaryKey),
  )
  if (bare.length === 0) return
  const statements = bare.map((table) => `ALTER TABLE ${quotedTable(table)} REPLICA IDENTITY FULL;`)
  yield problem(
    'replica.identity.autoset.values',
    `the server rejects UPDATE and DELETE on published tables without a primary key or replica identity: ${listed(bare)}`,
    `${statements.slice(0, SHOWN_MAX).join(' ')} -- or set replica.identity.autoset.values`,
  )
}

/** The log has the changes of all rows, whatever the policies of a table are. */
function* hiddenRows({ tables, role }: ServerState, readsRows: ReadsRows): Generator<SetupProblem> {
  const hidden = tables.filter((table) => table.hasPolicies && readsRows(table))
  if (hidden.length === 0) return
  yield problem(
    'database.user',
    `row-level security applies to the role ${role}, so a snapshot misses the rows that its policies hide in ${listed(hidden)}`,
    `ALTER ROLE ${quoted(role)} BYPASSRLS`,
  )
}

const SHOWN_MAX = 10

function listed(tables: readonly CapturedTable[]): string {
  const names = tables.slice(0, SHOWN_MAX).map(({ schema, name }) => `${schema}.${name}`)
  return tables.length > SHOWN_MAX ? `${names.join(', ')} and ${tables.length - SHOWN_MAX} more` : names.join(', ')
}
