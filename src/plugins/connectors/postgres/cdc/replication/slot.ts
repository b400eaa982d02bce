import { quoted } from '../../../jdbc/identifier.ts'
import type { Session } from '../../session.ts'
import type { Lsn } from '../changes/change.ts'
import { createOnce } from './concurrent-start.ts'
import { CURRENT_LSN_SQL, parseLsn } from './lsn.ts'

/** A replication slot, as the server describes it. */
export type Slot = {
  readonly name: string
  /** Undefined for a physical slot. */
  readonly plugin: string | undefined
  readonly database: string | undefined
  /** The process that uses the slot now. */
  readonly activePid: number | undefined
  /** Changes before this position are not sent again. Undefined for a physical or invalidated slot. */
  readonly confirmedLsn: Lsn | undefined
  /** `reserved`, `extended`, `unreserved` or `lost`; undefined before version 13. */
  readonly walStatus: string | undefined
  /** Why the slot cannot be used any more; undefined if it can, and before version 17 except for `lost`. */
  readonly invalidationReason: string | undefined
  /** Bytes of log that the server retains for the slot; undefined if it is not known. */
  readonly retainedBytes: bigint | undefined
  /** Bytes of log between the confirmed position and the end. */
  readonly lagBytes: bigint | undefined
}

/** `to_jsonb` makes columns optional that older versions do not have. A standby reports what it has replayed. */
const SLOT_SQL = `
  SELECT slot_name, plugin, database, active_pid, confirmed_flush_lsn,
    to_jsonb(s) ->> 'wal_status', to_jsonb(s) ->> 'invalidation_reason',
    pg_wal_lsn_diff(e.lsn, restart_lsn), pg_wal_lsn_diff(e.lsn, confirmed_flush_lsn)
  FROM pg_replication_slots s,
    (SELECT ${CURRENT_LSN_SQL} AS lsn) e
  WHERE slot_name = $1`

/** Returns undefined if the slot does not exist. */
export async function readSlot(session: Session, name: string): Promise<Slot | undefined> {
  const [row] = await session.query(`read the replication slot ${name}`, SLOT_SQL, [name])
  if (row === undefined) return undefined
  const [, plugin, database, pid, confirmed, walStatus, reason, retained, lag] = row
  return {
    name,
    plugin: plugin ?? undefined,
    database: database ?? undefined,
    activePid: pid == null ? undefined : Number(pid),
    confirmedLsn: confirmed == null ? undefined : parseLsn(confirmed),
    walStatus: walStatus ?? undefined,
    invalidationReason: reason ?? (walStatus === 'lost' ? 'wal_removed' : undefined),
    retainedBytes: retained == null ? undefined : BigInt(retained),
    lagBytes: lag == null ? undefined : BigInt(lag),
  }
}

/**
 * Whether a server process is still creating the slot. It first waits for the end of all transactions that are open, and
 * continues to wait after its client was killed.
 */
export function isBeingCreated({ confirmedLsn, invalidationReason, activePid }: Slot): boolean {
  return confirmedLsn === undefined && invalidationReason === undefined && activePid !== undefined
}

/** A new slot. The snapshot shows the database as it was at `consistentLsn`, until the session ends or runs a command. */
export type CreatedSlot = { readonly consistentLsn: Lsn; readonly snapshotName: string }

/** Creates a slot. Waits for the end of all transactions that are open now. Requires a session with `replication`. */
export async function createSlot(
  session: Session,
  { name, isFailover }: { readonly name: string; readonly isFailover: boolean },
): Promise<CreatedSlot> {
  // Versions before 15 know the first form only; `FAILOVER` was added in 17.
  const options = isFailover ? "(SNAPSHOT 'export', FAILOVER true)" : 'EXPORT_SNAPSHOT'
  const sql = `CREATE_REPLICATION_SLOT ${quoted(name)} LOGICAL pgoutput ${options}`
  const [row] = await createOnce(session.query(`create the replication slot ${name}`, sql))
  return { consistentLsn: parseLsn(row![1]!), snapshotName: row![2]! }
}

export async function dropSlot(session: Session, name: string): Promise<void> {
  const sql = 'SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = $1'
  await session.query(`drop the replication slot ${name}`, sql, [name])
}
