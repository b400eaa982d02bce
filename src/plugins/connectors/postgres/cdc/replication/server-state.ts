import type { Session } from '../../session.ts'
import type { Lsn } from '../changes/change.ts'
import type { CaptureFilter } from '../config/capture-filter.ts'
import { type CapturedTable, readCapturedTables } from './captured-tables.ts'
import { CURRENT_LSN_SQL, parseLsn } from './lsn.ts'
import { type Publication, readPublication } from './publication.ts'
import { readSlot, type Slot } from './slot.ts'

/** What a start depends on, read at one moment. */
export type ServerState = {
  /** Such as 150018 for 15.18. */
  readonly version: number
  readonly database: string
  readonly role: string
  readonly walLevel: string
  readonly slotsMax: number
  readonly slotsUsed: number
  readonly sendersMax: number
  readonly sendersUsed: number
  readonly isStandby: boolean
  readonly isSuperuser: boolean
  readonly canReplicate: boolean
  readonly canCreate: boolean
  /** End of the log, on a standby of what it has replayed. */
  readonly currentLsn: Lsn
  readonly slot: Slot | undefined
  readonly publication: Publication | undefined
  readonly tables: readonly CapturedTable[]
}

/** Managed servers give the right to replicate by a role instead of the attribute. */
const STATE_SQL = `
  SELECT current_setting('server_version_num'), current_database(), current_user, current_setting('wal_level'),
    current_setting('max_replication_slots'), (SELECT count(*) FROM pg_replication_slots),
    current_setting('max_wal_senders'), (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'walsender'),
    pg_is_in_recovery(), r.rolsuper,
    r.rolsuper OR r.rolreplication OR EXISTS (
      SELECT FROM pg_roles m WHERE m.rolname = 'rds_replication' AND pg_has_role(r.oid, m.oid, 'MEMBER')),
    has_database_privilege(current_database(), 'CREATE'),
    ${CURRENT_LSN_SQL}
  FROM pg_roles r WHERE r.rolname = current_user`

export async function readServerState(
  session: Session,
  names: { readonly slot: string; readonly publication: string },
  filter: CaptureFilter,
): Promise<ServerState> {
  const [row] = await session.query('read the settings of the server', STATE_SQL)
  const [version, database, role, walLevel, slotsMax, slotsUsed, sendersMax, sendersUsed, ...rights] = row!
  const [isStandby, isSuperuser, canReplicate, canCreate, currentLsn] = rights
  return {
    version: Number(version),
    database: database!,
    role: role!,
    walLevel: walLevel!,
    slotsMax: Number(slotsMax),
    slotsUsed: Number(slotsUsed),
    sendersMax: Number(sendersMax),
    sendersUsed: Number(sendersUsed),
    isStandby: isStandby === 't',
    isSuperuser: isSuperuser === 't',
    canReplicate: canReplicate === 't',
    canCreate: canCreate === 't',
    currentLsn: parseLsn(currentLsn!),
    slot: await readSlot(session, names.slot),
    publication: await readPublication(session, names.publication),
    tables: await readCapturedTables(session, filter),
  }
}
