import type { Isolation } from '../broker.ts'
import type { FetchedPartition } from '../broker-backend.ts'
import type { Batch } from '../record-batch/batch-header.ts'

/** What one fetch returned for one partition, until all of it has been handed out. */
export type CompletedFetch = {
  readonly batches: readonly Batch[]
  /** Number of batches already handed out. */
  taken: number
  readonly endOffset: number
  /** First offsets of aborted transactions by producer id, in ascending order. Consumed while batches are read. */
  readonly aborted: Map<bigint, number[]>
}

export function toCompletedFetch(
  batches: readonly Batch[],
  { endOffset, aborted }: Pick<FetchedPartition, 'endOffset' | 'aborted'>,
): CompletedFetch {
  const byProducer = Map.groupBy(aborted, ({ producerId }) => producerId)
  return {
    batches,
    taken: 0,
    endOffset,
    aborted: new Map(
      [...byProducer].map(([id, of]) => [id, of.map(({ firstOffset }) => firstOffset).sort((a, b) => a - b)]),
    ),
  }
}

/** Hides control batches always, and records of aborted transactions from a `read_committed` reader. */
export function isHiddenBatch(
  { isControl, isTransactional, producerId, baseOffset }: Batch,
  aborted: CompletedFetch['aborted'],
  isolation: Isolation,
): boolean {
  const starts = aborted.get(producerId)
  if (isControl) {
    // The control batch ends this producer's transaction.
    if (starts?.[0] !== undefined && starts[0] <= baseOffset) starts.shift()
    return true
  }
  if (!isTransactional || isolation === 'read_uncommitted') return false
  return starts?.[0] !== undefined && starts[0] <= baseOffset
}
