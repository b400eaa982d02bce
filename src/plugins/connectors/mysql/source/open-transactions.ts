import { randomInt } from 'node:crypto'
import type { TaskLog } from '../../../../sdk/index.ts'
import { DatabaseError } from '../../jdbc/database-error.ts'
import { pause } from '../../jdbc/pause.ts'
import type { MysqlSession } from '../session.ts'

/**
 * InnoDB copies its transactions for the view `innodb_trx` only when the copy has not been read for 100 ms. Sources that wait at the
 * same time select different delays, so that one of them gets a new copy.
 */
const COPY_AGE_MS = 100
const DELAY_MS = { min: COPY_AGE_MS + 10, max: 4 * COPY_AGE_MS }
const ATTEMPTS_MAX = 20

/** Errors for accounts without the privilege PROCESS. */
const DENIED: ReadonlySet<number> = new Set([1044, 1142, 1227])

/** Reads the open transactions of the server that may write. */
export class OpenTransactions {
  readonly #session: MysqlSession
  readonly #log: TaskLog
  readonly #signal: AbortSignal
  #isDenied = false
  #count = 0

  constructor(session: MysqlSession, log: TaskLog, signal: AbortSignal) {
    this.#session = session
    this.#log = log
    this.#signal = signal
  }

  /** Returns ids that are never reused. None if the account may not see them, or when the task is being stopped. */
  async read(): Promise<ReadonlySet<string>> {
    for (let attempt = 1; !this.#isDenied && !this.#signal.aborted; attempt++) {
      const found = await this.#readCopy()
      if (found !== undefined) return found
      if (attempt === ATTEMPTS_MAX) throw outdatedCopy()
      await pause(randomInt(DELAY_MS.min, DELAY_MS.max), this.#signal)
    }
    return new Set()
  }

  /** Returns undefined if the copy is older than this call: it contains the query of this call otherwise. */
  async #readCopy(): Promise<ReadonlySet<string> | undefined> {
    this.#count += 1
    const mark = `weir ${this.#count}`
    const sql = `SELECT /* ${mark} */ trx_id, trx_mysql_thread_id, trx_started, trx_is_read_only, trx_query
      FROM information_schema.innodb_trx WHERE trx_is_read_only = 0 OR trx_mysql_thread_id = connection_id()`
    const operation = 'list open transactions'
    try {
      await this.#session.execute(operation, 'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY')
      const rows = await this.#session.query(operation, sql)
      await this.#session.execute(operation, 'COMMIT')
      if (!rows.some(([, , , , query]) => query?.includes(`/* ${mark} */`))) return undefined
      const writing = rows.filter(([, , , isReadOnly]) => isReadOnly === '0')
      return new Set(writing.map(([id, thread, started]) => `${id}@${thread}@${started}`))
    } catch (error) {
      if (!(error instanceof DatabaseError) || !DENIED.has(error.errno ?? 0)) throw error
      this.#isDenied = true
      this.#log.warn(
        { err: error },
        'the account may not see open transactions, so rows that they add later with an older timestamp or id may not be read: grant ' +
          'PROCESS to it, or set timestamp.delay.interval.ms',
      )
      await this.#session.execute(operation, 'COMMIT')
      return new Set()
    }
  }
}

function outdatedCopy(): DatabaseError {
  const reason = `the server returned an old list ${ATTEMPTS_MAX} times, because something else reads innodb_trx all the time`
  return new DatabaseError(`could not list open transactions: ${reason}`, { isTransient: true })
}
