import type { Position, SourceRecord } from '../../sdk/index.ts'
import type { SourceProgress } from './acknowledged-prefix.ts'
import type { ConvertedBatch } from './process-source-records.ts'

/** How a source ended its transaction. */
export type TransactionEnd = 'commit' | 'abort'

/** The records of one poll, the offsets after them, and how the transaction ends after them, if it does. */
export type PolledBatch = {
  readonly records: readonly SourceRecord[]
  readonly progress: readonly SourceProgress<Position>[]
  readonly end: TransactionEnd | undefined
}

/** Writes a source's batches to the log, and then its offsets (`SourceOffsets`). */
export interface SourceDelivery {
  /**
   * Accepts a batch. Resolves when the next one may be delivered, which can be before this one is stored. Rejects with
   * the first failure, including that of an earlier batch.
   */
  deliver(outgoing: ConvertedBatch, batch: PolledBatch): Promise<void>
  /** Stores the offsets of acknowledged records. A failure is counted and retried with the next commit. */
  commit(): Promise<void>
  /** Waits for pending writes, commits and releases the producers. Rejects if anything failed. */
  close(): Promise<void>
}
