import { problem, type SetupProblem } from './setup-problem.ts'
import { isBeingCreated, type Slot } from './slot.ts'

/** Why the server has invalidated a slot, by its name of the reason. */
const INVALIDATIONS: Readonly<Record<string, string>> = {
  wal_removed: 'the server has removed log that the slot needs, because it exceeded max_slot_wal_keep_size',
  rows_removed: 'the primary server has removed rows that the slot of the standby needs; enable hot_standby_feedback',
  wal_level_insufficient: 'wal_level of the primary server was lower than logical',
  idle_timeout: 'the slot was not used for longer than idle_replication_slot_timeout',
}

const OTHER_NAME = 'Set slot.name to a new name'

/** Returns why changes of a database cannot be read from a slot, whatever offset is stored; undefined if they can. */
export function findSlotProblem(slot: Slot, wanted: string): SetupProblem | undefined {
  const { name, plugin, database, invalidationReason, confirmedLsn } = slot
  const slotProblem = (what: string, remedy: string) =>
    problem('slot.name', `the replication slot ${name} ${what}`, remedy)
  if (plugin === undefined) return slotProblem('is a physical slot, expected a logical one', OTHER_NAME)
  if (plugin !== 'pgoutput') return slotProblem(`uses the plugin ${plugin}, expected pgoutput`, OTHER_NAME)
  if (database !== wanted) return slotProblem(`belongs to the database ${database}, expected ${wanted}`, OTHER_NAME)
  if (invalidationReason === undefined && confirmedLsn !== undefined) return undefined
  if (isBeingCreated(slot)) return undefined
  const reason = INVALIDATIONS[invalidationReason ?? ''] ?? `the server reports ${invalidationReason}`
  return slotProblem(
    `was invalidated: ${reason}. The changes since its position are lost`,
    `SELECT pg_drop_replication_slot('${name}'); -- then set offset.mismatch.strategy=trust_slot or take a new snapshot`,
  )
}
