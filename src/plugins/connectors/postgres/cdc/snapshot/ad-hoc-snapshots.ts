import {
  DataError,
  type SourceContext,
  type SourceRecord,
  type Position as StoredOffset,
} from '../../../../../sdk/index.ts'
import type { SignalChannel } from '../../../cdc/signals/signal.ts'
import { SignalFile } from '../../../cdc/signals/signal-file.ts'
import { printSignalOffset, SignalTopic, storedSignalOffset } from '../../../cdc/signals/signal-topic.ts'
import { DatabaseError } from '../../../jdbc/database-error.ts'
import { TIMER_MS_MAX } from '../../../jdbc/pause.ts'
import type { DatabaseChange, Lsn, SnapshotRow } from '../changes/change.ts'
import type { CdcConfig } from '../config/cdc-config.ts'
import {
  type BlockingSnapshot,
  type IncrementalBatch,
  IncrementalSnapshot,
  READ_ONLY,
} from './incremental/incremental-snapshot.ts'
import { SignalTable } from './incremental/signal-table.ts'
import { readBlockingSnapshot, type SnapshotRecordOptions } from './snapshot-records.ts'

export type AdHocOptions = Omit<SnapshotRecordOptions, 'context' | 'stored'> & {
  readonly context: SnapshotRecordOptions['context'] & Pick<SourceContext<CdcConfig>, 'openTopic' | 'files'>
  /** The stored offset, from which an incremental snapshot continues. */
  readonly storedState: StoredOffset
  /** Asks the server to report its position, so that records of snapshots are requested soon. */
  readonly requestPosition: () => void
}

/** Snapshots that signals request, as records between those of changes. */
export class AdHocSnapshots implements AsyncDisposable {
  readonly #options: AdHocOptions
  readonly #incremental: IncrementalSnapshot
  readonly #topic: SignalTopic | undefined
  readonly #channels: readonly SignalChannel[]
  readonly #timer: NodeJS.Timeout | undefined
  /** The last offset with its state, and what it was made of. */
  #printed: { readonly basis: readonly unknown[]; readonly offset: StoredOffset } | undefined

  private constructor(options: AdHocOptions, topic: SignalTopic | undefined) {
    const { context, filter, openSession, publishesRoot, requestPosition, storedState } = options
    const { config, files, log } = context
    const { 'signal.enabled.channels': enabled, 'signal.data.collection': table } = config
    const strategy = config['incremental.snapshot.watermarking.strategy']
    this.#options = options
    this.#topic = topic
    const incrementalOptions = {
      openSession,
      isCaptured: (name: { readonly schema: string; readonly name: string }) => filter.includes(name),
      publishesRoot,
      chunkSize: config['incremental.snapshot.chunk.size'],
      signalTable: enabled.includes('source') && table !== undefined ? new SignalTable(table, strategy) : undefined,
      isReadOnly: config['read.only'],
      requestPosition,
      log,
      nowMs: () => Date.now(),
    }
    this.#incremental = new IncrementalSnapshot(incrementalOptions, storedState)
    const file = enabled.includes('file') ? new SignalFile(config['signal.file'], files, log) : undefined
    this.#channels = [topic, file].filter((channel) => channel !== undefined)
    if (this.#channels.length === 0) return
    this.#timer = setInterval(() => this.#pollChannels(), Math.min(config['signal.poll.interval.ms'], TIMER_MS_MAX))
  }

  static async open(options: AdHocOptions): Promise<AdHocSnapshots> {
    return new AdHocSnapshots(options, await openSignalTopic(options))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    for (const channel of this.#channels) await channel.close()
    await this.#incremental.close()
  }

  /** Receives each change before it is written. Await the result if there is one. */
  onChange(change: DatabaseChange): Promise<void> | undefined {
    return this.#incremental.onChange(change)
  }

  /** The offset with the state of the incremental snapshot and of the signal topic. The same object while nothing has changed. */
  withState(offset: StoredOffset): StoredOffset {
    const basis = [offset, this.#topic?.nextOffset, this.#incremental.offsetKeys]
    if (this.#printed?.basis.every((part, index) => part === basis[index])) return this.#printed.offset
    this.#printed = { basis, offset: { ...this.#withSignalOffset(offset), ...this.#incremental.offsetKeys } }
    return this.#printed.offset
  }

  /** Records to yield between two transactions. `idleLsn`: the stream has delivered everything before it. */
  async *records(idleLsn: Lsn, offset: StoredOffset): AsyncGenerator<readonly SourceRecord[]> {
    const incremental = this.#incremental
    const batch = incremental.take(idleLsn)
    if (batch !== undefined && batch.rows.length > 0) yield await this.#chunkRecords(batch, offset)
    for (let request = incremental.takeBlocking(); request !== undefined; request = incremental.takeBlocking()) {
      yield* this.#blockingRecords(request, idleLsn, offset)
    }
  }

  /** Logs a warning if the snapshot cannot be read: a wrong signal must not stop the capture of changes. */
  async *#blockingRecords(
    request: BlockingSnapshot,
    lsn: Lsn,
    offset: StoredOffset,
  ): AsyncGenerator<readonly SourceRecord[]> {
    const { signalId: signal, tables } = request
    try {
      // Consumers may order events by their LSN. The rows include all changes before this one.
      const batches = readBlockingSnapshot({ ...this.#options, lsn, stored: undefined }, request)
      for await (const { rows } of batches) yield await this.#toRecords(rows, this.withState(offset))
    } catch (error) {
      if (!isOfRequest(error)) throw error
      this.#options.context.log.warn({ signal, tables, reason: error.message }, 'ending a snapshot that cannot be read')
    }
  }

  #withSignalOffset(offset: StoredOffset): StoredOffset {
    return this.#topic === undefined ? offset : { ...offset, ...printSignalOffset(this.#topic.nextOffset) }
  }

  #pollChannels(): void {
    for (const channel of this.#channels) void channel.poll((signal) => this.#incremental.onSignal(signal))
  }

  /** Only the last record has the state after the chunk: one may be stored while the next one is not. */
  async #chunkRecords(
    { rows, before, after }: IncrementalBatch,
    offset: StoredOffset,
  ): Promise<readonly SourceRecord[]> {
    const basis = this.#withSignalOffset(offset)
    const records = await this.#toRecords(rows.slice(0, -1), { ...basis, ...before })
    return [...records, ...(await this.#toRecords(rows.slice(-1), { ...basis, ...after }))]
  }

  async #toRecords(rows: readonly SnapshotRow[], sourceOffset: StoredOffset): Promise<readonly SourceRecord[]> {
    const { onTable, partition, writer } = this.#options
    const [first] = rows
    if (first !== undefined) await onTable(first.table)
    return rows.flatMap((row) => writer.write(row, { sourcePartition: partition, sourceOffset }))
  }
}

/** Whether an error would occur again, because the table, or the statement of the signal, cannot be read. */
function isOfRequest(error: unknown): error is Error {
  if (error instanceof DatabaseError) return !error.isTransient || error.sqlState === READ_ONLY
  return error instanceof DataError
}

/** Undefined if signals from Kafka are not enabled. */
async function openSignalTopic({ context, storedState }: AdHocOptions): Promise<SignalTopic | undefined> {
  const { config, log, openTopic } = context
  if (!config['signal.enabled.channels'].includes('kafka')) return undefined
  const reader = await openTopic({
    topic: config['signal.kafka.topic'] ?? `${config['topic.prefix']}-signal`,
    offset: storedSignalOffset(storedState),
    bootstrapServers: config['signal.kafka.bootstrap.servers'],
  })
  return new SignalTopic({
    reader,
    recordKey: config['topic.prefix'],
    waitMs: config['signal.kafka.poll.timeout.ms'],
    log,
  })
}
