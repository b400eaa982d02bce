import type { SendResult } from '../../broker/broker.ts'
import type { Position, SourceRecord, StoredListener, StoredPosition } from '../../sdk/index.ts'
import type { SourceProgress } from './acknowledged-prefix.ts'
import type { ConvertedBatch } from './process-source-records.ts'

/** What the delivery reports to a source. */
export type SourceListeners = {
  /** Whether the source has no listener of its own, so that it may return records while others are committed. */
  readonly isIndependent?: boolean
  /** For batches that are stored in the log. */
  readonly onStored?: StoredListener | undefined
  /** For commits of its offsets. */
  readonly onCommitted?: ((committed: readonly SourceProgress<Position>[]) => void) | undefined
}

/** Where each record of a batch is in the log; null for one that was filtered or rejected. */
export function storedPositions(
  batch: readonly SourceRecord[],
  { records, sources }: ConvertedBatch,
  { partitions, offsets }: SendResult,
  rejected: ReadonlySet<SourceRecord> = new Set(),
): readonly (StoredPosition | null)[] {
  const indexes = new Map(sources.map((source, index) => [source, index]))
  return batch.map((source) => {
    const index = indexes.get(source)
    if (index === undefined || rejected.has(source)) return null
    const { topic, timestampMs = null } = records[index]!
    return { topic, partition: partitions[index]!, offset: offsets[index]!, timestampMs }
  })
}

/** The result of a batch without records. */
export const NOTHING_SENT: SendResult = { partitions: new Int32Array(), offsets: new Float64Array() }
