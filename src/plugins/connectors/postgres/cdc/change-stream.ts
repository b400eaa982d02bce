import type { SourceContext, SourceRecord, Position as StoredOffset } from '../../../../sdk/index.ts'
import type { EventOffset } from '../../cdc/events/event-writer.ts'
import { HeartbeatSchedule } from '../../cdc/events/heartbeat-schedule.ts'
import { DatabaseError } from '../../jdbc/database-error.ts'
import type { Session, SessionOptions } from '../session.ts'
import type { DatabaseChange, Lsn } from './changes/change.ts'
import { type ChangeBatch, ChangeReader } from './changes/change-reader.ts'
import { DeliveredTransactions } from './changes/delivered-transactions.ts'
import { type OnTable, Relations } from './changes/relations.ts'
import type { CaptureFilter } from './config/capture-filter.ts'
import type { CdcConfig } from './config/cdc-config.ts'
import { type CdcOffset, OffsetPrinter, parseCdcOffset, resumeLsn } from './offset.ts'
import { HeartbeatMessages } from './replication/heartbeat-messages.ts'
import { LagMonitor } from './replication/lag-monitor.ts'
import { ReplicationSession } from './replication/replication-session.ts'
import { XminMonitor } from './replication/xmin-monitor.ts'
import type { RequestedSnapshots } from './snapshot/requested-snapshots.ts'
import type { SnapshotView } from './snapshot/snapshot-view.ts'

/** Logical messages are sent since version 14. */
const LOGICAL_MESSAGES_VERSION = 140_000

/** Converts changes to records. */
export type ChangeWriter = {
  write(change: DatabaseChange, offset: EventOffset): readonly SourceRecord[]
  /** Receives changes that were delivered before the start. */
  skip(change: DatabaseChange): void
  /** Receives changes that are not captured. */
  ignore(change: DatabaseChange): void
  /** Whether an update is a delete of one key and a create of another one. */
  isKeyMoved(change: Extract<DatabaseChange, { readonly kind: 'row' }>): boolean
  heartbeat(offset: EventOffset): SourceRecord
  /** Sets `source.xmin` of the events that are written from now on. */
  setXmin(xmin: number): void
}

export type ChangeStreamOptions = {
  readonly context: Pick<
    SourceContext<CdcConfig>,
    'config' | 'advance' | 'onCommitted' | 'committedOffset' | 'reportLag' | 'log'
  >
  readonly partition: StoredOffset
  /** For the catalog and for `heartbeat.action.query`. */
  readonly session: Session
  readonly sessionOptions: SessionOptions
  readonly serverVersion: number
  readonly isStandby: boolean
  readonly startLsn: Lsn
  /** What was delivered before; undefined if the stream starts anew. */
  readonly stored: CdcOffset | undefined
  readonly filter: CaptureFilter
  /** Which changes rows of a snapshot contain; undefined if none. */
  readonly view: SnapshotView | undefined
  readonly writer: ChangeWriter
  readonly onTable: OnTable
  /** Adds values to changes that the server did not send. */
  readonly completeChanges: (changes: readonly DatabaseChange[]) => Promise<readonly DatabaseChange[]>
  /** Creates the snapshots that signals request. The function lets the server report its position soon. */
  readonly openSnapshots: (stream: {
    readonly progress: DeliveredTransactions
    readonly requestPosition: () => void
  }) => Promise<RequestedSnapshots>
}

/**
 * Yields the records of changes, and acknowledges to the server what the worker has committed. Also yields empty batches, with
 * the offset that was reached, so that the server can delete log that contains nothing to capture.
 */
export async function* streamChanges(options: ChangeStreamOptions): AsyncGenerator<readonly SourceRecord[]> {
  const { context, partition, stored, writer } = options
  await using replication = await openReplication(options)
  const { 'lsn.flush.mode': flushMode, 'flush.lsn.source': isFlushed } = context.config
  const acknowledge = () => {
    if (flushMode === 'manual' || !isFlushed) return
    const committed = context.committedOffset(partition)
    const lsn = committed === undefined ? undefined : resumeLsn(parseCdcOffset(committed))
    if (lsn !== undefined) replication.acknowledge(lsn)
  }
  context.onCommitted(acknowledge)
  acknowledge()
  const reader = new ChangeReader({
    relations: new Relations(options.session, options.onTable),
    delivered: stored?.delivered,
    onSkipped(change) {
      const captured = selectCaptured(change, options)
      if (captured === undefined) writer.ignore(change)
      else writer.skip(captured)
    },
  })
  const progress = new DeliveredTransactions()
  const requestPosition = () => replication.requestPosition()
  await using snapshots = await options.openSnapshots({ progress, requestPosition })
  const { session } = options
  using lag = new LagMonitor({
    session,
    slot: context.config['slot.name'],
    report: context.reportLag,
    log: context.log,
  })
  using _xmin = await XminMonitor.start({
    session,
    slot: context.config['slot.name'],
    intervalMs: context.config['xmin.fetch.interval.ms'],
    onXmin: (xmin) => writer.setXmin(xmin),
    log: context.log,
  })
  using heartbeats = new HeartbeatMessages({
    session,
    intervalMs: context.config['heartbeat.message.interval.ms'],
    serverVersion: options.serverVersion,
    isStandby: options.isStandby,
    startLsn: options.startLsn,
    serverLsn: () => replication.serverLsn,
    log: context.log,
  })
  const batches = new BatchWriter(options, snapshots, progress)
  for await (const batch of reader.read(replication.read())) {
    // Without the session, heartbeats and their query would end while the stream continues.
    if (!session.isOpen) throw lostSession(context.config['slot.name'])
    const changes = await options.completeChanges(batch.changes)
    const records = await batches.write({ ...batch, changes })
    if (batch.changes.length > 0) heartbeats.onChanges()
    lag.onBatch(lastCommitUs(batch, replication.serverLsn))
    yield records
    if (batch.idleLsn === undefined) continue
    progress.advance(batch.idleLsn)
    yield* snapshots.records(batches.offset)
  }
}

function lostSession(slot: string): DatabaseError {
  const message = `could not read changes from the replication slot ${slot}: the connection for queries of the catalog was closed`
  return new DatabaseError(message, { isTransient: true })
}

/** Converts batches of changes to records with offsets. */
class BatchWriter {
  readonly #options: ChangeStreamOptions
  readonly #printer: OffsetPrinter
  readonly #heartbeat: HeartbeatSchedule
  readonly #snapshots: RequestedSnapshots
  readonly #progress: DeliveredTransactions
  #advanced: StoredOffset | undefined

  constructor(options: ChangeStreamOptions, snapshots: RequestedSnapshots, progress: DeliveredTransactions) {
    this.#options = options
    this.#snapshots = snapshots
    this.#progress = progress
    this.#printer = new OffsetPrinter(options.startLsn, options.stored, options.view)
    const { session, context } = options
    const sql = context.config['heartbeat.action.query']
    this.#heartbeat = new HeartbeatSchedule({
      intervalMs: context.config['heartbeat.interval.ms'],
      executeQuery: sql === '' ? undefined : () => session.query('execute heartbeat.action.query', sql),
      log: context.log,
    })
  }

  /** The offset that was reached, without the state of snapshots. */
  get offset(): StoredOffset {
    return this.#printer.last
  }

  async write({ changes, idleLsn }: ChangeBatch): Promise<readonly SourceRecord[]> {
    const { context, partition, writer } = this.#options
    const records: SourceRecord[] = []
    for (const change of changes) {
      this.#progress.onChange(change)
      // The state after a signal is stored with the record of the signal.
      const executed = this.#snapshots.onChange(change)
      if (executed !== undefined) await executed
      const captured = selectCaptured(change, this.#options)
      const sourceOffset = this.#snapshots.withState(this.#printer.after(change))
      const offset = { sourcePartition: partition, sourceOffset }
      if (captured === undefined) writer.ignore(change)
      else for (const record of writer.write(captured, offset)) records.push(record)
    }
    const reached = this.#snapshots.withState(idleLsn === undefined ? this.#printer.last : this.#printer.idle(idleLsn))
    if (this.#heartbeat.isDue()) {
      records.push(writer.heartbeat({ sourcePartition: partition, sourceOffset: reached }))
    }
    if (reached !== this.#advanced) context.advance(partition, reached)
    this.#advanced = reached
    return records
  }
}

/** When the last change of a batch was committed; undefined if the stream has delivered everything that the server has. */
function lastCommitUs({ changes, idleLsn }: ChangeBatch, serverLsn: Lsn): bigint | undefined {
  const isBehind = idleLsn === undefined || idleLsn < serverLsn
  return isBehind ? changes.at(-1)?.transaction?.committedAtUs : undefined
}

function openReplication({ context, sessionOptions, serverVersion, startLsn }: ChangeStreamOptions) {
  const { config } = context
  const heartbeatMs = config['heartbeat.interval.ms']
  const statusMs = config['status.update.interval.ms']
  return ReplicationSession.open({
    session: sessionOptions,
    slot: config['slot.name'],
    publication: config['publication.name'],
    startLsn,
    hasLogicalMessages: serverVersion >= LOGICAL_MESSAGES_VERSION,
    parameters: config['slot.stream.params'],
    // The answers of the server are what heartbeats are sent on while there are no changes.
    statusIntervalMs: heartbeatMs > 0 ? Math.min(statusMs, heartbeatMs) : statusMs,
  })
}

type Selection = Pick<ChangeStreamOptions, 'filter' | 'view' | 'writer'>

/** The part of a change that the configuration includes; undefined if it includes none, or if rows of a snapshot contain it. */
function selectCaptured(change: DatabaseChange, { filter, view, writer }: Selection): DatabaseChange | undefined {
  const included = selectIncluded(change, filter)
  if (included === undefined || view === undefined) return included
  return view.contains(included, (row) => writer.isKeyMoved(row)) ? undefined : included
}

/** The part of a change that the configuration includes. */
function selectIncluded(change: DatabaseChange, filter: CaptureFilter): DatabaseChange | undefined {
  switch (change.kind) {
    case 'row':
      return filter.includes(change.table) ? change : undefined
    case 'truncate': {
      const tables = change.tables.filter((table) => filter.includes(table))
      return tables.length === 0 ? undefined : { ...change, tables }
    }
    case 'message':
      return filter.includesMessage(change.prefix) ? change : undefined
    case 'begin':
    case 'commit':
      return change
  }
}
