import { plainJson } from '../../../../java-compat/json/connect-json-writer.ts'
import {
  defineSource,
  type SourceConnector,
  type SourceContext,
  type SourceRecord,
  type TaskLog,
} from '../../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../../shipped-version.ts'
import { quoteMethodOf } from '../connection-keys.ts'
import { DatabaseError } from '../database-error.ts'
import { parseTableNames, plainTable, quotedTable, quoting, type TableName } from '../identifier.ts'
import { pause } from '../pause.ts'
import type { TableQuery } from './select-statement.ts'
import { type SourceConfig, type sourceConfig, userQuery } from './source-config.ts'
import type { SourceSession } from './source-database.ts'
import { earlierPartitions, initialOffset, parseOffset, partitionOf } from './table-offset.ts'
import { TableQuerier } from './table-querier.ts'
import { toTableQuery, toUserTableQuery } from './table-query.ts'
import { findDuplicateNames, partitionEvenly, selectTables } from './table-selection.ts'

const SILENT: TaskLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
/** Growing delays between attempts while the server is unavailable. */
const RETRY_MS = { first: 250, max: 10_000 }

type Context = SourceContext<SourceConfig>

/** What distinguishes the JDBC sources: their names, their documentation and the databases that `connection.url` selects. */
export type JdbcSourceOptions = Pick<SourceConnector, 'class' | 'aliases' | 'summary' | 'notes'> & {
  readonly config: ReturnType<typeof sourceConfig>
}

/** Defines a source that reads tables of a database, with the configuration keys and offsets of the JDBC connectors. */
export const defineJdbcSource = (options: JdbcSourceOptions) =>
  defineSource({
    ...options,
    taskClass: 'io.confluent.connect.jdbc.source.JdbcSourceTask',
    version: SHIPPED_VERSION,
    async tasks(config, tasksMax, raw, access) {
      const toTask = (tables: readonly TableName[]) => ({
        ...raw,
        tables: tables.map((table) => quotedTable(table, config['connection.url'].quote)).join(','),
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
    poll: pollTables,
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

/** Reads the tables in turn, until the task stops. Transient errors are retried. */
async function* pollTables(context: Context): AsyncGenerator<readonly SourceRecord[]> {
  const { config, signal } = context
  let session: SourceSession | undefined
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
}

/** Waits until the next table is due, and reads it. */
async function* readOnce(
  session: SourceSession,
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

type ConnectRetry = { readonly attempts: number; readonly backoffMs: number }

function connectRetryOf(config: SourceConfig): ConnectRetry {
  return { attempts: config['connection.attempts'], backoffMs: config['connection.backoff.ms'] }
}

type OpeningContext = Pick<Context, 'connector' | 'config' | 'log' | 'signal' | 'files' | 'network'>

function openSession(
  { connector, config, log, signal, files, network }: OpeningContext,
  retry: ConnectRetry,
): Promise<SourceSession> {
  const isolation = config['transaction.isolation.mode'].replaceAll('_', ' ')
  return config['connection.url'].open({
    user: config['connection.user'],
    password: config['connection.password'],
    applicationName: `weir ${connector}`,
    isolation: isolation === 'DEFAULT' ? undefined : isolation,
    ...retry,
    log,
    access: { files, network },
    signal,
  })
}

async function findTables(session: SourceSession, config: SourceConfig): Promise<readonly TableName[]> {
  const found = await session.listTables({
    types: config['table.types'],
    schemaPattern: config['schema.pattern'] || '%',
    catalog: config['catalog.pattern'],
  })
  const chosen = selectTables(
    found,
    {
      whitelist: config['table.whitelist'],
      blacklist: config['table.blacklist'],
      include: config['table.include.list'],
      exclude: config['table.exclude.list'],
    },
    config['connection.url'].quote,
  )
  const same = findDuplicateNames(chosen)
  if (same.length === 0) return chosen
  throw new Error(
    `several schemas have a table ${same.join(', ')}: topics are named after tables without the schema, so their rows would be mixed. ` +
      'Select one of them by table.whitelist or schema.pattern',
  )
}

async function createQueriers(session: SourceSession, context: Context): Promise<readonly TableQuerier[]> {
  const { config, raw } = context
  const toQuerier = (tableQuery: TableQuery, table: TableName | undefined) =>
    createQuerier(tableQuery, table, session, context)
  if (userQuery(config) !== undefined) return [await toQuerier(toUserTableQuery(config), undefined)]
  const given = raw['tables']
  const mark = config['connection.url'].quoteMark
  const tables = given === undefined ? await findTables(session, config) : parseTableNames(given, mark)
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

async function describeTable(session: SourceSession, table: TableName, config: SourceConfig): Promise<TableQuery> {
  const operation = `read the columns of the table ${plainTable(table)}`
  const columns = await session.readColumns(operation, table)
  if (columns.length === 0) {
    throw new DatabaseError(
      `could not ${operation}: the table does not exist; create it, or correct its name (names are case-sensitive)`,
      { isTransient: false },
    )
  }
  return toTableQuery(table, columns, config)
}

async function createQuerier(
  tableQuery: TableQuery,
  table: TableName | undefined,
  session: SourceSession,
  { config, resumeFrom, log, signal, reject, advance }: Context,
): Promise<TableQuerier> {
  const database = config['connection.url']
  const quote = quoting(quoteMethodOf(config), database.quote)
  const numeric = config['numeric.mapping'] ?? (config['numeric.precision.mapping'] ? 'precision_only' : 'none')
  const zone = config['db.timezone']
  const stored = earlierPartitions(table, database.catalog)
    .map(resumeFrom)
    .find((offset) => offset !== undefined)
  return new TableQuerier(
    tableQuery,
    stored ? parseOffset(stored) : await initialOffset(config, () => session.readClock()),
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
