import { defineJdbcSink } from '../../jdbc/sink/define-jdbc-sink.ts'
import { sinkConfig } from '../../jdbc/sink/sink-config.ts'
import { POSTGRES_CONNECTION } from '../connection-options.ts'
import { SINK_DOCUMENTATION } from './documentation.ts'
import { parsePostgresSinkUrl } from './postgres-sink-database.ts'

/** Writes topics to tables of a PostgreSQL database, with the configuration keys of the JDBC connectors. */
export const postgresSink = defineJdbcSink({
  class: 'PostgresSink',
  summary: 'Writes records to PostgreSQL tables: inserts, upserts, updates and deletes.',
  notes: SINK_DOCUMENTATION,
  config: sinkConfig({ ...POSTGRES_CONNECTION, parseUrl: parsePostgresSinkUrl }),
})
