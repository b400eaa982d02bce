import { quoted } from '../../../jdbc/identifier.ts'
import type { Session } from '../../session.ts'
import type { Lsn } from '../changes/change.ts'
import { CURRENT_LSN_SQL, parseLsn } from '../replication/lsn.ts'
import type { RelationSize, SnapshotRelation } from './snapshot-plan.ts'

/** Values of `snapshot.isolation.mode`. The last two do not give a consistent view of several tables. */
export const ISOLATION_MODES = ['serializable', 'repeatable_read', 'read_committed', 'read_uncommitted'] as const
export type IsolationMode = (typeof ISOLATION_MODES)[number]

export type TransactionOptions = {
  /** Opens a session whose transaction may stay idle without a timeout of the server. */
  readonly openSession: () => Promise<Session>
  /** The snapshot that the creation of the slot exported; undefined if the slot exists already. */
  readonly exportedSnapshot: string | undefined
  readonly isolation: IsolationMode
  /** How long to wait for the lock of a table; 0 is without a limit. */
  readonly lockTimeoutMs: number
}

/** Timeouts of the server would end transactions that wait for others or for the worker. */
const TIMEOUTS = ['idle_in_transaction_session_timeout', 'statement_timeout']
/** The first version with the setting `transaction_timeout`. */
const TRANSACTION_TIMEOUT_VERSION = 170_000
/** The first version in which a condition on `ctid` reads only the pages of its range. */
const RANGE_SCAN_VERSION = 140_000

/**
 * Transactions that see the same snapshot. The first one plans and locks tables; the others, which read, import its snapshot.
 */
export class SnapshotTransactions implements AsyncDisposable {
  readonly #options: TransactionOptions
  readonly #sessions: Session[] = []
  readonly #exported: string | undefined
  /** The transaction in which tables are described and locked. */
  readonly session: Session
  /** The text of `pg_current_snapshot()`. */
  readonly currentSnapshot: string
  readonly #serverVersion: number
  #isClosed = false

  private constructor(
    options: TransactionOptions,
    session: Session,
    view: { readonly exported: string | undefined; readonly currentSnapshot: string; readonly serverVersion: number },
  ) {
    this.#options = options
    this.#sessions = [session]
    this.session = session
    this.#exported = view.exported
    this.currentSnapshot = view.currentSnapshot
    this.#serverVersion = view.serverVersion
  }

  static async begin(options: TransactionOptions): Promise<SnapshotTransactions> {
    const session = await options.openSession()
    try {
      const [[version] = []] = await session.query('read the version of the server', 'SHOW server_version_num')
      const serverVersion = Number(version)
      await beginTransaction(session, serverVersion, levelOf(options), options.exportedSnapshot)
      const [[currentSnapshot] = []] = await session.query('read the snapshot', 'SELECT pg_current_snapshot()::text')
      const [[exported] = []] = isConsistent(options)
        ? await session.query('export the snapshot', 'SELECT pg_export_snapshot()')
        : []
      return new SnapshotTransactions(options, session, {
        exported: exported ?? undefined,
        currentSnapshot: currentSnapshot!,
        serverVersion,
      })
    } catch (error) {
      await session.close()
      throw error
    }
  }

  /** Whether a table can be divided into page ranges, which are read at different times. */
  get canSplitTables(): boolean {
    return isConsistent(this.#options) && this.#serverVersion >= RANGE_SCAN_VERSION
  }

  /** Whether several sessions see the same rows. */
  get canReadInParallel(): boolean {
    return isConsistent(this.#options)
  }

  /** Opens another session that sees the same snapshot. */
  async openReader(): Promise<Session> {
    const session = await this.#options.openSession()
    this.#sessions.push(session)
    // The snapshot may have been given up while the connection was opened.
    if (this.#isClosed) await session.close()
    await beginTransaction(session, this.#serverVersion, levelOf(this.#options), this.#exported)
    return session
  }

  /** The current position in the log of the server. */
  async readLsn(): Promise<Lsn> {
    const [[lsn] = []] = await this.session.query('read the position of the log', `SELECT ${CURRENT_LSN_SQL}`)
    return parseLsn(lsn!)
  }

  /** Locks a table until the end of the transaction, so that it is not altered, truncated or rewritten. */
  async lock({ schema, name }: { readonly schema: string; readonly name: string }): Promise<void> {
    const operation = `lock the table ${schema}.${name} within snapshot.lock.timeout.ms=${this.#options.lockTimeoutMs}`
    const table = `${quoted(schema)}.${quoted(name)}`
    await this.session.query(operation, `SET LOCAL lock_timeout = ${this.#options.lockTimeoutMs}`)
    await this.session.query(operation, `LOCK TABLE ONLY ${table} IN ACCESS SHARE MODE`)
  }

  /**
   * Measures a locked table. Undefined if it was rewritten or dropped since the snapshot was taken: the snapshot does not see
   * its rows.
   */
  async measure({ id, fileNumber }: SnapshotRelation): Promise<RelationSize | undefined> {
    const text =
      "SELECT pg_relation_filenode($1::oid), pg_relation_size($1::oid), pg_table_size($1::oid), current_setting('block_size')"
    const [[file, heapBytes, bytes, pageBytes] = []] = await this.session.query('measure a table', text, [String(id)])
    if (Number(file ?? 0) !== fileNumber) return undefined
    return { pages: Math.ceil(Number(heapBytes) / Number(pageBytes)), bytes: Number(bytes) }
  }

  /** Pages of relations, without locks, so these numbers are estimates. */
  async readPages(ids: readonly number[]): Promise<ReadonlyMap<number, number>> {
    const text = "SELECT id, pg_relation_size(id) / current_setting('block_size')::bigint FROM unnest($1::oid[]) AS id"
    const rows = await this.session.query('measure the tables', text, [`{${ids.join(',')}}`])
    return new Map(rows.map(([id, pages]) => [Number(id), Number(pages ?? 0)]))
  }

  /** Tables of which row-level security may hide rows. */
  async readHiddenIds(ids: readonly number[]): Promise<ReadonlySet<number>> {
    const text = 'SELECT id FROM unnest($1::oid[]) AS id WHERE row_security_active(id)'
    const rows = await this.session.query('read the row-level security', text, [`{${ids.join(',')}}`])
    return new Set(rows.map(([id]) => Number(id)))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#sessions.map((session) => session.close()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

function isConsistent({ isolation, exportedSnapshot }: TransactionOptions): boolean {
  return exportedSnapshot !== undefined || isolation === 'serializable' || isolation === 'repeatable_read'
}

/** The transaction of a slot's snapshot has the level REPEATABLE READ, from which a serializable one cannot import. */
function levelOf({ isolation, exportedSnapshot }: TransactionOptions): string {
  return exportedSnapshot === undefined ? isolation.replace('_', ' ').toUpperCase() : 'REPEATABLE READ'
}

async function beginTransaction(
  session: Session,
  serverVersion: number,
  level: string,
  snapshot: string | undefined,
): Promise<void> {
  const timeouts = serverVersion >= TRANSACTION_TIMEOUT_VERSION ? [...TIMEOUTS, 'transaction_timeout'] : TIMEOUTS
  for (const timeout of timeouts) await session.query('set the timeouts of the snapshot', `SET ${timeout} = 0`)
  // A deferrable transaction waits for a moment in which it cannot cause or suffer a serialization failure.
  const mode = level === 'SERIALIZABLE' && snapshot === undefined ? ', DEFERRABLE' : ''
  await session.query('begin the snapshot', `BEGIN ISOLATION LEVEL ${level}, READ ONLY${mode}`)
  if (snapshot !== undefined) {
    await session.query('import the snapshot', `SET TRANSACTION SNAPSHOT '${snapshot.replaceAll("'", "''")}'`)
  }
}
