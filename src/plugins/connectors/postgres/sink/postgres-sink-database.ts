import { quoted } from '../../jdbc/identifier.ts'
import type { SinkDatabase, SinkSession, SinkSessionOptions } from '../../jdbc/sink/sink-database.ts'
import { type ConnectionUrl, parseConnectionUrl } from '../connection-url.ts'
import { Session } from '../session.ts'
import { type PostgresForm, toPostgresForm } from './postgres-column.ts'
import { PostgresSinkSession } from './postgres-sink-session.ts'

/** Parses the value of `connection.url`. Throws an `Error` that does not repeat it. */
export function parsePostgresSinkUrl(text: string): SinkDatabase<PostgresForm> {
  const url = parseConnectionUrl(text)
  return { quote: quoted, quoteMark: '"', toForm: toPostgresForm, open: (options) => openSession(url, options) }
}

async function openSession(url: ConnectionUrl, options: SinkSessionOptions): Promise<SinkSession<PostgresForm>> {
  const { attempts, backoffMs, ...login } = options
  const session = await Session.open({ ...login, url, pipeline: true }, { attempts, backoffMs })
  return new PostgresSinkSession(session, options)
}
