import type { SourceContext, SourceRecord, Position as StoredOffset } from '../../../../sdk/index.ts'
import { HeartbeatSchedule } from '../../cdc/events/heartbeat-schedule.ts'
import type { MysqlSession, MysqlSessionOptions } from '../session.ts'
import { textLiteral } from '../sql-literal.ts'
import { type BinlogStart, BinlogStream } from './binlog/binlog-stream.ts'
import { ChangeProcessor, type ChangeProcessorOptions } from './change-processor.ts'
import type { MysqlCdcConfig } from './config/mysql-cdc-config.ts'
import type { MysqlServerState } from './mysql-server-state.ts'
import type { BinlogPosition } from './position.ts'
import type { TableId } from './table-model.ts'

export type MysqlChangeStreamOptions = Omit<
  ChangeProcessorOptions,
  'isMariadb' | 'isSequence' | 'includesQuery' | 'includesSchemaChanges' | 'storesOnlyCaptured' | 'log'
> & {
  readonly context: Pick<SourceContext<MysqlCdcConfig>, 'config' | 'advance' | 'reportLag' | 'log'>
  /** For `heartbeat.action.query`. */
  readonly session: MysqlSession
  readonly sessionOptions: MysqlSessionOptions
  readonly state: MysqlServerState
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
  const processor = new ChangeProcessor({
    ...options,
    isMariadb,
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
    const isIdle = events.some(({ data }) => data.kind === 'heartbeat')
    const ms = isIdle || processor.timeUs === 0n ? 0 : Math.max(0, Date.now() - Number(processor.timeUs / 1000n))
    context.reportLag({ ms, bytes: 0, retainedBytes: 0 })
    yield records
  }
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
