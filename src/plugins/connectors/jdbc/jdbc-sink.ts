import { parseMysqlSinkUrl } from '../mysql/sink/mysql-sink-database.ts'
import { parsePostgresSinkUrl } from '../postgres/sink/postgres-sink-database.ts'
import { JDBC_CONNECTION, urlParser } from './connection-url.ts'
import { JDBC_SINK_DOCUMENTATION } from './documentation.ts'
import { defineJdbcSink } from './sink/define-jdbc-sink.ts'
import { sinkConfig } from './sink/sink-config.ts'
import type { SinkDatabase } from './sink/sink-database.ts'

/** Writes topics to tables of PostgreSQL, MySQL and MariaDB, with the class names and keys of the JDBC connectors. */
export const jdbcSink = defineJdbcSink({
  class: 'JdbcSink',
  aliases: [
    'io.confluent.connect.jdbc.JdbcSinkConnector',
    'JdbcSinkConnector',
    'io.aiven.connect.jdbc.JdbcSinkConnector',
  ],
  summary: 'Writes records to tables of PostgreSQL, MySQL and MariaDB: inserts, upserts, updates and deletes.',
  notes: JDBC_SINK_DOCUMENTATION,
  config: sinkConfig({
    ...JDBC_CONNECTION,
    parseUrl: urlParser<SinkDatabase<unknown>>(parsePostgresSinkUrl, parseMysqlSinkUrl),
  }),
})
