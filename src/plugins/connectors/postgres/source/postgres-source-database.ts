import { quoted, type TableName } from '../../jdbc/identifier.ts'
import type { RowCursor } from '../../jdbc/row-cursor.ts'
import type { SelectStatement, TableQuery, UpperBound } from '../../jdbc/source/select-statement.ts'
import type {
  CatalogColumn,
  ResultColumns,
  SelectOptions,
  SourceDatabase,
  SourceSession,
  SourceSessionOptions,
  TableCriteria,
  TypeMapping,
} from '../../jdbc/source/source-database.ts'
import type { TableOffset } from '../../jdbc/source/table-offset.ts'
import { microsFromText } from '../../jdbc/time-text.ts'
import { UTC } from '../../jdbc/time-zone.ts'
import { type ConnectionUrl, parseConnectionUrl } from '../connection-url.ts'
import { Session } from '../session.ts'
import { describeSelect } from './column-types.ts'
import { selectRowsAfter } from './select-rows-after.ts'
import { listTables, readColumns, TABLE_TYPES } from './table-catalog.ts'

/** Advisory lock held by every read-only session of a source. Other sources need not wait for such a session. */
const READER_LOCK = [0x77656972, 1] as const

/** Executed when a session is opened. Marks the session as read-only for all sources. */
const DECLARE_READER_SQL = `SELECT pg_advisory_lock_shared(${READER_LOCK.join(', ')})`

/** Selects the open transactions of other sessions of this database, by ids that are never reused. */
const OPEN_TRANSACTIONS_SQL = `
  SELECT l.virtualxid || '@' || l.pid FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
  WHERE l.locktype = 'virtualxid' AND l.mode = 'ExclusiveLock' AND l.granted
    AND a.datname = current_database() AND a.usesysid IS NOT NULL AND a.pid NOT IN (
      SELECT r.pid FROM pg_locks r WHERE r.locktype = 'advisory' AND r.classid = ${READER_LOCK[0]} AND r.objid = ${READER_LOCK[1]}
    )`

/** Parses the value of `connection.url`. Throws an `Error` that does not repeat it. */
export function parsePostgresSourceUrl(text: string): SourceDatabase {
  const url = parseConnectionUrl(text)
  return {
    tableTypes: TABLE_TYPES,
    quote: quoted,
    quoteMark: '"',
    catalog: url.database,
    open: (options) => openSession(url, options),
  }
}

async function openSession(url: ConnectionUrl, options: SourceSessionOptions): Promise<SourceSession> {
  const { isolation, attempts, backoffMs, ...login } = options
  const isolationSql =
    isolation === undefined ? '' : `SET default_transaction_isolation = '${isolation.toLowerCase()}'; `
  const session = await Session.open(
    { ...login, url, setup: `${isolationSql}${DECLARE_READER_SQL}` },
    { attempts, backoffMs },
  )
  return new PostgresSourceSession(session)
}

class PostgresSourceSession implements SourceSession {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  get isOpen(): boolean {
    return this.#session.isOpen
  }

  listTables(choice: TableCriteria): Promise<readonly TableName[]> {
    return listTables(this.#session, choice)
  }

  readColumns(operation: string, table: TableName): Promise<readonly CatalogColumn[]> {
    return readColumns(this.#session, operation, table)
  }

  describe(operation: string, select: string, mapping: TypeMapping): Promise<ResultColumns> {
    return describeSelect(this.#session, operation, select, mapping)
  }

  selectRowsAfter(
    tableQuery: TableQuery,
    offset: TableOffset,
    upperBound: UpperBound,
    { quote, zone }: SelectOptions,
  ): SelectStatement {
    return selectRowsAfter(tableQuery, offset, upperBound, quote, zone)
  }

  openRows(operation: string, { text, values }: SelectStatement, rowsMax: number): RowCursor {
    return this.#session.openRows(operation, text, values, rowsMax)
  }

  async readValue(operation: string, select: string): Promise<string | null> {
    const [row] = await this.#session.query(operation, select)
    return row?.[0] ?? null
  }

  async readClock(): Promise<number> {
    const text = await this.readValue('read the clock of the database', 'SELECT clock_timestamp()')
    return microsFromText(text ?? '', UTC)
  }

  async openTransactions(): Promise<ReadonlySet<string>> {
    const rows = await this.#session.query('list open transactions', OPEN_TRANSACTIONS_SQL)
    return new Set(rows.map(([id]) => id ?? ''))
  }

  close(): Promise<void> {
    return this.#session.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
