import type { TopicPartition } from '../broker.ts'
import type { PartitionError } from '../broker-backend.ts'
import { BrokerError, UnreadableBatchError } from '../broker-error.ts'
import { type Batch, batchesOf } from '../record-batch/batch-header.ts'

/** The batches of a response up to the first unreadable one, and its error. */
export type ReadableBatches = { readonly batches: readonly Batch[]; readonly error?: BrokerError }

/**
 * Splits a response to a fetch from offset `from` into batches. The checksum of a batch does not cover its offsets, so
 * they are compared with those of the adjacent batches: a wrong offset would skip records.
 */
export function parseFetchedBatches(bytes: Uint8Array, from: number): ReadableBatches {
  const batches: Batch[] = []
  let nextOffset = from
  let followsGap = false
  try {
    for (const batch of batchesOf(bytes)) {
      const error = batches.length === 0 ? gapBefore(batch, from) : overlaps(batch, nextOffset)
      // One of the two batches has a wrong offset: the previous one, unless it follows its predecessor without a gap.
      if (error) return { batches: followsGap ? batches.slice(0, -1) : batches, error }
      followsGap = batch.baseOffset > nextOffset
      nextOffset = batch.nextOffset
      batches.push(batch)
    }
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    return { batches, error }
  }
  // The last batch of a response may be incomplete, the first one never is (KIP-74).
  if (batches.length === 0 && bytes.length > 0)
    return { batches, error: corruptBatchError(`the response of ${bytes.length} bytes ends inside the batch`) }
  // Without a following batch it is unknown whether compaction left the gap: the next response starts with this batch.
  return { batches: followsGap && batches.length > 1 ? batches.slice(0, -1) : batches }
}

/** The error for a partition that cannot be read from an offset on. */
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

function gapBefore({ nextOffset }: Batch, from: number): BrokerError | undefined {
  return nextOffset > from
    ? undefined
    : corruptBatchError(`its last offset is ${nextOffset - 1}, but offset ${from} was requested`)
}

function overlaps({ baseOffset }: Batch, nextOffset: number): BrokerError | undefined {
  return baseOffset >= nextOffset
    ? undefined
    : corruptBatchError(`offset ${baseOffset} follows offset ${nextOffset - 1}`)
}
