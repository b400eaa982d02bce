import { defineSink, RetriableError, type SinkContext } from '../../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../../shipped-version.ts'
import { DatabaseError } from '../../jdbc/database-error.ts'
import { quoting } from '../../jdbc/identifier.ts'
import { UTC } from '../../jdbc/time-zone.ts'
import { quoteMethodOf } from '../connection-keys.ts'
import { Session } from '../session.ts'
import { BatchWriter } from './batch-writer.ts'
import { SINK_DOCUMENTATION } from './documentation.ts'
import { type SinkConfig, sinkConfig } from './sink-config.ts'

/** Writes topics to tables of a PostgreSQL database, with the configuration keys of the JDBC connectors. */
export const postgresSink = defineSink({
  class: 'PostgresSink',
  aliases: [
    'io.confluent.connect.jdbc.JdbcSinkConnector',
    'JdbcSinkConnector',
    'io.aiven.connect.jdbc.JdbcSinkConnector',
  ],
  taskClass: 'io.confluent.connect.jdbc.sink.JdbcSinkTask',
  version: SHIPPED_VERSION,
  summary: 'Writes records to PostgreSQL tables: inserts, upserts, updates and deletes.',
  notes: SINK_DOCUMENTATION,
  config: sinkConfig,
  async start(context) {
    const writer = createWriter(context)
    await writer.start()
    let failures = 0
    return {
      readsAhead: true,
      open: async (partitions) => writer.positions(partitions),
      async put(records) {
        await writer.write(records).catch((error: unknown) => {
          failures += 1
          throw asRetriable(error, failures, context.config)
        })
        failures = 0
      },
      stop: () => writer.close(),
    }
  },
})

/** Makes transient errors retriable until `max.retries` is reached. */
function asRetriable(error: unknown, failures: number, config: SinkConfig): unknown {
  if (!(error instanceof DatabaseError) || !error.isTransient || failures > config['max.retries']) return error
  return new RetriableError(error.message, { cause: error, retryAfterMs: config['retry.backoff.ms'] })
}

function createWriter({
  connector,
  config,
  log,
  signal,
  reject,
  files,
  network,
}: SinkContext<SinkConfig>): BatchWriter {
  const zone = config['db.timezone']
  const patience = { attempts: config['connection.attempts'], backoffMs: config['connection.backoff.ms'] }
  const session = {
    url: config['connection.url'],
    user: config['connection.user'],
    password: config['connection.password'],
    applicationName: `weir ${connector}`,
    pipeline: true,
    log,
    access: { files, network },
    signal,
  }
  return new BatchWriter({
    ...config,
    connector,
    zone,
    dateZone: config['date.timezone'] === 'UTC' ? UTC : zone,
    nullIsDefault: config['replace.null.with.default'],
    insertMode: config['insert.mode'] === 'multi' ? 'insert' : config['insert.mode'],
    rowsMax: config['batch.size'],
    tableOf: tableNaming(config),
    offsetsTable: config['offsets.table'] === '' ? undefined : config['offsets.table'],
    autoCreate: config['auto.create'],
    autoEvolve: config['auto.evolve'],
    quote: quoting(quoteMethodOf(config)),
    log,
    refuse: reject,
    openSession: () => Session.open(session, patience),
  })
}

type NamingKeys = Pick<SinkConfig, 'table.name.format' | 'table.name.normalize' | 'topics.to.tables.mapping'>

/** Returns the table for a topic. If a mapping is configured, topics that are missing from it have no table. */
export function tableNaming(config: NamingKeys): (topic: string) => string {
  const { 'table.name.format': format, 'topics.to.tables.mapping': mapping } = config
  return (topic) => {
    if (mapping.size > 0) {
      const table = mapping.get(topic)
      if (table !== undefined) return table
      throw new Error(`topics.to.tables.mapping has no entry for the topic '${topic}': add ${topic}:TABLE`)
    }
    const name = format.replaceAll('${topic}', topic)
    return config['table.name.normalize'] ? name.replace(/[^A-Za-z0-9_]/g, '_') : name
  }
}
