import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { plainJson } from '../../../../java-compat/json/connect-json-writer.ts'
import {
  type ConfigProblem,
  defineSource,
  type SourceContext,
  type SourceRecord,
  type TaskContext,
  type TaskLog,
  type ValidationUse,
} from '../../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../../shipped-version.ts'
import { cdcPartition } from '../../cdc/cdc-partition.ts'
import { initialStatements } from '../../cdc/config/connection-texts.ts'
import { asRetriableError } from '../../cdc/retriable-database-error.ts'
import { decideSnapshot, type SnapshotDecision } from '../../cdc/snapshot/snapshot-mode.ts'
import { DatabaseError } from '../../jdbc/database-error.ts'
import { pause } from '../../jdbc/pause.ts'
import { MysqlSession, type MysqlSessionOptions } from '../session.ts'
import {
  captureFilter,
  type MysqlCdcConfig,
  mysqlCdcConfig,
  mysqlEventSettings,
  mysqlOtherKeys,
  mysqlValueSettings,
} from './config/mysql-cdc-config.ts'
import { MYSQL_KEY_NAMES, mysqlUrlOf } from './config/mysql-database-keys.ts'
import { TableSchemas } from './ddl/table-schemas.ts'
import { MysqlEventWriter } from './events/mysql-event-writer.ts'
import type { MysqlFlavor } from './events/mysql-source-block.ts'
import { SchemaHistory } from './history/schema-history.ts'
import { MYSQL_CDC_DOCUMENTATION } from './mysql-cdc-documentation.ts'
import { streamMysqlChanges } from './mysql-change-stream.ts'
import { hasPosition, type MysqlServerState, readMysqlServerState, withGtids } from './mysql-server-state.ts'
import { type MysqlOffset, parseMysqlOffset } from './position.ts'
import { takeSnapshot } from './snapshot/mysql-snapshot.ts'
import { MysqlColumnTypes } from './values/mysql-column-types.ts'

type Context = SourceContext<MysqlCdcConfig>
type SessionContext = Pick<TaskContext<MysqlCdcConfig>, 'connector' | 'config' | 'log' | 'signal' | 'files' | 'network'>

const NAMES = { mysql: ['Mysql', 'MySql', 'MySQL'], mariadb: ['Mariadb', 'MariaDb', 'MariaDB'] } as const

/** Defines the source for one of both servers: they differ in the names of classes and schemas. */
export function defineMysqlCdcSource(flavor: MysqlFlavor) {
  const [name, className, product] = NAMES[flavor]
  const javaClass = `io.debezium.connector.${flavor}.${className}Connector`
  return defineSource({
    class: `${name}CdcSource`,
    aliases: [javaClass, `${className}Connector`],
    taskClass: `${javaClass}Task`,
    version: SHIPPED_VERSION,
    summary: `Writes the changes of the rows of ${product} tables to topics, as Debezium does.`,
    notes: MYSQL_CDC_DOCUMENTATION,
    config: mysqlCdcConfig,
    otherKeys: mysqlOtherKeys,
    async *poll(context) {
      try {
        yield* capture(context, flavor)
      } catch (error) {
        if (context.signal.aborted) return
        throw asRetriableError(error, context.config)
      }
    },
    validate: validateServer,
    alterOffsets(config, offsets) {
      for (const { partition, offset } of offsets) {
        const expected = cdcPartition(config['topic.prefix'])
        if (Object.keys(partition).length !== 1 || partition['server'] !== expected['server']) {
          throw new Error(`the partition of an offset must be ${plainJson(expected)}, not ${plainJson(partition)}`)
        }
        if (offset !== null) parseMysqlOffset(offset)
      }
    },
  })
}

async function* capture(context: Context, flavor: MysqlFlavor): AsyncGenerator<readonly SourceRecord[]> {
  const { config, log } = context
  const sessionOptions = sessionOptionsOf(context)
  const openSession = () => openDatabaseSession(sessionOptions, config)
  const queryTimeoutMs = config['database.query.timeout.ms']
  const queryOptions = { ...sessionOptions, url: { ...sessionOptions.url, queryTimeoutMs } }
  await using session = await openDatabaseSession(queryOptions, config)
  const state = await readMysqlServerState(session)
  const problem = state.problem ?? readOnlyProblem(config, state)
  if (problem !== undefined) throw new DatabaseError(problem, { isTransient: false })
  const partition = cdcPartition(config['topic.prefix'])
  const raw = context.resumeFrom(partition)
  const stored = raw === undefined ? undefined : parseMysqlOffset(raw)
  const decision = await decisionOf(config, session, state, stored)
  const schemas = new TableSchemas({ hasLowerCaseNames: state.hasLowerCaseNames, serverCharset: state.charset })
  const history = new SchemaHistory({
    topic: config['schema.history.internal.kafka.topic'],
    bootstrapServers: config['schema.history.internal.kafka.bootstrap.servers'],
    server: config['topic.prefix'],
    openTopic: context.openTopic,
    report: context.report,
    log,
  })
  const writer = new MysqlEventWriter({
    flavor,
    settings: mysqlEventSettings(config),
    types: new MysqlColumnTypes(mysqlValueSettings(config)),
    version: SHIPPED_VERSION,
    taskId: String(context.task),
    runId: randomUUID(),
    nowUs: () => BigInt(Date.now()) * 1000n,
  })
  const filter = captureFilter(config)
  const common = { context, partition, openSession, state, filter, schemas, history, writer }
  let start = stored === undefined ? undefined : await withGtids(session, state, stored.position)
  if (decision.data !== 'none' || start === undefined) {
    if (decision.data !== 'none') await delaySnapshot(context)
    start = yield* takeSnapshot({ ...common, readsRows: decision.data !== 'none' })
  } else if (config['snapshot.mode'] === 'recovery') {
    yield* takeSnapshot({ ...common, readsRows: false, historyPosition: start })
  } else if ((await history.recover(schemas, start, state)) === 0) {
    throw new Error(
      `the schema history ${config['schema.history.internal.kafka.topic']} has no records of ${config['topic.prefix']}, but an offset is stored: ` +
        'restore the topic, or write it anew with snapshot.mode=recovery if no table was altered since, or delete the offsets',
    )
  }
  if (!decision.streams) {
    log.info({}, 'no changes follow the snapshot, because of snapshot.mode')
    yield []
    if (!context.signal.aborted) await once(context.signal, 'abort')
    return
  }
  const openSessionWith = (options: MysqlSessionOptions) => openDatabaseSession(options, config)
  const stream = { session, sessionOptions: queryOptions, openSessionWith, start, storedState: raw ?? {} }
  yield* streamMysqlChanges({ ...common, ...stream })
}

/** Without GTIDs and without a change in the signal table, MySQL does not say which transactions are visible. */
function readOnlyProblem(config: MysqlCdcConfig, { hasGtids }: MysqlServerState): string | undefined {
  if (!config['read.only'] || hasGtids) return undefined
  return 'read.only=true needs GTIDs: set gtid_mode=ON of the server, or remove the key'
}

async function decisionOf(
  config: MysqlCdcConfig,
  session: MysqlSession,
  state: MysqlServerState,
  stored: MysqlOffset | undefined,
): Promise<SnapshotDecision> {
  const mode = config['snapshot.mode']
  const isPositionAvailable = stored === undefined || (await hasPosition(session, state, stored.position))
  const found = stored === undefined ? 'none' : stored.isInSnapshot ? 'snapshot' : 'stream'
  const none = { snapshotsData: false, startsStream: true, snapshotsOnDataError: false }
  const decided = decideSnapshot(mode === 'recovery' ? 'no_data' : mode, { stored: found, isPositionAvailable }, none)
  if (decided.data === 'none' && !isPositionAvailable && decided.streams) {
    throw new DatabaseError(
      `the server has no binary log at the stored position ${stored?.position.file}:${stored?.position.position} any more, so changes are lost: ` +
        'set snapshot.mode=when_needed to read the rows again, and keep the log longer (binlog_expire_logs_seconds)',
      { isTransient: false },
    )
  }
  return decided
}

async function delaySnapshot({ config, log, signal }: Context): Promise<void> {
  const delayMs = config['snapshot.delay.ms']
  if (delayMs === 0) return
  log.info({ delayMs }, 'waiting because of snapshot.delay.ms')
  await pause(delayMs, signal)
}

function sessionOptionsOf(context: SessionContext): MysqlSessionOptions {
  const { connector, config, log, signal, files, network } = context
  return {
    url: mysqlUrlOf(config),
    user: config['database.user'],
    password: config['database.password'],
    applicationName: `weir ${connector}`,
    keyNames: MYSQL_KEY_NAMES,
    log,
    access: { files, network },
    signal,
  }
}

function openDatabaseSession(options: MysqlSessionOptions, config: MysqlCdcConfig): Promise<MysqlSession> {
  const setup = initialStatements(config['database.initial.statements'])
  return MysqlSession.open({ ...options, setup }, { attempts: 1, backoffMs: 0 })
}

const SILENT: TaskLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
/** A server that does not answer is reported before the validation itself ends, so that the report has a key. */
const CONNECT_TIMEOUT_MS_MAX = 5_000
/** `ER_ACCESS_DENIED_ERROR` and that of an account without the right plugin. */
const LOGIN_ERRORS: ReadonlySet<number | undefined> = new Set([1045, 1698])

/** Connects to the server, and returns what a start would refuse. Nothing is changed. */
async function validateServer(config: MysqlCdcConfig, use: ValidationUse): Promise<readonly ConfigProblem[]> {
  try {
    const options = sessionOptionsOf({ connector: 'validation', config, log: SILENT, ...use })
    const connectTimeoutMs = Math.min(options.url.connectTimeoutMs, CONNECT_TIMEOUT_MS_MAX)
    await using session = await openDatabaseSession({ ...options, url: { ...options.url, connectTimeoutMs } }, config)
    const { problem } = await readMysqlServerState(session)
    return problem === undefined ? [] : [{ key: 'database.hostname', message: problem }]
  } catch (error) {
    if (use.signal.aborted) {
      const message = 'the database did not answer in time; check that the server is reachable from this worker'
      return [{ key: 'database.hostname', message }]
    }
    if (!(error instanceof DatabaseError)) throw error
    const key = LOGIN_ERRORS.has(error.errno) ? 'database.user' : 'database.hostname'
    return [{ key, message: error.message }]
  }
}
