import { setTimeout as sleep } from 'node:timers/promises'
import type { TaskLog } from '../../../../sdk/index.ts'
import { type Quote, quotedTable } from '../identifier.ts'
import type { Session } from '../session.ts'
import { microsFromText } from '../time-text.ts'
import { UTC } from '../time-zone.ts'
import type { TableQuery, UpperBound } from './statement.ts'

const LOOK_AGAIN_MS = 20

/**
 * A transaction says when it began before others can see that it is there: one that is older than this can be seen. A
 * margin for a server under load.
 */
const SEEN_AFTER_MS = 100

/** Of the advisory lock that every session of ours which only reads holds: nobody needs to wait for one. */
const READER_LOCK = [0x77656972, 1] as const

/** Says to all sources that nothing will be written by the session that begins with it. */
export const DECLARE_READER_SQL = `SELECT pg_advisory_lock_shared(${READER_LOCK.join(', ')})`

/** Transactions of other sessions of this database, under ids that never come back. */
const OPEN_SQL = `
  SELECT l.virtualxid || '@' || l.pid FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
  WHERE l.locktype = 'virtualxid' AND l.mode = 'ExclusiveLock' AND l.granted
    AND a.datname = current_database() AND a.usesysid IS NOT NULL AND a.pid NOT IN (
      SELECT r.pid FROM pg_locks r WHERE r.locktype = 'advisory' AND r.classid = ${READER_LOCK[0]} AND r.objid = ${READER_LOCK[1]}
    )`

type Parts = {
  readonly session: Session
  readonly log: TaskLog
  readonly signal: AbortSignal
}

/** How reading keeps clear of rows before which others may still come. */
export type VisibilityOptions = { readonly delayMs: number; readonly transactionsWaitMs: number; readonly quote: Quote }

/**
 * Finds how far a table can be read so that no row comes before what was read, and waits until that is so.
 *
 * Timestamps and ids are given out before a transaction commits, so rows become visible in another order than that of
 * their columns. Every row before the horizon was written by a transaction that began before it was drawn: when all that
 * were open then have ended, everything before it is there to be read. `patience` remembers who was waited for in vain.
 */
export async function findUpperBound(
  parts: Parts,
  origin: TableQuery,
  caution: VisibilityOptions,
  patience: Set<string>,
): Promise<UpperBound | 'nothing'> {
  const horizon = await readUpperBound(parts.session, origin, caution)
  if (horizon !== 'nothing' && caution.transactionsWaitMs > 0)
    await waitForOpen(parts, caution.transactionsWaitMs, patience)
  return horizon
}

async function readUpperBound(
  session: Session,
  origin: TableQuery,
  caution: VisibilityOptions,
): Promise<UpperBound | 'nothing'> {
  const { delayMs, transactionsWaitMs, quote } = caution
  if (origin.timestampColumns.length > 0) {
    const backMs = delayMs + (transactionsWaitMs > 0 ? SEEN_AFTER_MS : 0)
    return { beforeMicros: (await readClock(session)) - backMs * 1000 }
  }
  const { incrementingColumn, from } = origin
  if (incrementingColumn === undefined || transactionsWaitMs === 0 || !('table' in from)) return {}
  const sql = `SELECT max(${quote(incrementingColumn)}) FROM ${quotedTable(from.table, quote)}`
  const upToId = (await session.query('ask for the last id', sql))[0]?.[0]
  return upToId === null || upToId === undefined ? 'nothing' : { upToId }
}

/** The server's time: ours does not matter. In microseconds since 1970. */
export async function readClock(session: Session): Promise<number> {
  const [row] = await session.query('ask the database for its time', 'SELECT clock_timestamp()')
  return microsFromText(row?.[0] ?? '', UTC)
}

async function waitForOpen({ session, log, signal }: Parts, waitMs: number, patience: Set<string>): Promise<void> {
  const open = async () => new Set((await session.query('ask for open transactions', OPEN_SQL)).map(([id]) => id ?? ''))
  const first = await open()
  for (const id of patience) if (!first.has(id)) patience.delete(id)
  let waiting = first.difference(patience)
  const deadline = performance.now() + waitMs
  while (waiting.size > 0 && !signal.aborted) {
    if (performance.now() > deadline) {
      for (const id of waiting) patience.add(id)
      log.warn(
        { transactions: [...waiting], waitMs },
        'transactions are open for long: rows that they add with an older timestamp or id will not be read',
      )
      return
    }
    await sleep(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined)
    waiting = waiting.intersection(await open())
  }
}
