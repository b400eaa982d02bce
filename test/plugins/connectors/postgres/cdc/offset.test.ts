import { describe, expect, it } from 'vitest'
import type {
  DatabaseChange,
  DatabaseTransaction,
} from '../../../../../src/plugins/connectors/postgres/cdc/changes/change.ts'
import { OffsetPrinter, parseCdcOffset, resumeLsn } from '../../../../../src/plugins/connectors/postgres/cdc/offset.ts'

const transaction: DatabaseTransaction = { id: 7, commitLsn: 500n, committedAtUs: 1_700_000_000_000_000n }
const table = { id: 1, schema: 'public', name: 't', replicaIdentity: 'default', columns: [], keyNames: [] } as const

function insert(lsn: bigint, index: number): DatabaseChange {
  const position = { commitLsn: transaction.commitLsn, index }
  return {
    kind: 'row',
    op: 'c',
    table,
    before: undefined,
    isBeforeKeyOnly: false,
    after: [],
    transaction,
    lsn,
    position,
  }
}

const commit: DatabaseChange = { kind: 'commit', transaction, endLsn: 540n }

describe('offsets', () => {
  it('within a transaction have the position of the change, and as lsn_proc the last LSN that is complete', () => {
    const printer = new OffsetPrinter(50n, parseCdcOffset({ lsn_proc: 90, lsn_commit: 90 }))
    printer.after({ kind: 'begin', transaction, lsn: transaction.commitLsn })
    expect([insert(100n, 0), insert(100n, 1), insert(200n, 2)].map((change) => printer.after(change))).toEqual([
      offset({ lsn_proc: 90, lsn: 100, messageType: 'COMMIT', position_index: 0 }),
      // Debezium would continue behind LSN 100, so it must not be named before all of its changes are delivered.
      offset({ lsn_proc: 90, lsn: 100, messageType: 'COMMIT', position_index: 1 }),
      offset({ lsn_proc: 100, lsn: 200, messageType: 'INSERT', position_index: 2 }),
    ])
  })

  it('behind a transaction are those of Debezium', () => {
    const printer = new OffsetPrinter(50n, undefined)
    expect(printer.after(commit)).toEqual({
      transaction_id: null,
      lsn_proc: 540,
      lsn_commit: 540,
      lsn: 540,
      messageType: 'COMMIT',
      txId: 7,
      ts_usec: 1_700_000_000_000_000,
    })
  })

  it('after a non-transactional message contain its LSN as the last commit, which later events state also after a restart', () => {
    const printer = new OffsetPrinter(50n, parseCdcOffset({ lsn_proc: 90, lsn_commit: 90 }))
    const position = { commitLsn: 95n, index: -1 }
    const content = Buffer.alloc(0)
    const message = { kind: 'message', prefix: 'p', content, transaction: undefined, lsn: 95n, position } as const
    const stored = printer.after(message)
    expect(stored).toMatchObject({ lsn: 95, lsn_proc: 95, lsn_commit: 95, position_lsn: 95 })
    expect(parseCdcOffset(stored).lastCommitLsn).toBe(95n)
    expect(printer.after(insert(100n, 0))).toMatchObject({ lsn_proc: 95, lsn_commit: 95, lsn: 100 })
  })

  it('do not change when a transaction begins', () => {
    const printer = new OffsetPrinter(50n, undefined)
    const before = printer.after(commit)
    expect(printer.after({ kind: 'begin', transaction, lsn: transaction.commitLsn })).toBe(before)
  })

  it('of a quiet stream are never before the last commit', () => {
    const printer = new OffsetPrinter(50n, undefined)
    printer.after(commit)
    expect(printer.idle(530n)).toMatchObject({ lsn_proc: 540, lsn_commit: 540 })
    expect(printer.idle(600n)).toMatchObject({ lsn_proc: 600, lsn_commit: 600 })
  })

  it('that were printed are parsed to the same position', () => {
    const printer = new OffsetPrinter(50n, undefined)
    const within = parseCdcOffset(printer.after(insert(100n, 3)))
    expect(within).toMatchObject({
      delivered: { position: { commitLsn: 500n, index: 3 }, lsn: 100n },
      lastCommitLsn: 50n,
    })
    expect(resumeLsn(within)).toBe(500n)
    const behind = parseCdcOffset(printer.after(commit))
    expect(behind).toMatchObject({ delivered: { position: { commitLsn: 540n, index: -1 } }, lastCommitLsn: 540n })
    expect(resumeLsn(behind)).toBe(540n)
  })

  it('keep LSNs beyond 2^53', () => {
    const lsn = 2n ** 60n + 1n
    const printed = new OffsetPrinter(0n, undefined).idle(lsn)
    expect(printed['lsn_commit']).toBe(lsn)
    expect(parseCdcOffset(printed).lastCommitLsn).toBe(lsn)
  })
})

describe('offsets of Debezium', () => {
  it('behind a transaction are the beginning of the next one', () => {
    const stored = { lsn_proc: 540, lsn_commit: 540, lsn: 540, messageType: 'COMMIT', txId: 7, ts_usec: 1 }
    expect(parseCdcOffset(stored).delivered).toEqual({ position: { commitLsn: 540n, index: -1 } })
  })

  it.each(['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE'])(
    'within a transaction have the LSN of a change: %s',
    (messageType) => {
      const stored = { lsn_proc: 100, lsn_commit: 90, lsn: 100, messageType }
      expect(parseCdcOffset(stored).delivered).toEqual({ position: { commitLsn: 90n, index: -1 }, debeziumLsn: 100n })
    },
  )

  it.each(['BEGIN', 'MESSAGE', undefined])('that name no change repeat the transaction: %s', (messageType) => {
    const stored = { lsn_proc: 100, lsn_commit: 90, ...(messageType !== undefined && { messageType }) }
    expect(parseCdcOffset(stored).delivered).toEqual({ position: { commitLsn: 90n, index: -1 } })
  })

  it('without the LSN of a commit repeat what was committed since the last change', () => {
    expect(parseCdcOffset({ lsn_proc: 100, messageType: 'INSERT' }).delivered).toEqual({
      position: { commitLsn: 100n, index: -1 },
    })
  })

  it('without an LSN are no position', () => {
    expect(parseCdcOffset({}).delivered).toBeUndefined()
  })
})

describe('invalid offsets', () => {
  it.each([
    [{ lsn_proc: 'x' }, '\'lsn_proc\' of an offset must be a position in the log of the server as an integer, not "x"'],
    [{ lsn_commit: -1 }, "'lsn_commit' of an offset must be"],
    [{ position_lsn: 1.5 }, "'position_lsn' of an offset must be"],
    [{ position_lsn: 1, position_index: -2 }, "'position_index' of an offset must be the number of a change, not -2"],
    [{ position_lsn: 1, position_index: 'x' }, "'position_index' of an offset must be"],
  ])('are rejected: %j', (stored, message) => {
    expect(() => parseCdcOffset(stored)).toThrow(message)
  })
})

function offset(members: object): object {
  return {
    transaction_id: null,
    lsn_commit: 90,
    txId: 7,
    ts_usec: 1_700_000_000_000_000,
    position_lsn: 500,
    ...members,
  }
}
