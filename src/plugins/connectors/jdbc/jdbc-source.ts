import { parseMysqlSourceUrl } from '../mysql/source/mysql-source-database.ts'
import { parsePostgresSourceUrl } from '../postgres/source/postgres-source-database.ts'
import { TABLE_TYPES } from '../postgres/source/table-catalog.ts'
import { JDBC_CONNECTION, urlParser } from './connection-url.ts'
import { JDBC_SOURCE_DOCUMENTATION } from './documentation.ts'
import { defineJdbcSource } from './source/define-jdbc-source.ts'
import { sourceConfig } from './source/source-config.ts'

/** Reads tables of PostgreSQL, MySQL and MariaDB, with the class names, keys and offsets of the JDBC connectors. */
export const jdbcSource = defineJdbcSource({
  class: 'JdbcSource',
  aliases: [
    'io.confluent.connect.jdbc.JdbcSourceConnector',
    'JdbcSourceConnector',
    'io.aiven.connect.jdbc.JdbcSourceConnector',
  ],
  summary:
    'Writes the rows of tables of PostgreSQL, MySQL and MariaDB, or of a query, to topics, and continues with added and changed rows.',
  notes: JDBC_SOURCE_DOCUMENTATION,
  config: sourceConfig({
    ...JDBC_CONNECTION,
    parseUrl: urlParser(parsePostgresSourceUrl, parseMysqlSourceUrl),
    // Those of PostgreSQL include those of MySQL and MariaDB.
    tableTypes: TABLE_TYPES,
    catalogDoc: 'Database of MySQL or MariaDB whose tables are read. Default: that of `connection.url`.',
  }),
})
