import { DatabaseError } from '../../jdbc/database-error.ts'
import type { MysqlSession } from '../session.ts'
import { textLiteral } from '../sql-literal.ts'
import { parseGtidSet } from './binlog/gtid-set.ts'
import type { BinlogPosition } from './position.ts'

/** What a start depends on. */
export type MysqlServerState = {
  readonly isMariadb: boolean
  /** Whether positions have GTIDs, by which another server of the same data can continue. */
  readonly hasGtids: boolean
  readonly hasChecksum: boolean
  readonly hasLowerCaseNames: boolean
  readonly charset: string
  readonly collation: string
  /** Why changes cannot be read; undefined if they can. */
  readonly problem: string | undefined
}

/** Reads variables by their names; a variable that the server does not have is left out. */
async function readVariables(session: MysqlSession, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const list = names.map((name) => `'${name}'`).join(', ')
  const rows = await session.query(
    'read the settings of the server',
    `SHOW GLOBAL VARIABLES WHERE Variable_name IN (${list})`,
  )
  return new Map(rows.map(([name, value]) => [name!.toLowerCase(), value ?? '']))
}

export async function readMysqlServerState(session: MysqlSession): Promise<MysqlServerState> {
  const { isMariadb } = session.server
  const variables = await readVariables(session, [
    ...['log_bin', 'binlog_format', 'binlog_checksum', 'gtid_mode', 'lower_case_table_names', 'character_set_server'],
    ...['binlog_row_value_options', 'collation_server'],
  ])
  const value = (name: string) => variables.get(name)?.toUpperCase() ?? ''
  return {
    isMariadb,
    hasGtids: isMariadb || value('gtid_mode') === 'ON',
    hasChecksum: value('binlog_checksum') === 'CRC32',
    hasLowerCaseNames: value('lower_case_table_names') === '1',
    charset: variables.get('character_set_server') ?? 'utf8mb4',
    collation: variables.get('collation_server') ?? 'utf8mb4_general_ci',
    problem: problemOf(value),
  }
}

function problemOf(value: (name: string) => string): string | undefined {
  if (value('log_bin') !== 'ON' && value('log_bin') !== '1') {
    return 'the server writes no binary log: start it with log_bin, and on a replica with log_slave_updates'
  }
  if (value('binlog_format') !== '' && value('binlog_format') !== 'ROW') {
    return `the server writes changes as statements: set binlog_format=ROW, not ${value('binlog_format')}`
  }
  if (value('binlog_row_value_options') !== '') {
    return 'the server writes parts of JSON values only: set binlog_row_value_options to an empty text'
  }
  return undefined
}

/** Whether the server still has the log from a position on. */
export async function hasPosition(
  session: MysqlSession,
  { isMariadb, hasGtids }: MysqlServerState,
  position: BinlogPosition,
): Promise<boolean> {
  const rows = await session.query('read the files of the binary log', 'SHOW BINARY LOGS')
  if (position.gtids === undefined || !hasGtids) return rows.some(([file]) => file === position.file)
  const [[oldest] = []] = rows
  if (isMariadb && !oldest) return false
  const [[purged] = []] = await session.query(
    'read the purged GTIDs',
    isMariadb ? gtidsBefore(oldest!, FIRST_POSITION) : 'SELECT @@global.gtid_purged',
  )
  const purgedSet = parseGtidSet((purged ?? '').replaceAll(/\s/g, ''), isMariadb)
  return purgedSet.isWithin(parseGtidSet(position.gtids, isMariadb))
}

/** Where the events of a file begin. */
const FIRST_POSITION = 4

/** The query of the GTIDs before a position of MariaDB's log. */
function gtidsBefore(file: string, position: number): string {
  return `SELECT BINLOG_GTID_POS(${textLiteral(file)}, ${position})`
}

/** Adds the GTIDs that the server has before a position of its log. MySQL does not say them. */
export async function withGtids(
  session: MysqlSession,
  { isMariadb }: MysqlServerState,
  position: BinlogPosition,
): Promise<BinlogPosition> {
  if (!isMariadb || position.gtids !== undefined) return position
  const sql = gtidsBefore(position.file, position.position)
  const [[gtids] = []] = await session.query('read the GTIDs before a position of the binary log', sql)
  return { ...position, gtids: gtids ?? undefined }
}

type Queries = Pick<MysqlSession, 'query'>

/** A place in the log of one server. */
export type LogPlace = Pick<BinlogPosition, 'file' | 'position'>

/** The end of the log. In a transaction of MariaDB with a consistent snapshot, it is the position of the snapshot. */
export async function readPosition(session: MysqlSession, state: MysqlServerState): Promise<BinlogPosition> {
  const found = state.isMariadb ? await mariadbPlace(session) : await readLogEnd(session, state)
  return { ...found, events: 0, rows: 0, timestampS: undefined, serverId: undefined }
}

type PlaceWithGtids = LogPlace & Pick<BinlogPosition, 'gtids'>

async function mariadbPlace(session: MysqlSession): Promise<PlaceWithGtids> {
  const place = (await readViewPlace(session)) ?? (await readLogEnd(session, { isMariadb: true }))
  const [[gtids] = []] = await session.query(READ_POSITION, gtidsBefore(place.file, place.position))
  return { ...place, gtids: gtids ?? undefined }
}

/** Up to which place of MariaDB's log the transaction, begun with a consistent snapshot, sees changes; undefined outside of one. */
export async function readViewPlace(session: Queries): Promise<LogPlace | undefined> {
  const rows = await session.query(READ_POSITION, "SHOW STATUS LIKE 'binlog_snapshot_%'")
  const status = new Map(rows.map(([name, value]) => [name!.toLowerCase(), value]))
  const file = status.get('binlog_snapshot_file')
  const position = Number(status.get('binlog_snapshot_position'))
  return file && position > 0 ? { file, position } : undefined
}

/** `ER_PARSE_ERROR`: the statement has another name since MySQL 8.4. */
const PARSE_ERROR = 1064

const READ_POSITION = 'read the position of the binary log'

/** The end of the log, also within a transaction. MySQL says the GTIDs before it. */
export async function readLogEnd(
  session: Queries,
  { isMariadb }: Pick<MysqlServerState, 'isMariadb'>,
): Promise<PlaceWithGtids> {
  const master = () => session.query(READ_POSITION, 'SHOW MASTER STATUS')
  const rows = isMariadb
    ? await master()
    : await session.query(READ_POSITION, 'SHOW BINARY LOG STATUS').catch((error: unknown) => {
        if (error instanceof DatabaseError && error.errno === PARSE_ERROR) return master()
        throw error
      })
  const [[file, position, , , gtids] = []] = rows
  if (!file) {
    throw new DatabaseError(`could not ${READ_POSITION}: the server writes no binary log`, { isTransient: false })
  }
  return { file, position: Number(position), gtids: gtids?.replaceAll(/\s/g, '') || undefined }
}
