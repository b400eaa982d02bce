import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseError } from '../../jdbc/database-error.ts'

/** A commit is usually visible within a millisecond after it is in the log. */
const ATTEMPTS = 20
const DELAY_MS = 10

/**
 * Reads rows until the read sees all transactions whose changes were delivered. `read` resolves to undefined while it misses one.
 * `waitsFor`: what delays the visibility of a transaction that is in the log. Rejects with a transient `DatabaseError` if a transaction
 * does not become visible.
 */
export async function readVisibleRows<Rows>(
  { operation, waitsFor }: { readonly operation: string; readonly waitsFor: string },
  read: () => Promise<Rows | undefined>,
): Promise<Rows> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const rows = await read()
    if (rows !== undefined) return rows
    await sleep(DELAY_MS)
  }
  throw new DatabaseError(
    `could not ${operation}: a transaction whose changes were delivered is not visible yet, because it waits for a ${waitsFor}`,
    { isTransient: true },
  )
}
