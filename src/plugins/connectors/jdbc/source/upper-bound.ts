import type { TaskLog } from '../../../../sdk/index.ts'
import { type Quote, quotedTable } from '../identifier.ts'
import { pause } from '../pause.ts'
import type { TableQuery, UpperBound } from './select-statement.ts'
import type { SourceSession } from './source-database.ts'

const POLL_INTERVAL_MS = 20
/**
 * Margin between the time that a statement takes from the server's clock, and its transaction being in the list of open ones. A statement
 * that waits longer, for the lock of a table for example, needs `timestamp.delay.interval.ms`.
 */
const VISIBLE_AFTER_MS = 100

type WaitContext = {
  readonly session: SourceSession
  readonly log: TaskLog
  readonly signal: AbortSignal
}

/** How long to wait before reading rows that earlier rows may still precede. */
export type VisibilityOptions = { readonly delayMs: number; readonly transactionsWaitMs: number; readonly quote: Quote }

/**
 * Returns the upper bound up to which a table can be read without missing rows, and waits until it is safe.
 *
 * Timestamps and ids are assigned before a transaction commits, so rows do not become visible in the order of these
 * columns. Every row below the bound was written by a transaction that began before the bound was taken: after all
 * transactions that were open then have ended, every row below the bound is visible. `timedOut` holds the transactions
 * whose wait has timed out; they are not waited for again. A task that is being stopped reads nothing, because it may not have waited.
 */
export async function findUpperBound(
  context: WaitContext,
  tableQuery: TableQuery,
  visibility: VisibilityOptions,
  timedOut: Set<string>,
): Promise<UpperBound | 'nothing'> {
  const upperBound = await readUpperBound(context.session, tableQuery, visibility)
  if (upperBound !== 'nothing' && visibility.transactionsWaitMs > 0)
    await waitForOpenTransactions(context, visibility.transactionsWaitMs, timedOut)
  return context.signal.aborted ? 'nothing' : upperBound
}

async function readUpperBound(
  session: SourceSession,
  tableQuery: TableQuery,
  visibility: VisibilityOptions,
): Promise<UpperBound | 'nothing'> {
  const { delayMs, transactionsWaitMs, quote } = visibility
  if (tableQuery.timestampColumns.length > 0) {
    const backMs = delayMs + (transactionsWaitMs > 0 ? VISIBLE_AFTER_MS : 0)
    return { beforeMicros: (await session.readClock()) - backMs * 1000 }
  }
  const { incrementingColumn, from } = tableQuery
  if (incrementingColumn === undefined || transactionsWaitMs === 0 || !('table' in from)) return {}
  const sql = `SELECT max(${quote(incrementingColumn)}) FROM ${quotedTable(from.table, quote)}`
  const upToId = await session.readValue('read the highest id', sql)
  return upToId === null ? 'nothing' : { upToId }
}

async function waitForOpenTransactions(
  { session, log, signal }: WaitContext,
  waitMs: number,
  timedOut: Set<string>,
): Promise<void> {
  const first = await session.openTransactions()
  for (const id of timedOut) if (!first.has(id)) timedOut.delete(id)
  let waiting = new Set(first).difference(timedOut)
  const deadline = performance.now() + waitMs
  while (waiting.size > 0 && !signal.aborted) {
    if (performance.now() > deadline) {
      for (const id of waiting) timedOut.add(id)
      log.warn(
        { transactions: [...waiting], waitMs },
        'transactions are still open after transactions.wait.ms: rows that they add with an older timestamp or id will not be read',
      )
      return
    }
    await pause(POLL_INTERVAL_MS, signal)
    waiting = waiting.intersection(await session.openTransactions())
  }
}
