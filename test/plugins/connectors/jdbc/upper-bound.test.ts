import { expect, it, vi } from 'vitest'
import type { TableQuery } from '../../../../src/plugins/connectors/jdbc/source/select-statement.ts'
import type { SourceSession } from '../../../../src/plugins/connectors/jdbc/source/source-database.ts'
import { findUpperBound } from '../../../../src/plugins/connectors/jdbc/source/upper-bound.ts'

const LOG = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() }

it('a task that is stopped while it waits for open transactions reads no rows after them', async () => {
  const stopping = new AbortController()
  const session = {
    readClock: async () => 1_000_000_000,
    openTransactions: async () => {
      stopping.abort()
      return new Set(['1'])
    },
  } as unknown as SourceSession
  const query = { timestampColumns: ['at'] } as unknown as TableQuery
  const visibility = { delayMs: 0, transactionsWaitMs: 60_000, quote: (name: string) => name }
  const context = { session, log: LOG, signal: stopping.signal }
  expect(await findUpperBound(context, query, visibility, new Set())).toBe('nothing')
})
