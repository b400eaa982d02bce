import { expect, it } from 'vitest'
import { type AuditedEvent, EventAudit, type Kill } from './event-audit.ts'

const row = (txId: number, lsn: number, timestampMs = 0): AuditedEvent => ({
  table: 'plain',
  key: String(lsn),
  timestampMs,
  change: { op: 'c', before: null, after: {}, source: { txId, lsn } },
})
/** The last change of a transaction with `count` changes. */
const end = (txId: number, lsn: number, count: number, timestampMs = 0): AuditedEvent => ({
  table: 'clients',
  key: '1',
  timestampMs,
  change: {
    op: 'u',
    before: { id: 1, transactions: txId - 1, changes: 0 },
    after: { id: 1, transactions: txId, changes: count },
    source: { txId, lsn },
  },
})
const snapshot: AuditedEvent = {
  table: 'clients',
  key: '1',
  timestampMs: 0,
  change: { op: 'r', before: null, after: { id: 1, transactions: 0, changes: 0 }, source: { txId: 0, lsn: 0 } },
}
const audit = (events: readonly AuditedEvent[], kills: readonly Kill[] = []) => {
  const audited = new EventAudit()
  for (const event of [snapshot, ...events]) audited.add(event)
  return audited.report(kills)
}

it('finds nothing in complete transactions', () => {
  expect(audit([row(1, 10), end(1, 11, 2), end(2, 20, 1)])).toMatchObject({ transactions: 2, changes: 3, findings: [] })
})

it('finds a missing change, and a missing transaction', () => {
  expect(audit([end(1, 11, 2)]).findings).toEqual(['transaction 1 has 2 changes, and 1 of them are there'])
  expect(audit([end(1, 11, 1), end(3, 30, 1)]).findings).toEqual(['client 1: transaction 3 follows 1'])
})

it('finds the missing last change of a transaction', () => {
  expect(audit([row(1, 10)]).findings).toEqual(['1 changes of transaction 1, without the last one'])
})

it('allows repeated changes only after a kill, and only behind the stored offset', () => {
  const events = [end(1, 11, 1), end(2, 20, 1), end(2, 20, 1, 100)]
  expect(audit(events, [{ atMs: 50, offset: { position_lsn: 12, txId: 1, lsn: 11 } }])).toMatchObject({
    duplicates: 1,
    findings: [],
  })
  expect(audit(events, [{ atMs: 50, offset: { snapshot: 'INITIAL', txId: 3, lsn: 5 } }]).findings).toEqual([])
  expect(audit(events, [{ atMs: 50, offset: { txId: 3, lsn: 5 } }]).findings).toEqual([])
  expect(audit(events).findings).toHaveLength(1)
  expect(audit(events, [{ atMs: 50, offset: { position_lsn: 26, txId: 2, lsn: 25 } }]).findings).toHaveLength(1)
})
