import { plainJson } from '../../../../java-compat/json/connect-json-writer.ts'
import { defineSource, type SourceContext, type SourceRecord, type TaskLog } from '../../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../../shipped-version.ts'
import { DatabaseError } from '../../jdbc/database-error.ts'
import { parseTableNames, plainTable, quotedTable, quoting, type TableName } from '../../jdbc/identifier.ts'
import { pause } from '../../jdbc/pause.ts'
import { quoteMethodOf } from '../connection-keys.ts'
import { type ConnectRetry, Session } from '../session.ts'
import { SOURCE_DOCUMENTATION } from './documentation.ts'
import type { TableQuery } from './select-statement.ts'
import { type SourceConfig, sourceConfig, userQuery } from './source-config.ts'
import { earlierPartitions, initialOffset, parseOffset, partitionOf } from './table-offset.ts'
import { TableQuerier } from './table-querier.ts'
import { COLUMNS_SQL, toTableQuery, toUserTableQuery } from './table-query.ts'
import { findDuplicateNames, partitionEvenly, selectTables, TABLE_TYPES, TABLES_SQL } from './table-selection.ts'
import { DECLARE_READER_SQL, readClock } from './upper-bound.ts'

const SILENT: TaskLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
/** Growing delays between attempts while the server is unavailable. */
const RETRY_MS = { first: 250, max: 10_000 }

type Context = SourceContext<SourceConfig>

/** Reads tables of a PostgreSQL database, with the configuration keys and offsets of the JDBC connectors. */
export const postgresSource = defineSource({
  class: 'PostgresSource',
  aliases: [
    'io.confluent.connect.jdbc.JdbcSourceConnector',
    'JdbcSourceConnector',
    'io.aiven.connect.jdbc.JdbcSourceConnector',
  ],
  taskClass: 'io.confluent.connect.jdbc.source.JdbcSourceTask',
  version: SHIPPED_VERSION,
  summary: 'Writes the rows of PostgreSQL tables, or of a query, to topics, and continues with added and changed rows.',
  notes: SOURCE_DOCUMENTATION,
  config: sourceConfig,
  async tasks(config, tasksMax, raw, access) {
    const toTask = (tables: readonly TableName[]) => ({
      ...raw,
      tables: tables.map((table) => quotedTable(table)).join(','),
      'tables.fetched': 'true',
    })
    if (userQuery(config) !== undefined) return [toTask([])]
    const stopping = new AbortController()
    const context = { connector: raw['name'] ?? 'weir', log: SILENT, signal: stopping.signal, config, ...access }
    await using session = await openSession(context, connectRetryOf(config))
    const tables = await findTables(session, config)
    return tables.length === 0 ? [toTask([])] : partitionEvenly(tables, tasksMax).map(toTask)
  },
  tasksAgainMs: (config) => (userQuery(config) === undefined ? config['table.poll.interval.ms'] : undefined),
  async *poll(context) {
    const { config, signal } = context
    let session: Session | undefined
    let queriers: readonly TableQuerier[] | undefined
    let failures = 0
    try {
      while (!signal.aborted) {
        try {
          // After the first connection the attempts are unlimited; before it the address may be wrong.
          session = session?.isOpen
            ? session
            : await openSession(context, queriers ? { attempts: 1, backoffMs: 0 } : connectRetryOf(config))
          queriers ??= await createQueriers(session, context)
          for await (const batch of readOnce(session, queriers, context)) {
            failures = 0
            yield batch
          }
        } catch (error) {
          if (signal.aborted) return
          failures += 1
          await session?.close()
          const waitMs = retryWaitMs(error, failures, config, queriers !== undefined)
          context.log.warn({ err: error, waitMs }, 'cannot read from the database; retrying')
          yield []
          await pause(waitMs, signal)
        }
      }
    } finally {
      await session?.close()
    }
  },
  alterOffsets(_config, offsets) {
    for (const { partition, offset } of offsets) {
      if (typeof partition['table'] !== 'string' && partition['query'] !== 'query') {
        throw new Error(
          `the partition of an offset must be {"protocol":"1","table":"SCHEMA.TABLE"} or {"query":"query"}, not ${plainJson(partition)}`,
        )
      }
      if (offset !== null) parseOffset(offset)
    }
  },
})

/** Waits until the next table is due, and reads it. */
async function* readOnce(
  session: Session,
  queriers: readonly TableQuerier[],
  { config, signal }: Context,
): AsyncGenerator<readonly SourceRecord[]> {
  const next = queriers.reduce((first, querier) => (querier.dueMs < first.dueMs ? querier : first))
  const waitMs = next.dueMs - performance.now()
  if (waitMs > 0) {
    yield []
    await pause(waitMs, signal)
  }
  if (signal.aborted) return
  yield* next.read(session)
  next.dueMs = performance.now() + config['poll.interval.ms']
}

/**
 * Returns the delay before the next attempt, in ms. Rethrows permanent errors, and errors after `query.retry.attempts`.
 */
function retryWaitMs(error: unknown, failures: number, config: SourceConfig, wasConnected: boolean): number {
  const attempts = config['query.retry.attempts']
  const isExhausted = attempts >= 0 && failures > attempts
  if (!(error instanceof DatabaseError) || !error.isTransient || !wasConnected || isExhausted) throw error
  return Math.min(RETRY_MS.max, RETRY_MS.first * 2 ** (failures - 1))
}

function connectRetryOf(config: SourceConfig): ConnectRetry {
  return { attempts: config['connection.attempts'], backoffMs: config['connection.backoff.ms'] }
}

type OpeningContext = Pick<Context, 'connector' | 'config' | 'log' | 'signal' | 'files' | 'network'>

function openSession(
  { connector, config, log, signal, files, network }: OpeningContext,
  retry: ConnectRetry,
): Promise<Session> {
  const isolation = config['transaction.isolation.mode'].toLowerCase().replaceAll('_', ' ')
  const isolationSql = `SET default_transaction_isolation = '${isolation}'; `
  const options = {
    url: config['connection.url'],
    user: config['connection.user'],
    password: config['connection.password'],
    applicationName: `weir ${connector}`,
    setup: `${isolation === 'default' ? '' : isolationSql}${DECLARE_READER_SQL}`,
    log,
    access: { files, network },
    signal,
  }
  return Session.open(options, retry)
}

async function findTables(session: Session, config: SourceConfig): Promise<readonly TableName[]> {
  const kinds = `{${config['table.types'].map((type) => TABLE_TYPES[type]).join(',')}}`
  const rows = await session.query('list tables', TABLES_SQL, [kinds, config['schema.pattern'] || '%'])
  const chosen = selectTables(
    rows.map(([schema, name]) => ({ schema: schema!, name: name! })),
    {
      whitelist: config['table.whitelist'],
      blacklist: config['table.blacklist'],
      include: config['table.include.list'],
      exclude: config['table.exclude.list'],
    },
  )
  const same = findDuplicateNames(chosen)
  if (same.length === 0) return chosen
  throw new Error(
    `several schemas have a table ${same.join(', ')}: topics are named after tables without the schema, so their rows would be mixed. ` +
      'Select one of them by table.whitelist or schema.pattern',
  )
}

async function createQueriers(session: Session, context: Context): Promise<readonly TableQuerier[]> {
  const { config, raw } = context
  const toQuerier = (tableQuery: TableQuery, table: TableName | undefined) =>
    createQuerier(tableQuery, table, session, context)
  if (userQuery(config) !== undefined) return [await toQuerier(toUserTableQuery(config), undefined)]
  const given = raw['tables']
  const tables = given === undefined ? await findTables(session, config) : parseTableNames(given)
  if (tables.length === 0) {
    throw new Error(
      `there is no table to read: no table that the role can see matches ${describeSelection(config)}. ` +
        'Names are case-sensitive; new tables are detected automatically',
    )
  }
  const queriers: TableQuerier[] = []
  for (const table of tables) queriers.push(await toQuerier(await describeTable(session, table, config), table))
  return queriers
}

function describeSelection(config: SourceConfig): string {
  const keys = [
    'table.whitelist',
    'table.blacklist',
    'table.include.list',
    'table.exclude.list',
    'table.types',
  ] as const
  const chosenKeys = keys.filter((key) => config[key].length > 0).map((key) => `${key}=${config[key].join(',')}`)
  return [...chosenKeys, `schema.pattern=${config['schema.pattern']}`].join(', ')
}

async function describeTable(session: Session, table: TableName, config: SourceConfig): Promise<TableQuery> {
  const operation = `read the columns of the table ${plainTable(table)}`
  const rows = await session.query(operation, COLUMNS_SQL, [quotedTable(table)])
  if (rows.length === 0) {
    throw new DatabaseError(
      `could not ${operation}: the table does not exist; create it, or correct its name (names are case-sensitive)`,
      { isTransient: false },
    )
  }
  const columns = rows.map(([name, notNull, isGenerated]) => ({
    name: name!,
    notNull: notNull === 't',
    isGenerated: isGenerated === 't',
  }))
  return toTableQuery(table, columns, config)
}

async function createQuerier(
  tableQuery: TableQuery,
  table: TableName | undefined,
  session: Session,
  { config, resumeFrom, log, signal, reject, advance }: Context,
): Promise<TableQuerier> {
  const quote = quoting(quoteMethodOf(config))
  const numeric = config['numeric.mapping'] ?? (config['numeric.precision.mapping'] ? 'precision_only' : 'none')
  const zone = config['db.timezone']
  const stored = earlierPartitions(table, config['connection.url'].database)
    .map(resumeFrom)
    .find((offset) => offset !== undefined)
  return new TableQuerier(
    tableQuery,
    stored ? parseOffset(stored) : await initialOffset(config, () => readClock(session)),
    stored !== undefined,
    {
      topic: `${config['topic.prefix']}${table?.name ?? ''}`,
      sourcePartition: config.mode === 'bulk' && table !== undefined ? { table: table.name } : partitionOf(table),
      rowsMax: config['batch.max.rows'],
      quote,
      zone,
      mapping: { numeric, granularity: config['timestamp.granularity'], zone },
      visibility: {
        delayMs: config['timestamp.delay.interval.ms'],
        transactionsWaitMs: config['transactions.wait.ms'],
        quote,
      },
      reject,
      advance,
      log,
      signal,
    },
  )
}
