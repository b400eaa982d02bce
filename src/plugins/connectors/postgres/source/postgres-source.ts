import { defineJdbcSource } from '../../jdbc/source/define-jdbc-source.ts'
import { sourceConfig } from '../../jdbc/source/source-config.ts'
import { POSTGRES_CONNECTION } from '../connection-options.ts'
import { SOURCE_DOCUMENTATION } from './documentation.ts'
import { parsePostgresSourceUrl } from './postgres-source-database.ts'
import { TABLE_TYPES } from './table-catalog.ts'

/** Reads tables of a PostgreSQL database, with the configuration keys and offsets of the JDBC connectors. */
export const postgresSource = defineJdbcSource({
  class: 'PostgresSource',
  summary: 'Writes the rows of PostgreSQL tables, or of a query, to topics, and continues with added and changed rows.',
  notes: SOURCE_DOCUMENTATION,
  config: sourceConfig({
    ...POSTGRES_CONNECTION,
    parseUrl: parsePostgresSourceUrl,
    tableTypes: TABLE_TYPES,
    catalogDoc: 'Has no effect: a connection has access to a single database.',
  }),
})
