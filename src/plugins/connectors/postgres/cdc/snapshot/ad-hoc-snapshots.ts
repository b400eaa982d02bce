import type { SourceContext, SourceRecord, Position as StoredOffset } from '../../../../../sdk/index.ts'
import type { DatabaseChange, Lsn, SnapshotRow } from '../changes/change.ts'
import type { CdcConfig } from '../config/cdc-config.ts'
import { type IncrementalBatch, IncrementalSnapshot } from './incremental/incremental-snapshot.ts'
import { SignalFile } from './incremental/signal-file.ts'
import { SignalTable } from './incremental/signal-table.ts'
import { readBlockingSnapshot, type SnapshotRecordOptions } from './snapshot-records.ts'

export type AdHocOptions = Omit<SnapshotRecordOptions, 'context' | 'stored'> & {
  readonly context: Pick<SourceContext<CdcConfig>, 'config' | 'raw' | 'advance' | 'log' | 'files'>
  /** The stored offset, from which an incremental snapshot continues. */
  readonly storedState: StoredOffset
  /** Asks the server to report its position, so that records of snapshots are requested soon. */
  readonly requestPosition: () => void
}

/** Snapshots that signals request, as records between those of changes. */
export class AdHocSnapshots implements AsyncDisposable {
  readonly #options: AdHocOptions
  readonly #incremental: IncrementalSnapshot
  readonly #fileTimer: NodeJS.Timeout | undefined

  constructor(options: AdHocOptions) {
    const { context, filter, openSession, requestPosition, storedState } = options
    const { config, files, log } = context
    const { 'signal.enabled.channels': channels, 'signal.data.collection': table } = config
    const strategy = config['incremental.snapshot.watermarking.strategy']
    this.#options = options
    const incrementalOptions = {
      openSession,
      isCaptured: (name: { readonly schema: string; readonly name: string }) => filter.includes(name),
      chunkSize: config['incremental.snapshot.chunk.size'],
      signalTable: channels.includes('source') && table !== undefined ? new SignalTable(table, strategy) : undefined,
      isReadOnly: config['read.only'],
      requestPosition,
      log,
      nowMs: () => Date.now(),
    }
    this.#incremental = new IncrementalSnapshot(incrementalOptions, storedState)
    if (!channels.includes('file')) return
    const file = new SignalFile(config['signal.file'], files, log)
    this.#fileTimer = setInterval(() => void this.#readFile(file), config['signal.poll.interval.ms'])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#fileTimer)
    await this.#incremental.close()
  }

  /** Receives each change before it is written. Await the result if there is one. */
  onChange(change: DatabaseChange): Promise<void> | undefined {
    return this.#incremental.onChange(change)
  }

  /** The offset with the state of the incremental snapshot. */
  withState(offset: StoredOffset): StoredOffset {
    const keys = this.#incremental.offsetKeys
    return keys === undefined ? offset : { ...offset, ...keys }
  }

  /** Records to yield between two transactions. `idleLsn`: the stream has delivered everything before it. */
  async *records(idleLsn: Lsn, offset: StoredOffset): AsyncGenerator<readonly SourceRecord[]> {
    const incremental = this.#incremental
    const batch = incremental.take(idleLsn)
    if (batch !== undefined && batch.rows.length > 0) yield await this.#chunkRecords(batch, offset)
    for (let request = incremental.takeBlocking(); request !== undefined; request = incremental.takeBlocking()) {
      const batches = readBlockingSnapshot({ ...this.#options, stored: undefined }, request)
      for await (const { rows } of batches) yield await this.#toRecords(rows, this.withState(offset))
    }
  }

  async #readFile(file: SignalFile): Promise<void> {
    for (const signal of await file.take()) {
      await this.#incremental.onSignal(signal).catch((error: unknown) => {
        this.#options.context.log.warn(
          { signal: signal.id, err: error },
          'a signal could not be executed; write it again',
        )
      })
    }
  }

  /** Only the last record has the state after the chunk: one may be stored while the next one is not. */
  async #chunkRecords(
    { rows, before, after }: IncrementalBatch,
    offset: StoredOffset,
  ): Promise<readonly SourceRecord[]> {
    const records = await this.#toRecords(rows.slice(0, -1), { ...offset, ...before })
    return [...records, ...(await this.#toRecords(rows.slice(-1), { ...offset, ...after }))]
  }

  async #toRecords(rows: readonly SnapshotRow[], sourceOffset: StoredOffset): Promise<readonly SourceRecord[]> {
    const { onTable, partition, writer } = this.#options
    const [first] = rows
    if (first !== undefined) await onTable(first.table)
    return rows.flatMap((row) => writer.write(row, { sourcePartition: partition, sourceOffset }))
  }
}
