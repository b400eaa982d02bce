import type { PartitionError } from './backend.ts'
import type { TopicPartition } from './broker.ts'
import { BrokerError, UnreadableBatchError } from './error.ts'
import { type Batch, batchesOf } from './record-batch.ts'

/** Batches of an answer up to the first that cannot be read, and why not. */
export type ReadableBatches = { readonly batches: readonly Batch[]; readonly error?: BrokerError }

/**
 * Takes apart an answer that was asked for from offset `from`. The checksum of a batch does not cover its offsets, so they
 * are compared with those of its neighbours: a wrong one would skip what stands between.
 */
export function parseFetchedBatches(bytes: Uint8Array, from: number): ReadableBatches {
  const batches: Batch[] = []
  let nextOffset = from
  let followsGap = false
  try {
    for (const batch of batchesOf(bytes)) {
      const error = batches.length === 0 ? missesOffset(batch, from) : overlaps(batch, nextOffset)
      // One of the two has a wrong offset: the one before, unless it follows its predecessor without a gap.
      if (error) return { batches: followsGap ? batches.slice(0, -1) : batches, error }
      followsGap = batch.baseOffset > nextOffset
      nextOffset = batch.nextOffset
      batches.push(batch)
    }
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    return { batches, error }
  }
  // The last batch of an answer may be cut off, the first one never is (KIP-74).
  if (batches.length === 0 && bytes.length > 0)
    return { batches, error: corruptBatchError(`the answer of ${bytes.length} bytes ends within it`) }
  // Nothing behind it tells whether the gap is one that compaction left: the next answer begins with it.
  return { batches: followsGap && batches.length > 1 ? batches.slice(0, -1) : batches }
}

/** The error of a partition that cannot be read from an offset on. */
export function unreadableBatchError(
  { topic, partition }: TopicPartition,
  offset: number,
  { code, message }: PartitionError,
): UnreadableBatchError {
  return new UnreadableBatchError({ topic, partition, offset }, new BrokerError(code, message))
}

export function corruptBatchError(message: string): BrokerError {
  return new BrokerError('corrupt_batch', message)
}

function missesOffset({ nextOffset }: Batch, from: number): BrokerError | undefined {
  return nextOffset > from
    ? undefined
    : corruptBatchError(`its last offset is ${nextOffset - 1}, although ${from} was asked for`)
}

function overlaps({ baseOffset }: Batch, nextOffset: number): BrokerError | undefined {
  return baseOffset >= nextOffset
    ? undefined
    : corruptBatchError(`offset ${baseOffset} follows offset ${nextOffset - 1}`)
}
