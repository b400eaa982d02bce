import { setTimeout as sleep } from 'node:timers/promises'
import type { TaskLog } from '../../../../sdk/index.ts'
import { type Quote, quotedTable } from '../../jdbc/identifier.ts'
import { UTC } from '../../jdbc/time-zone.ts'
import type { Session } from '../session.ts'
import { microsFromText } from '../time-text.ts'
import type { TableQuery, UpperBound } from './select-statement.ts'

const POLL_INTERVAL_MS = 20

/**
 * Delay after which a transaction is certainly visible in `pg_locks`. The start time of a transaction precedes its
 * visibility to other sessions; this is a margin for a server under load.
 */
const VISIBLE_AFTER_MS = 100

/** Advisory lock held by every read-only session of a source. Other sources need not wait for such a session. */
const READER_LOCK = [0x77656972, 1] as const

/** Executed when a session is opened. Marks the session as read-only for all sources. */
export const DECLARE_READER_SQL = `SELECT pg_advisory_lock_shared(${READER_LOCK.join(', ')})`

/** Selects the open transactions of other sessions of this database, by ids that are never reused. */
const OPEN_TRANSACTIONS_SQL = `
  SELECT l.virtualxid || '@' || l.pid FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
  WHERE l.locktype = 'virtualxid' AND l.mode = 'ExclusiveLock' AND l.granted
    AND a.datname = current_database() AND a.usesysid IS NOT NULL AND a.pid NOT IN (
      SELECT r.pid FROM pg_locks r WHERE r.locktype = 'advisory' AND r.classid = ${READER_LOCK[0]} AND r.objid = ${READER_LOCK[1]}
    )`

type WaitContext = {
  readonly session: Session
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
 * transactions that were open then have ended, every row below the bound is visible. `patience` holds the transactions
 * whose wait has timed out; they are not waited for again.
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
  return upperBound
}

async function readUpperBound(
  session: Session,
  tableQuery: TableQuery,
  visibility: VisibilityOptions,
): Promise<UpperBound | 'nothing'> {
  const { delayMs, transactionsWaitMs, quote } = visibility
  if (tableQuery.timestampColumns.length > 0) {
    const backMs = delayMs + (transactionsWaitMs > 0 ? VISIBLE_AFTER_MS : 0)
    return { beforeMicros: (await readClock(session)) - backMs * 1000 }
  }
  const { incrementingColumn, from } = tableQuery
  if (incrementingColumn === undefined || transactionsWaitMs === 0 || !('table' in from)) return {}
  const sql = `SELECT max(${quote(incrementingColumn)}) FROM ${quotedTable(from.table, quote)}`
  const upToId = (await session.query('read the highest id', sql))[0]?.[0]
  return upToId === null || upToId === undefined ? 'nothing' : { upToId }
}

/** Returns the server's clock, in microseconds since 1970. The clock of this process is not used. */
export async function readClock(session: Session): Promise<number> {
  const [row] = await session.query('read the clock of the database', 'SELECT clock_timestamp()')
  return microsFromText(row?.[0] ?? '', UTC)
}

async function waitForOpenTransactions(
  { session, log, signal }: WaitContext,
  waitMs: number,
  timedOut: Set<string>,
): Promise<void> {
  const readOpen = async () =>
    new Set((await session.query('list open transactions', OPEN_TRANSACTIONS_SQL)).map(([id]) => id ?? ''))
  const first = await readOpen()
  for (const id of timedOut) if (!first.has(id)) timedOut.delete(id)
  let waiting = first.difference(timedOut)
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
    await sleep(POLL_INTERVAL_MS, undefined, { signal }).catch(() => undefined)
    waiting = waiting.intersection(await readOpen())
  }
}
