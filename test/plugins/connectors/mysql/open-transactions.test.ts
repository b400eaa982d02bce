import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { MysqlSession } from '../../../../src/plugins/connectors/mysql/session.ts'
import { OpenTransactions } from '../../../../src/plugins/connectors/mysql/source/open-transactions.ts'

const LOG = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() }
const WRITER = ['42', '7', '2026-11-29 12:00:00', '0', null]

/** A session whose list contains the query that reads it, from the given read on: an older list does not. */
function sessionWith(newFrom: number) {
  let reads = 0
  const session = {
    execute: async () => undefined,
    query: async (_operation: string, sql: string) => {
      reads += 1
      return reads < newFrom ? [WRITER] : [WRITER, ['43', '8', '2026-11-29 12:00:01', '1', sql]]
    },
  } as unknown as MysqlSession
  return { session, reads: () => reads }
}

describe('the open transactions of MySQL', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('are read again while the server returns an old list', async () => {
    const { session, reads } = sessionWith(3)
    const found = new OpenTransactions(session, LOG, new AbortController().signal).read()
    await vi.runAllTimersAsync()
    expect(await found).toEqual(new Set(['42@7@2026-11-29 12:00:00']))
    expect(reads()).toBe(3)
  })

  it('are an error that is retried, not none, if the server returns old lists only', async () => {
    const { session } = sessionWith(Number.POSITIVE_INFINITY)
    const read = new OpenTransactions(session, LOG, new AbortController().signal).read()
    const failed = expect(read).rejects.toMatchObject({
      isTransient: true,
      message: expect.stringContaining('old list 20 times'),
    })
    await vi.runAllTimersAsync()
    await failed
  })
})
