import type { ConnectionKeyOptions } from './connection-keys.ts'

type Parse<Database> = (text: string) => Database

/**
 * Selects the parser of a URL by its database. Throws an `Error` for other databases, which does not repeat the URL, because it may
 * contain a password.
 */
export function urlParser<Database>(parsePostgres: Parse<Database>, parseMysql: Parse<Database>): Parse<Database> {
  return (text) => {
    const [, name] = /^(?:jdbc:)?([a-z\d]+):/i.exec(text.trim()) ?? []
    switch (name?.toLowerCase()) {
      case 'mysql':
      case 'mariadb':
        return parseMysql(text)
      case 'postgresql':
      case 'postgres':
        return parsePostgres(text)
      default:
        throw new Error(
          'connection.url is not the URL of a PostgreSQL, MySQL or MariaDB database: expected jdbc:postgresql://…, jdbc:mysql://… or ' +
            'jdbc:mariadb://…',
        )
    }
  }
}

/** The connection keys of connectors that support all databases, apart from the parser. */
export const JDBC_CONNECTION = {
  urlDoc:
    'URL of the database: `jdbc:postgresql://HOST:PORT/DATABASE?OPTION=VALUE`, `jdbc:mysql://…` or `jdbc:mariadb://…`. ' +
    'Several hosts, separated by commas, are tried in order.',
  dialectNames: ['', 'PostgreSqlDatabaseDialect', 'MySqlDatabaseDialect'],
  dialectDoc: 'Has no effect: `connection.url` selects the database.',
  timeZoneDoc: 'Time zone of values in columns of type `timestamp` of PostgreSQL and `datetime` of MySQL and MariaDB.',
} as const satisfies Omit<ConnectionKeyOptions<unknown>, 'parseUrl'>
