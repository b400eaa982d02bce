import { defineSink, RetriableError, type SinkConnector, type SinkContext } from '../../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../../shipped-version.ts'
import { quoteMethodOf } from '../connection-keys.ts'
import { DatabaseError } from '../database-error.ts'
import { quoting } from '../identifier.ts'
import { UTC } from '../time-zone.ts'
import { BatchWriter } from './batch-writer.ts'
import type { SinkConfig, sinkConfig } from './sink-config.ts'
import { tableNaming } from './table-naming.ts'

/** What distinguishes the JDBC sinks: their names, their documentation and the databases that `connection.url` selects. */
export type JdbcSinkOptions = Pick<SinkConnector, 'class' | 'aliases' | 'summary' | 'notes'> & {
  readonly config: ReturnType<typeof sinkConfig>
}

/** Defines a sink that writes topics to tables of a database, with the configuration keys of the JDBC connectors. */
export const defineJdbcSink = (options: JdbcSinkOptions) =>
  defineSink({
    ...options,
    taskClass: 'io.confluent.connect.jdbc.sink.JdbcSinkTask',
    version: SHIPPED_VERSION,
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
}: SinkContext<SinkConfig>): BatchWriter<unknown> {
  const zone = config['db.timezone']
  const database = config['connection.url']
  const quote = quoting(quoteMethodOf(config), database.quote)
  const session = {
    connector,
    user: config['connection.user'],
    password: config['connection.password'],
    applicationName: `weir ${connector}`,
    attempts: config['connection.attempts'],
    backoffMs: config['connection.backoff.ms'],
    quote,
    offsetsTable: config['offsets.table'] === '' ? undefined : config['offsets.table'],
    log,
    access: { files, network },
    signal,
  }
  return new BatchWriter({
    ...config,
    toForm: database.toForm,
    zone,
    dateZone: config['date.timezone'] === 'UTC' ? UTC : zone,
    nullIsDefault: config['replace.null.with.default'],
    insertMode: config['insert.mode'] === 'multi' ? 'insert' : config['insert.mode'],
    rowsMax: config['batch.size'],
    tableOf: tableNaming(config),
    storesOffsets: session.offsetsTable !== undefined,
    autoCreate: config['auto.create'],
    autoEvolve: config['auto.evolve'],
    quote,
    quoteMark: database.quoteMark,
    log,
    refuse: reject,
    openSession: () => database.open(session),
  })
}
