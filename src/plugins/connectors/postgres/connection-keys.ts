import { field } from '../../../sdk/index.ts'
import { QUOTE_METHODS, type QuoteMethod } from '../jdbc/identifier.ts'
import { parseTimeZone } from '../jdbc/time-zone.ts'
import { parseConnectionUrl } from './connection-url.ts'

const group = 'Connection'

type QuoteKeys = {
  readonly 'quote.sql.identifiers': QuoteMethod
  readonly 'sql.quote.identifiers'?: boolean | undefined
}

/** Resolves how identifiers are quoted. The key of Aiven's connectors takes precedence over that of Confluent's. */
export function quoteMethodOf(config: QuoteKeys): QuoteMethod {
  const isQuoted = config['sql.quote.identifiers']
  if (isQuoted === undefined) return config['quote.sql.identifiers']
  return isQuoted ? 'always' : 'never'
}

/** Configuration keys shared by the source and the sink. */
export const connectionKeys = {
  'connection.url': field.parsed(
    field.text({
      reaches: 'url',
      doc:
        'URL of the database: `jdbc:postgresql://HOST:PORT/DATABASE?OPTION=VALUE` or `postgresql://HOST:PORT/DATABASE`. ' +
        'Several hosts, separated by commas, are tried in order. Options: `user`, `password`, `sslmode`, `sslrootcert`, ' +
        '`sslcert`, `sslkey` (PEM files), `currentSchema`, `ApplicationName`, `connectTimeout` (s); other options have no effect.',
      importance: 'HIGH',
      group,
    }),
    parseConnectionUrl,
  ),
  'connection.user': field.text({ doc: 'Database role to connect as.', importance: 'HIGH', group }).optional(),
  'connection.password': field.password({ doc: 'Password of the role.', importance: 'HIGH', group }).optional(),
  'connection.attempts': field
    .int({
      doc: 'Number of connection attempts before the task fails.',
      importance: 'LOW',
      min: 1,
      group,
    })
    .default(3),
  'connection.backoff.ms': field
    .long({ doc: 'Delay between connection attempts, in ms.', importance: 'LOW', min: 0, group })
    .default(10_000),
  'dialect.name': field
    .oneOf(['', 'PostgreSqlDatabaseDialect'], {
      doc: 'Has no effect: only PostgreSQL is supported.',
      importance: 'LOW',
      group,
    })
    .default(''),
  'db.timezone': field
    .parsed(
      field.text({
        doc: 'Time zone of values in columns of type `timestamp` (without time zone)',
        importance: 'MEDIUM',
      }),
      parseTimeZone,
    )
    .prefault('UTC'),
  'quote.sql.identifiers': field
    .oneOf(QUOTE_METHODS, { doc: 'Whether to quote the names of tables and columns in SQL.', importance: 'MEDIUM' })
    .default('always'),
  'sql.quote.identifiers': field
    .boolean({
      doc: "Aiven's key for `quote.sql.identifiers`: `true` is `always`, `false` is `never`. Takes precedence if it is set.",
      importance: 'LOW',
    })
    .optional(),
}
