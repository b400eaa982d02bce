import type { Position, SourceRecord } from '../../sdk/index.ts'
import type { ConvertedBatch } from './source-records.ts'

/** How a source ended its transaction. */
export type TransactionEnd = 'commit' | 'abort'

/** How a source's batches get into the log, and its offsets behind them. */
export interface SourceDelivery {
  /**
   * Takes a batch; resolves when the next one may come, which is before this one is stored. Rejects with what failed,
   * be it of an earlier batch. `end`: what its source says of the transaction.
   */
  deliver(outgoing: ConvertedBatch, batch: readonly SourceRecord[], end?: TransactionEnd): Promise<void>
  /** Stores the offsets of what is safely in the log. A failure is counted and tried again with the next commit. */
  commit(): Promise<void>
  /** Waits for what is under way, commits and lets go; then rejects with what failed, if anything did. */
  close(): Promise<void>
}

/** Fails a commit that takes longer than it may. */
export function failLateCommit(timeoutMs: number): () => never {
  return () => {
    throw new Error(`the log did not take them within ${timeoutMs} ms (offset.flush.timeout.ms)`)
  }
}

/** Writes source offsets with the task's own producer. */
export type OffsetEncoder = (
  entries: readonly { readonly partition: Position; readonly offset: Position }[],
) => readonly { readonly topic: string; readonly key: Uint8Array; readonly value: Uint8Array }[]
