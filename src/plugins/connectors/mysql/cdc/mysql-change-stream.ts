import type { SourceContext, SourceRecord, Position as StoredOffset } from '../../../../sdk/index.ts'
import { HeartbeatSchedule } from '../../cdc/events/heartbeat-schedule.ts'
import type { ServerAddress } from '../open-socket.ts'
import type { MysqlSession, MysqlSessionOptions } from '../session.ts'
import { textLiteral } from '../sql-literal.ts'
import { type BinlogStart, BinlogStream } from './binlog/binlog-stream.ts'
import { ChangeProcessor, type ChangeProcessorOptions } from './change-processor.ts'
import type { MysqlCdcConfig } from './config/mysql-cdc-config.ts'
import type { MysqlServerState } from './mysql-server-state.ts'
import type { BinlogPosition } from './position.ts'
import { type RequestedMysqlSnapshotOptions, RequestedMysqlSnapshots } from './snapshot/requested-mysql-snapshots.ts'
import type { TableId } from './table-model.ts'
import { TransactionTracker } from './transaction-tracker.ts'

export type MysqlChangeStreamOptions = Omit<
  ChangeProcessorOptions,
  'tracker' | 'snapshots' | 'isSequence' | 'includesQuery' | 'includesSchemaChanges' | 'storesOnlyCaptured' | 'log'
> &
  Omit<RequestedMysqlSnapshotOptions, 'tracker' | 'openStreamSession' | 'serverNumber' | 'requestPosition'> & {
    readonly context: Pick<SourceContext<MysqlCdcConfig>, 'reportLag'>
    /** For `heartbeat.action.query`. */
    readonly session: MysqlSession
    readonly sessionOptions: MysqlSessionOptions
    /** Opens a session for queries. */
    readonly openSessionWith: (options: MysqlSessionOptions) => Promise<MysqlSession>
  }

/** While there are no changes, the server sends messages in this part of `connect.keep.alive.interval.ms`. */
const HEARTBEAT_FACTOR = 0.8

/** Yields the records of changes, and empty batches with the position that was reached. */
export async function* streamMysqlChanges(options: MysqlChangeStreamOptions): AsyncGenerator<readonly SourceRecord[]> {
  const { context, session, sessionOptions, state, start, partition, writer } = options
  const { config, log } = context
  const { isMariadb } = state
  const sql = config['heartbeat.action.query']
  const intervalMs = config['heartbeat.interval.ms']
  const keepAliveMs = Math.round(config['connect.keep.alive.interval.ms'] * HEARTBEAT_FACTOR)
  await using stream = await BinlogStream.open({
    session: sessionOptions,
    isMariadb,
    serverId: config['database.server.id'],
    start: startOf(start, state),
    hasChecksum: state.hasChecksum,
    includesStatements: config['include.query'],
    // Heartbeats of the connector are sent on those of the server while there are no changes.
    heartbeatMs: intervalMs > 0 ? Math.min(intervalMs, keepAliveMs) : keepAliveMs,
  })
  log.info({ file: start.file, position: start.position, gtids: start.gtids }, 'reading the binary log')
  const tracker = new TransactionTracker(start, isMariadb)
  await using snapshots = await RequestedMysqlSnapshots.open({
    ...options,
    tracker,
    openStreamSession: () => options.openSessionWith(onServer(sessionOptions, stream.address)),
    serverNumber: () => stream.serverNumber,
    requestPosition: () => stream.requestPosition(),
  })
  const processor = new ChangeProcessor({
    ...options,
    tracker,
    snapshots,
    isSequence: (id) => isSequence(session, id),
    includesQuery: config['include.query'],
    includesSchemaChanges: config['include.schema.changes'],
    storesOnlyCaptured: config['schema.history.internal.store.only.captured.tables.ddl'],
    log,
  })
  const heartbeat = new HeartbeatSchedule({
    intervalMs,
    executeQuery: sql === '' ? undefined : () => session.query('execute heartbeat.action.query', sql),
    log,
  })
  let advanced = ''
  for await (const events of stream.read()) {
    const processed = await processor.process(events)
    const { offset } = processor
    const records = heartbeat.isDue() ? [...processed, writer.heartbeat(offset)] : processed
    const reached = JSON.stringify(offset.sourceOffset)
    if (!processor.isInTransaction && reached !== advanced) {
      context.advance(partition, offset.sourceOffset as StoredOffset)
      advanced = reached
    }
    const isIdle = events.length === 0 || events.some(({ data }) => data.kind === 'heartbeat')
    const ms = isIdle || processor.timeUs === 0n ? 0 : Math.max(0, Date.now() - Number(processor.timeUs / 1000n))
    context.reportLag({ ms, bytes: 0, retainedBytes: 0 })
    yield records
    if (!processor.isInTransaction) yield* snapshots.records(processor.position)
  }
}

/** Another session on the server of the stream, whose positions have no meaning on others. */
function onServer(options: MysqlSessionOptions, address: ServerAddress): MysqlSessionOptions {
  return 'path' in address ? options : { ...options, url: { ...options.url, hosts: [address] } }
}

function startOf({ file, position, gtids }: BinlogPosition, { hasGtids }: MysqlServerState): BinlogStart {
  return hasGtids && gtids !== undefined ? { kind: 'gtids', gtids } : { kind: 'position', file, position }
}

async function isSequence(session: MysqlSession, { schema, name }: TableId): Promise<boolean> {
  const condition = `table_schema = ${textLiteral(schema)} AND table_name = ${textLiteral(name)}`
  const [[type] = []] = await session.query(
    'read the type of a table',
    `SELECT table_type FROM information_schema.tables WHERE ${condition}`,
  )
  return type === 'SEQUENCE'
}
