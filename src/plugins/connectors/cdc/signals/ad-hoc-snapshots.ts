import {
  DataError,
  type SourceContext,
  type SourceRecord,
  type Position as StoredOffset,
} from '../../../../sdk/index.ts'
import { DatabaseError } from '../../jdbc/database-error.ts'
import { TIMER_MS_MAX } from '../../jdbc/pause.ts'
import type { SignalConfig } from '../config/signal-keys.ts'
import type { IdentifiedTable } from '../table.ts'
import type { ChunkPlan, ObservedChange, ReadChunk } from './chunk-session.ts'
import {
  type BlockingSnapshot,
  type IncrementalBatch,
  type IncrementalDatabase,
  IncrementalSnapshot,
  READ_ONLY,
} from './incremental-snapshot.ts'
import type { SignalChannel } from './signal.ts'
import { SignalFile } from './signal-file.ts'
import { SignalTable } from './signal-table.ts'
import { printSignalOffset, SignalTopic, storedSignalOffset } from './signal-topic.ts'

export type AdHocOptions<Table extends IdentifiedTable, Plan extends ChunkPlan<Table>, Delivered> = {
  readonly context: Pick<
    SourceContext<SignalConfig & { readonly 'topic.prefix': string }>,
    'config' | 'openTopic' | 'files' | 'log'
  >
  /** The stored offset, from which an incremental snapshot continues. */
  readonly storedState: StoredOffset
  readonly database: IncrementalDatabase<Table, Plan, Delivered>
  /** Converts rows of a chunk. */
  readonly toRecords: (
    table: Table,
    rows: ReadChunk['rows'],
    sourceOffset: StoredOffset,
  ) => Promise<readonly SourceRecord[]>
  /** Reads the rows of a snapshot while the stream waits. */
  readonly readBlocking: (
    request: BlockingSnapshot,
    sourceOffset: () => StoredOffset,
  ) => AsyncIterable<readonly SourceRecord[]>
}

/** Snapshots that signals request, as records between those of changes. */
export class AdHocSnapshots<Table extends IdentifiedTable, Plan extends ChunkPlan<Table>, Delivered>
  implements AsyncDisposable
{
  readonly #options: AdHocOptions<Table, Plan, Delivered>
  readonly #incremental: IncrementalSnapshot<Table, Plan, Delivered>
  readonly #topic: SignalTopic | undefined
  readonly #channels: readonly SignalChannel[]
  readonly #timer: NodeJS.Timeout | undefined
  /** The last offset with its state, and what it was made of. */
  #printed: { readonly basis: readonly unknown[]; readonly offset: StoredOffset } | undefined

  private constructor(options: AdHocOptions<Table, Plan, Delivered>, topic: SignalTopic | undefined) {
    const { config, files, log } = options.context
    const enabled = config['signal.enabled.channels']
    this.#options = options
    this.#topic = topic
    const incrementalOptions = {
      ...options.database,
      chunkSize: config['incremental.snapshot.chunk.size'],
      signalTable: signalTableOf(config),
      isReadOnly: config['read.only'],
      log,
      nowMs: () => Date.now(),
    }
    this.#incremental = new IncrementalSnapshot(incrementalOptions, options.storedState)
    const file = enabled.includes('file') ? new SignalFile(config['signal.file'], files, log) : undefined
    this.#channels = [topic, file].filter((channel) => channel !== undefined)
    if (this.#channels.length === 0) return
    this.#timer = setInterval(() => this.#pollChannels(), Math.min(config['signal.poll.interval.ms'], TIMER_MS_MAX))
  }

  static async open<Table extends IdentifiedTable, Plan extends ChunkPlan<Table>, Delivered>(
    options: AdHocOptions<Table, Plan, Delivered>,
  ): Promise<AdHocSnapshots<Table, Plan, Delivered>> {
    return new AdHocSnapshots(options, await openSignalTopic(options))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    for (const channel of this.#channels) await channel.close()
    await this.#incremental[Symbol.asyncDispose]()
  }

  /** The table whose changes must be observed, apart from that of signals; undefined if there is none. */
  get observedTable(): Table | undefined {
    return this.#incremental.observedTable
  }

  /** Receives each change before it is written. Await the result if there is one. */
  onChange(change: ObservedChange<Table>): Promise<void> | undefined {
    return this.#incremental.onChange(change)
  }

  /** The offset with the state of the incremental snapshot and of the signal topic. The same object while nothing has changed. */
  withState(offset: StoredOffset): StoredOffset {
    const keys = this.#incremental.offsetKeys
    if (keys === undefined && this.#topic === undefined) return offset
    const basis = [offset, this.#topic?.nextOffset, keys]
    if (this.#printed?.basis.every((part, index) => part === basis[index])) return this.#printed.offset
    this.#printed = { basis, offset: { ...this.#withSignalOffset(offset), ...keys } }
    return this.#printed.offset
  }

  /** Records to yield between two transactions. `offset`: that of the stream. */
  async *records(offset: StoredOffset): AsyncGenerator<readonly SourceRecord[]> {
    const incremental = this.#incremental
    const batch = incremental.take()
    if (batch !== undefined && batch.rows.length > 0) yield await this.#chunkRecords(batch, offset)
    for (let request = incremental.takeBlocking(); request !== undefined; request = incremental.takeBlocking()) {
      yield* this.#blockingRecords(request, offset)
    }
  }

  /** Logs a warning if the snapshot cannot be read: a wrong signal must not stop the capture of changes. */
  async *#blockingRecords(request: BlockingSnapshot, offset: StoredOffset): AsyncGenerator<readonly SourceRecord[]> {
    const { signalId: signal, tables } = request
    try {
      yield* this.#options.readBlocking(request, () => this.withState(offset))
    } catch (error) {
      if (!isOfRequest(error)) throw error
      this.#options.context.log.warn({ signal, tables, reason: error.message }, 'ending a snapshot that cannot be read')
    }
  }

  #withSignalOffset(offset: StoredOffset): StoredOffset {
    return this.#topic === undefined ? offset : { ...offset, ...printSignalOffset(this.#topic.nextOffset) }
  }

  #pollChannels(): void {
    for (const channel of this.#channels) void this.#poll(channel)
  }

  async #poll(channel: SignalChannel): Promise<void> {
    let hasExecuted = false
    await channel.poll(async (signal) => {
      await this.#incremental.onSignal(signal)
      hasExecuted = true
    })
    // The state after the signals is stored with the position.
    if (hasExecuted) this.#options.database.requestPosition()
  }

  /** Only the last record has the state after the chunk: one may be stored while the next one is not. */
  async #chunkRecords(
    { table, rows, before, after }: IncrementalBatch<Table>,
    offset: StoredOffset,
  ): Promise<readonly SourceRecord[]> {
    const { toRecords } = this.#options
    const basis = this.#withSignalOffset(offset)
    const records = await toRecords(table, rows.slice(0, -1), { ...basis, ...before })
    return [...records, ...(await toRecords(table, rows.slice(-1), { ...basis, ...after }))]
  }
}

/** Undefined if there is none, or if it is not enabled as a channel. */
function signalTableOf(config: SignalConfig): SignalTable | undefined {
  const { 'signal.enabled.channels': enabled, 'signal.data.collection': table } = config
  if (table === undefined || !enabled.includes('source')) return undefined
  return new SignalTable(table, config['incremental.snapshot.watermarking.strategy'])
}

/** Whether an error would occur again, because the table, or the statement of the signal, cannot be read. */
function isOfRequest(error: unknown): error is Error {
  if (error instanceof DatabaseError) return !error.isTransient || error.sqlState === READ_ONLY
  return error instanceof DataError
}

/** Undefined if signals from Kafka are not enabled. */
async function openSignalTopic({
  context: { config, log, openTopic },
  storedState,
}: Pick<AdHocOptions<never, never, never>, 'context' | 'storedState'>): Promise<SignalTopic | undefined> {
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
