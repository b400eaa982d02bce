import type { Lsn } from '../changes/change.ts'
import type { MismatchStrategy } from '../config/stream-keys.ts'
import { type CdcOffset, resumeLsn } from '../offset.ts'
import { printLsn } from './lsn.ts'
import type { ServerState } from './server-state.ts'
import { isBeingCreated } from './slot.ts'

export type StartConfig = {
  readonly 'slot.name': string
  readonly 'offset.mismatch.strategy': MismatchStrategy
}

/** Where to start, or why changes would be missing. */
export type StartPosition =
  /** The slot must be created; there is nothing to continue from. */
  | { readonly kind: 'new slot'; readonly warning: string | undefined }
  /** `continues`: whether the stored offset says what was delivered before. */
  | {
      readonly kind: 'slot'
      readonly startLsn: Lsn
      readonly continues: boolean
      readonly warning: string | undefined
    }
  | { readonly kind: 'impossible'; readonly message: string }
  /** The server has not yet received what was delivered before, or has not yet created the slot. */
  | { readonly kind: 'later'; readonly message: string }

/** Compares the stored offset with the slot, which can be used (see `findSlotProblem`). Changes are never left out without an explicit choice. */
export function decideStart(state: ServerState, stored: CdcOffset | undefined, config: StartConfig): StartPosition {
  const { slot, currentLsn } = state
  const { 'offset.mismatch.strategy': strategy } = config
  const storedLsn = stored === undefined ? undefined : resumeLsn(stored)
  if (slot === undefined) return withoutSlot(storedLsn, config)
  if (isBeingCreated(slot)) {
    const message =
      `the replication slot ${slot.name} is being created by the process ${slot.activePid} of the server, which waits for the end of ` +
      'transactions that were open before: see pg_stat_activity for the oldest xact_start'
    return { kind: 'later', message }
  }
  const confirmedLsn = slot.confirmedLsn!
  if (storedLsn === undefined) return { kind: 'slot', startLsn: confirmedLsn, continues: false, warning: undefined }
  if (storedLsn < confirmedLsn) return behindSlot(storedLsn, confirmedLsn, config)
  if (storedLsn > currentLsn && strategy !== 'no_validation')
    return aheadOfServer(storedLsn, confirmedLsn, state, config)
  return { kind: 'slot', startLsn: storedLsn, continues: true, warning: undefined }
}

const CHOICE = 'set offset.mismatch.strategy=trust_slot to continue without them, or take a new snapshot'

function withoutSlot(storedLsn: Lsn | undefined, config: StartConfig): StartPosition {
  if (storedLsn === undefined) return { kind: 'new slot', warning: undefined }
  const message =
    `the replication slot ${config['slot.name']} does not exist, but an offset is stored (${printLsn(storedLsn)}): it was dropped, or ` +
    'the server is a standby that was promoted without it (slot.failover=true synchronizes slots since version 17). The changes since ' +
    `then are lost: ${CHOICE}`
  const { 'offset.mismatch.strategy': strategy } = config
  return strategy === 'trust_offset' ? { kind: 'impossible', message } : { kind: 'new slot', warning: message }
}

function behindSlot(storedLsn: Lsn, confirmedLsn: Lsn, config: StartConfig): StartPosition {
  const message =
    `the replication slot ${config['slot.name']} is at ${printLsn(confirmedLsn)}, ahead of the stored offset ${printLsn(storedLsn)}: the ` +
    `slot was created anew or used by another client, and the changes between are lost: ${CHOICE}`
  if (config['offset.mismatch.strategy'] === 'trust_offset') return { kind: 'impossible', message }
  // What the offset says of the transaction in which it is does not apply to the first one from here on.
  return { kind: 'slot', startLsn: confirmedLsn, continues: false, warning: message }
}

function aheadOfServer(
  storedLsn: Lsn,
  confirmedLsn: Lsn,
  { currentLsn, isStandby }: ServerState,
  config: StartConfig,
): StartPosition {
  const end = `the stored offset ${printLsn(storedLsn)} is ahead of the log of the server, which ends at ${printLsn(currentLsn)}`
  if (isStandby) return { kind: 'later', message: `${end}: the server is a standby that is behind` }
  const message =
    `${end}: the server was restored from a backup, or is a promoted standby that had not received everything. Changes since then may ` +
    `be missing: ${CHOICE}`
  if (config['offset.mismatch.strategy'] === 'trust_offset') return { kind: 'impossible', message }
  return { kind: 'slot', startLsn: confirmedLsn, continues: false, warning: message }
}
