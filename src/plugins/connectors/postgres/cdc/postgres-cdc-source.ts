import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { plainJson } from '../../../../java-compat/json/connect-json-writer.ts'
import {
  defineSource,
  type Position,
  type SourceContext,
  type SourceRecord,
  type TaskLog,
} from '../../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../../shipped-version.ts'
import { cdcPartition } from '../../cdc/cdc-partition.ts'
import { eventSettings } from '../../cdc/config/event-keys.ts'
import { asRetriableError } from '../../cdc/retriable-database-error.ts'
import type { SnapshotDecision } from '../../cdc/snapshot/snapshot-mode.ts'
import { Session, type SessionOptions } from '../session.ts'
import { type ChangeStreamOptions, streamChanges } from './change-stream.ts'
import type { Table } from './changes/change.ts'
import type { CaptureFilter } from './config/capture-filter.ts'
import { type CdcConfig, cdcConfig } from './config/cdc-config.ts'
import { cdcOtherKeys } from './config/other-keys.ts'
import { valueSettings } from './config/value-keys.ts'
import { databaseSessionOptions, openDatabaseSession } from './database-session.ts'
import { CDC_DOCUMENTATION } from './documentation.ts'
import { PostgresEventWriter } from './events/postgres-event-writer.ts'
import { ToastReselect } from './events/toast-reselect.ts'
import { type CdcOffset, parseCdcOffset } from './offset.ts'
import { type PreparedStart, prepareStart } from './replication/prepare-start.ts'
import { publishesRoot } from './replication/publication.ts'
import { readServerHistory, type ServerHistory } from './replication/server-history.ts'
import { createSlot, dropSlot } from './replication/slot.ts'
import { openRequestedSnapshots } from './snapshot/requested-snapshots.ts'
import { withoutSnapshotKeys } from './snapshot/snapshot-offset.ts'
import { delay, readsRowsOf, snapshotDecisionOf, toleratesLostPosition } from './snapshot/snapshot-phase.ts'
import { snapshotRecords } from './snapshot/snapshot-records.ts'
import { SnapshotView } from './snapshot/snapshot-view.ts'
import { validateDatabase } from './validate-database.ts'
import { ColumnTypes } from './values/column-types.ts'

type Context = SourceContext<CdcConfig>

/** Writes the changes of PostgreSQL tables to topics, with the configuration keys, events and offsets of Debezium. */
export const postgresCdcSource = defineSource({
  class: 'PostgresCdcSource',
  aliases: ['io.debezium.connector.postgresql.PostgresConnector', 'PostgresConnector'],
  taskClass: 'io.debezium.connector.postgresql.PostgresConnectorTask',
  version: SHIPPED_VERSION,
  summary: 'Writes the changes of the rows of PostgreSQL tables to topics, as Debezium does.',
  notes: CDC_DOCUMENTATION,
  config: cdcConfig,
  otherKeys: cdcOtherKeys,
  async *poll(context) {
    try {
      yield* capture(context)
    } catch (error) {
      if (context.signal.aborted) return
      throw asRetriableError(error, context.config)
    } finally {
      if (context.signal.aborted && context.config['slot.drop.on.stop']) await dropOwnSlot(context)
    }
  },
  validate: validateDatabase,
  alterOffsets(config, offsets) {
    for (const { partition, offset } of offsets) {
      const expected = cdcPartition(config['topic.prefix'])
      if (Object.keys(partition).length !== 1 || partition['server'] !== expected['server']) {
        throw new Error(`the partition of an offset must be ${plainJson(expected)}, not ${plainJson(partition)}`)
      }
      if (offset !== null) SnapshotView.stored(offset)
      if (offset !== null && parseCdcOffset(offset).delivered === undefined) {
        throw new Error(
          `an offset must have lsn_commit, the position in the log of the server, not ${plainJson(offset)}; null removes the offset`,
        )
      }
    }
  },
})

async function* capture(context: Context): AsyncGenerator<readonly SourceRecord[]> {
  const { config, log } = context
  const sessionOptions = databaseSessionOptions(context)
  const queryTimeoutMs = config['database.query.timeout.ms']
  await using session = await openDatabaseSession({ ...sessionOptions, queryTimeoutMs }, config)
  const partition = cdcPartition(config['topic.prefix'])
  const raw = context.resumeFrom(partition)
  const { streams } = snapshotDecisionOf(config, raw, true)
  // Without a stream there is neither a slot nor a position in it.
  const stored = streams ? storedPosition(raw) : undefined
  const tolerated = toleratesLostPosition(config, raw) ? { 'offset.mismatch.strategy': 'trust_slot' as const } : {}
  const { state, filter, position } = await prepareStart(session, { ...config, ...tolerated }, stored, {
    readsRows: readsRowsOf(config, raw),
    log,
  })
  const continued = position.kind === 'slot' && position.continues ? stored : undefined
  const isPositionAvailable = !streams || (continued !== undefined && position.warning === undefined)
  const decision = snapshotDecisionOf(config, raw, isPositionAvailable)
  if (decision.data !== 'none') await delay('snapshot.delay.ms', context)
  const isSlotNeeded = position.kind === 'new slot' && decision.streams
  await using created = isSlotNeeded ? await createOwnSlot(sessionOptions, config) : undefined
  const startLsn = position.kind === 'slot' ? position.startLsn : created?.consistentLsn
  const types = await ColumnTypes.open(session, valueSettings(config))
  const writer = new PostgresEventWriter({
    settings: eventSettings(config),
    types,
    version: SHIPPED_VERSION,
    database: state.database,
    taskId: String(context.task),
    runId: randomUUID(),
    nowUs: () => BigInt(Date.now()) * 1000n,
    lastCommitLsn: continued?.lastCommitLsn,
    lastCommitUs: continued?.lastCommitUs,
  })
  const readHistory = () => readServerHistory(sessionOptions, state.isStandby)
  let view = await storedView(continued, readHistory, log)
  const openView = viewOpener(isSlotOlder(position, decision), view, readHistory)
  const onTable = (table: Table) => types.load(session, new Set(table.columns.map(({ typeId }) => typeId)))
  const snapshotOptions = {
    context,
    partition,
    openSession: () => openDatabaseSession(sessionOptions, config),
    exportedSnapshot: undefined,
    lsn: startLsn,
    filter,
    publishesRoot: await publishesRoot(session, config['publication.name']),
    writer,
    onTable,
  }
  if (decision.data !== 'none') {
    const isContinued = decision.data === 'continue'
    view = yield* snapshotRecords({
      ...snapshotOptions,
      openView,
      stored: isContinued ? raw : undefined,
      exportedSnapshot: created?.snapshotName,
      onImported: () => void created?.close(),
    })
    await delay('streaming.delay.ms', context)
  }
  await created?.close()
  if (!decision.streams || startLsn === undefined) {
    log.info({}, 'no changes follow the snapshot, because of snapshot.mode')
    yield* untilStopped(context.signal)
    return
  }
  yield* streamChanges({
    context,
    partition,
    session,
    sessionOptions,
    serverVersion: state.version,
    isStandby: state.isStandby,
    startLsn,
    stored: continued,
    filter,
    view,
    writer,
    completeChanges: completionOf(session, config, filter),
    onTable,
    openSnapshots: (stream) => openRequestedSnapshots({ ...snapshotOptions, ...stream, storedState: raw ?? {} }),
  })
}

function storedPosition(raw: Position | undefined) {
  return raw === undefined ? undefined : parseCdcOffset(withoutSnapshotKeys(raw))
}

/** Whether a snapshot follows of which nothing but its view says which changes of the slot its rows contain. */
function isSlotOlder(position: PreparedStart['position'], { streams }: SnapshotDecision): boolean {
  return streams && position.kind === 'slot' && !position.continues
}

/** The view of a snapshot that the stream has not passed; undefined also if the server has another history now. */
async function storedView(
  stored: CdcOffset | undefined,
  readHistory: () => Promise<ServerHistory>,
  log: TaskLog,
): Promise<SnapshotView | undefined> {
  const view = SnapshotView.stored(stored?.raw)
  if (view === undefined || view.isOf(await readHistory())) return view
  log.warn(
    {},
    'the server was restored or failed over after the snapshot: changes that its rows contain are sent again',
  )
  return undefined
}

function viewOpener(isTaken: boolean, stored: SnapshotView | undefined, readHistory: () => Promise<ServerHistory>) {
  return async (current: string) => (isTaken ? SnapshotView.take(current, await readHistory()) : stored)
}

/** Keeps a task running that has nothing more to do. */
async function* untilStopped(signal: AbortSignal): AsyncGenerator<readonly SourceRecord[]> {
  yield []
  if (!signal.aborted) await once(signal, 'abort')
}

/** With `unavailable.value.mode=reselect`, values that the server did not send are read from the tables. */
function completionOf(
  session: Session,
  config: CdcConfig,
  filter: CaptureFilter,
): ChangeStreamOptions['completeChanges'] {
  if (config['unavailable.value.mode'] !== 'reselect') return async (changes) => changes
  const reselect = new ToastReselect(session, (table) => filter.includes(table))
  return (changes) => reselect.complete(changes)
}

/** A new slot, with the session that shows the database as it was at its position, until the session is closed. */
async function createOwnSlot(options: SessionOptions, config: CdcConfig) {
  const session = await Session.open({ ...options, replication: true }, { attempts: 1, backoffMs: 0 })
  const close = () => session.close()
  try {
    const slot = { name: config['slot.name'], isFailover: config['slot.failover'] }
    return { ...(await createSlot(session, slot)), close, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

async function dropOwnSlot(context: Context): Promise<void> {
  const { config, log } = context
  const options = { ...databaseSessionOptions(context), signal: AbortSignal.timeout(DROP_TIMEOUT_MS) }
  try {
    await using session = await openDatabaseSession(options, config)
    await dropSlot(session, config['slot.name'])
  } catch (error) {
    log.warn({ err: error }, `the replication slot ${config['slot.name']} could not be dropped; drop it by hand`)
  }
}

const DROP_TIMEOUT_MS = 10_000
