import { describe, expect, it } from 'vitest'
import type { DatabaseChange } from '../../../../../src/plugins/connectors/postgres/cdc/changes/change.ts'
import { OffsetPrinter, parseCdcOffset } from '../../../../../src/plugins/connectors/postgres/cdc/offset.ts'
import { SnapshotView } from '../../../../../src/plugins/connectors/postgres/cdc/snapshot/snapshot-view.ts'

const HISTORY = { history: '7301/1', flushedLsn: 900n, isStandby: false }
const table = (id: number) =>
  ({ id, schema: 'public', name: `t${id}`, replicaIdentity: 'default', columns: [], keyNames: [] }) as const

function row(transactionId: number, commitLsn = 500n, tableId = 1): DatabaseChange {
  const transaction = { id: transactionId, commitLsn, committedAtUs: 0n }
  return {
    ...{ kind: 'row', op: 'c', table: table(tableId), before: undefined, isBeforeKeyOnly: false, after: [] },
    ...{ transaction, lsn: commitLsn, position: { commitLsn, index: 0 } },
  }
}

const viewOf = (snapshot: string, isStandby = false) =>
  SnapshotView.take(snapshot, { ...HISTORY, isStandby }).of([1, 2])
const isSeen = (view: SnapshotView, change: DatabaseChange, isMoved = false) => view.contains(change, () => isMoved)

describe('what a snapshot has seen', () => {
  it('are the transactions that were committed before it, of the tables that it reads', () => {
    const view = viewOf('100:110:100,105')
    expect([99, 100, 101, 105, 109, 110, 111].filter((id) => isSeen(view, row(id)))).toEqual([99, 101, 109])
    expect(isSeen(view, row(99, 900n))).toBe(false)
    expect(isSeen(view, row(99, 500n, 3))).toBe(false)
    const message = { ...row(99), kind: 'message', prefix: 'p', content: Buffer.of() } as unknown as DatabaseChange
    expect(isSeen(view, message)).toBe(false)
  })

  it.each([
    ['delete', (view: SnapshotView) => isSeen(view, { ...row(99), op: 'd' } as DatabaseChange)],
    ['change of a key', (view: SnapshotView) => isSeen(view, row(99), true)],
    ['truncate', (view: SnapshotView) => isSeen(view, { ...row(99), kind: 'truncate', tables: [table(1)] } as never)],
  ])('ends for a table with its first %s, also after a restart', (_change, remove) => {
    const view = viewOf('100:110:')
    const before = SnapshotView.stored(view.in({}, 0n))!
    expect(remove(view)).toBe(false)
    for (const one of [view, SnapshotView.stored(view.in({}, 0n))!]) {
      expect([isSeen(one, row(99)), isSeen(one, row(99, 500n, 2))]).toEqual([false, true])
    }
    expect(isSeen(before, row(99))).toBe(true)
  })

  it('compares transaction ids of 64 and 32 bits after their wraparound', () => {
    const view = viewOf('8589934590:8589934600:8589934594')
    expect([4_294_967_290, 4_294_967_294, 1, 2, 7, 8].filter((id) => isSeen(view, row(id)))).toEqual([
      4_294_967_290, 4_294_967_294, 1, 7,
    ])
  })

  it('is less on a standby, which does not list what runs, and with more transactions than are stored', () => {
    expect([99, 100, 101].filter((id) => isSeen(viewOf('100:110:', true), row(id)))).toEqual([99])
    const many = Array.from({ length: 2_000 }, (_, index) => 100 + 2 * index)
    const view = viewOf(`100:9000:${many.join(',')}`)
    expect([99, 100, 101, 2_098, 2_099, 2_100, 2_101, 4_099].filter((id) => isSeen(view, row(id)))).toEqual([
      99, 101, 2_099,
    ])
  })

  it('is in the offsets of the stream until the end of what was seen, and is read back from them', () => {
    const printer = new OffsetPrinter(50n, undefined, viewOf('100:110:105'))
    const offsets = [printer.last, printer.after(row(99, 500n)), printer.idle(899n)]
    for (const offset of offsets) {
      const view = SnapshotView.stored(JSON.parse(JSON.stringify(offset)))!
      expect([99, 104, 105, 110].filter((id) => isSeen(view, row(id)))).toEqual([99, 104])
      const next = new OffsetPrinter(50n, parseCdcOffset(offset), view)
      expect(next.last).toEqual(offset)
      expect(new OffsetPrinter(50n, parseCdcOffset(offset)).last).not.toHaveProperty('seen_by_snapshot')
    }
    expect(printer.idle(900n)).not.toHaveProperty('seen_by_snapshot')
    expect(SnapshotView.stored(printer.last)).toBeUndefined()
  })

  it('is not that of another history of the server', () => {
    const view = viewOf('100:110:')
    expect(view.isOf({ ...HISTORY, flushedLsn: 1_000n })).toBe(true)
    expect(view.isOf({ ...HISTORY, history: '7301/2' })).toBe(false)
    expect(view.isOf({ ...HISTORY, flushedLsn: 899n })).toBe(false)
  })

  it('is refused when it is damaged, because changes would be missing', () => {
    const whole = String(new OffsetPrinter(50n, undefined, viewOf('100:110:')).last['seen_by_snapshot'])
    for (const [from, to] of [
      ['"xmin":100', '"xmin":"a"'],
      ['"running":[]', '"running":1'],
      ['"end":"0/384"', '"end":900'],
      ['"tables":"1-2"', '"tables":"x"'],
      ['{', ''],
    ] as const) {
      expect(whole).toContain(from)
      expect(() => SnapshotView.stored({ seen_by_snapshot: whole.replace(from, to) }), to).toThrow(
        "'seen_by_snapshot' of an offset is damaged",
      )
    }
    expect(() => SnapshotView.stored({ seen_by_snapshot: 1 })).toThrow('is damaged')
  })
})
