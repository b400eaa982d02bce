import type { SinkDatabase, SinkSession, SinkSessionOptions } from '../../jdbc/sink/sink-database.ts'
import { type MysqlUrl, parseMysqlUrl } from '../connection-url.ts'
import { MysqlSession } from '../session.ts'
import { mysqlQuoted } from '../sql-literal.ts'
import { type MysqlForm, toMysqlForm } from './mysql-column.ts'
import { MysqlSinkSession } from './mysql-sink-session.ts'

/** The server rejects values that do not fit, instead of changing them. Zero is a value of an AUTO_INCREMENT column. */
const SQL_MODE_SQL = "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION'"

/** Parses the value of `connection.url`. Throws an `Error` that does not repeat it. */
export function parseMysqlSinkUrl(text: string): SinkDatabase<MysqlForm> {
  const url = parseMysqlUrl(text)
  return { quote: mysqlQuoted, quoteMark: '`', toForm: toMysqlForm, open: (options) => openSession(url, options) }
}

async function openSession(url: MysqlUrl, options: SinkSessionOptions): Promise<SinkSession<MysqlForm>> {
  const { attempts, backoffMs, ...login } = options
  const session = await MysqlSession.open({ ...login, url, setup: [SQL_MODE_SQL] }, { attempts, backoffMs })
  return new MysqlSinkSession(session, options)
}
