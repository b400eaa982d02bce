import type { ConnectionKeyOptions } from '../jdbc/connection-keys.ts'

/** The connection keys of connectors that support PostgreSQL only, apart from the parser. */
export const POSTGRES_CONNECTION = {
  urlDoc:
    'URL of the database: `jdbc:postgresql://HOST:PORT/DATABASE?OPTION=VALUE` or `postgresql://HOST:PORT/DATABASE`. ' +
    'Several hosts, separated by commas, are tried in order. Options: `user`, `password`, `sslmode`, `sslrootcert`, ' +
    '`sslcert`, `sslkey` (PEM files), `currentSchema`, `ApplicationName`, `connectTimeout` (s); other options have no effect.',
  dialectNames: ['', 'PostgreSqlDatabaseDialect'],
  dialectDoc: 'Has no effect: only PostgreSQL is supported.',
  timeZoneDoc: 'Time zone of values in columns of type `timestamp` (without time zone)',
} as const satisfies Omit<ConnectionKeyOptions<unknown>, 'parseUrl'>
