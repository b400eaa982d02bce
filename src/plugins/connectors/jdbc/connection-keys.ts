import { field } from '../../../sdk/index.ts'
import { QUOTE_METHODS, type QuoteMethod } from './identifier.ts'
import { parseTimeZone } from './time-zone.ts'

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

/** What the connection keys of a connector accept. */
export type ConnectionKeyOptions<Database> = {
  /** Parses the value of `connection.url`. Throws an `Error` that does not repeat it. */
  readonly parseUrl: (text: string) => Database
  readonly urlDoc: string
  readonly dialectNames: readonly ['', ...string[]]
  readonly dialectDoc: string
  readonly timeZoneDoc: string
}

/** Configuration keys shared by the source and the sink. */
export const connectionKeys = <Database>(options: ConnectionKeyOptions<Database>) => ({
  'connection.url': field.parsed(
    field.text({ reaches: 'url', doc: options.urlDoc, importance: 'HIGH', group }),
    options.parseUrl,
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
  'dialect.name': field.oneOf(options.dialectNames, { doc: options.dialectDoc, importance: 'LOW', group }).default(''),
  'db.timezone': field
    .parsed(field.text({ doc: options.timeZoneDoc, importance: 'MEDIUM' }), parseTimeZone)
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
})
