import { describe, expect, it } from 'vitest'
import { parseCdcOffset } from '../../../../../src/plugins/connectors/postgres/cdc/offset.ts'
import type { ServerState } from '../../../../../src/plugins/connectors/postgres/cdc/replication/server-state.ts'
import type { Slot } from '../../../../../src/plugins/connectors/postgres/cdc/replication/slot.ts'
import {
  decideStart,
  type StartConfig,
} from '../../../../../src/plugins/connectors/postgres/cdc/replication/start-position.ts'

const SLOT: Slot = {
  name: 'debezium',
  plugin: 'pgoutput',
  database: 'shop',
  activePid: undefined,
  confirmedLsn: 0x100n,
  walStatus: 'reserved',
  invalidationReason: undefined,
  retainedBytes: 0n,
  lagBytes: 0n,
}

type Given = {
  readonly slot?: Partial<Slot> | undefined
  readonly stored?: object
  readonly strategy?: StartConfig['offset.mismatch.strategy']
  readonly isStandby?: boolean
}

function decide({ slot = {}, stored, strategy = 'trust_offset', isStandby = false }: Given, hasSlot = true) {
  const state = { slot: hasSlot ? { ...SLOT, ...slot } : undefined, database: 'shop', currentLsn: 0x900n, isStandby }
  const offset = stored === undefined ? undefined : parseCdcOffset(stored as Parameters<typeof parseCdcOffset>[0])
  return decideStart(state as ServerState, offset, { 'slot.name': 'debezium', 'offset.mismatch.strategy': strategy })
}

const at = (lsn: number) => ({ lsn_proc: lsn, lsn_commit: lsn, messageType: 'COMMIT' })

describe('the start of a stream', () => {
  it('creates a slot when nothing is stored', () => {
    expect(decide({}, false)).toEqual({ kind: 'new slot', warning: undefined })
  })

  it('is the position of the slot when nothing is stored', () => {
    expect(decide({})).toEqual({ kind: 'slot', startLsn: 0x100n, continues: false, warning: undefined })
  })

  it.each([0x100, 0x500, 0x900])('is the stored offset when the slot is not ahead of it: %s', (lsn) => {
    expect(decide({ stored: at(lsn) })).toEqual({
      kind: 'slot',
      startLsn: BigInt(lsn),
      continues: true,
      warning: undefined,
    })
  })

  it('is the commit of the transaction that was delivered in part', () => {
    const stored = { ...at(0x50), position_lsn: 0x200, position_index: 3, lsn: 0x180 }
    expect(decide({ stored })).toMatchObject({ startLsn: 0x200n, continues: true })
  })
})

describe('a start that would lose changes', () => {
  it.each([
    [
      'does not exist',
      {},
      false,
      at(0x500),
      'the replication slot debezium does not exist, but an offset is stored (0/500)',
    ],
    ['is ahead', {}, true, at(0xff), 'the replication slot debezium is at 0/100, ahead of the stored offset 0/FF'],
    [
      'is behind the offset of another server',
      {},
      true,
      at(0x901),
      'the stored offset 0/901 is ahead of the log of the server, which ends at 0/900',
    ],
  ])('is refused when the slot %s', (_, slot, hasSlot, stored, message) => {
    const decision = decide({ slot, stored }, hasSlot)
    expect(decision.kind).toBe('impossible')
    expect(decision).toMatchObject({ message: expect.stringContaining(message) })
    expect(decision).toMatchObject({ message: expect.stringContaining('offset.mismatch.strategy=trust_slot') })
  })

  it.each(['trust_slot', 'trust_greater_lsn', 'no_validation'] as const)('continues with a warning: %s', (strategy) => {
    expect(decide({ stored: at(0xff), strategy })).toMatchObject({
      kind: 'slot',
      startLsn: 0x100n,
      continues: false,
      warning: expect.stringContaining('the changes between are lost'),
    })
    expect(decide({ stored: at(0xff), strategy }, false)).toMatchObject({
      kind: 'new slot',
      warning: expect.stringContaining('does not exist'),
    })
  })

  it('starts at the slot when the offset is of another server and strategy is trust_slot', () => {
    expect(decide({ stored: at(0x901), strategy: 'trust_slot' })).toMatchObject({ startLsn: 0x100n, continues: false })
  })

  it('waits for a slot that a killed client has begun to create', () => {
    const creating = { confirmedLsn: undefined, activePid: 77 }
    const message = expect.stringContaining('is being created by the process 77')
    expect(decide({ slot: creating })).toEqual({ kind: 'later', message })
  })

  it('waits for a standby that is behind', () => {
    expect(decide({ stored: at(0x901), isStandby: true })).toMatchObject({ kind: 'later' })
  })
})
