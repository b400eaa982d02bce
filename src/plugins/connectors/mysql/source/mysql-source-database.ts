import type { TableName } from '../../jdbc/identifier.ts'
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
import { type MysqlUrl, parseMysqlUrl } from '../connection-url.ts'
import { MysqlSession } from '../session.ts'
import { mysqlQuoted, textLiteral } from '../sql-literal.ts'
import { readTableColumns } from '../table-columns.ts'
import { OpenTransactions } from './open-transactions.ts'
import { toMysqlResultColumn } from './result-columns.ts'
import { selectMysqlRowsAfter } from './select-mysql-rows-after.ts'

/** The values of `table_type` in the catalog, by the types of JDBC. */
const TABLE_KINDS: Readonly<Record<string, readonly string[]>> = {
  TABLE: ['BASE TABLE', 'SYSTEM VERSIONED'],
  VIEW: ['VIEW'],
}

/** Databases of the server itself. */
const SYSTEM_DATABASES = ['information_schema', 'mysql', 'performance_schema', 'sys']

/** Parses the value of `connection.url`. Throws an `Error` that does not repeat it. */
export function parseMysqlSourceUrl(text: string): SourceDatabase {
  const url = parseMysqlUrl(text)
  return {
    tableTypes: Object.keys(TABLE_KINDS),
    quote: mysqlQuoted,
    quoteMark: '`',
    // The database is what other servers call schema.
    catalog: undefined,
    open: (options) => openSession(url, options),
  }
}

async function openSession(url: MysqlUrl, options: SourceSessionOptions): Promise<SourceSession> {
  const { isolation, attempts, backoffMs, ...login } = options
  const setup = isolation === undefined ? [] : [`SET SESSION TRANSACTION ISOLATION LEVEL ${isolation}`]
  const session = await MysqlSession.open({ ...login, url, setup }, { attempts, backoffMs })
  return new MysqlSourceSession(session, url, options)
}

class MysqlSourceSession implements SourceSession {
  readonly #session: MysqlSession
  readonly #url: MysqlUrl
  readonly #transactions: OpenTransactions

  constructor(session: MysqlSession, url: MysqlUrl, { log, signal }: SourceSessionOptions) {
    this.#session = session
    this.#url = url
    this.#transactions = new OpenTransactions(session, log, signal)
  }

  get isOpen(): boolean {
    return this.#session.isOpen
  }

  /** Lists the tables of `catalog.pattern`, by default of the database of the URL. */
  async listTables({ types, schemaPattern, catalog }: TableCriteria): Promise<readonly TableName[]> {
    const listOf = (texts: readonly string[]) => texts.map(textLiteral).join(', ')
    const database = catalog || this.#url.database
    const conditions = [
      `table_type IN (${listOf(types.flatMap((type) => TABLE_KINDS[type] ?? []))})`,
      `table_schema NOT IN (${listOf(SYSTEM_DATABASES)})`,
      `table_schema LIKE ${textLiteral(schemaPattern)}`,
      ...(database === undefined ? [] : [`table_schema = ${textLiteral(database)}`]),
    ]
    const sql = `SELECT table_schema, table_name FROM information_schema.tables WHERE ${conditions.join(' AND ')} ORDER BY 1, 2`
    const rows = await this.#session.query('list tables', sql)
    return rows.map(([schema, name]) => ({ schema: schema!, name: name! }))
  }

  async readColumns(operation: string, table: TableName): Promise<readonly CatalogColumn[]> {
    const columns = await readTableColumns(this.#session, operation, table)
    return columns.map(({ name, notNull, isAutoIncrement }) => ({ name, notNull, isGenerated: isAutoIncrement }))
  }

  async describe(operation: string, select: string, mapping: TypeMapping): Promise<ResultColumns> {
    const fields = await this.#session.describe(operation, `SELECT * FROM (${select}) AS described LIMIT 0`)
    const { zeroDates, isYearDate, isTinyintBoolean } = this.#url
    const own = { ...mapping, zeroDates, isYearDate, isTinyintBoolean }
    return { fields, columns: fields.map((field) => toMysqlResultColumn(field, own)) }
  }

  selectRowsAfter(
    tableQuery: TableQuery,
    offset: TableOffset,
    upperBound: UpperBound,
    options: SelectOptions,
  ): SelectStatement {
    return selectMysqlRowsAfter(tableQuery, offset, upperBound, options)
  }

  openRows(operation: string, { text }: SelectStatement, rowsMax: number): RowCursor {
    return this.#session.openRows(operation, text, rowsMax)
  }

  async readValue(operation: string, select: string): Promise<string | null> {
    const [row] = await this.#session.query(operation, select)
    return row?.[0] ?? null
  }

  async readClock(): Promise<number> {
    const text = await this.readValue('read the clock of the database', 'SELECT utc_timestamp(6)')
    return microsFromText(text ?? '', UTC)
  }

  openTransactions(): Promise<ReadonlySet<string>> {
    return this.#transactions.read()
  }

  close(): Promise<void> {
    return this.#session.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
