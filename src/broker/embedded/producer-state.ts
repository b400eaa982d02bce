import { BrokerError } from '../broker-error.ts'
import type { Batch } from '../record-batch/batch-header.ts'

/** The state of a producer in a partition, which detects duplicate batches. */
export type ProducerState = {
  readonly epoch: number
  /** The latest batches, oldest first. */
  readonly recent: readonly { readonly first: number; readonly last: number; readonly baseOffset: number }[]
  readonly usedMs: number
}

/** As in Kafka: a producer has at most five batches in flight. */
const RECENT_MAX = 5
const SEQUENCES = 2 ** 31

/**
 * The offset of the batch that this one duplicates, or undefined if it is the next one. Throws `fenced` for an older
 * epoch and `sequence_lost` for a gap. An unknown producer may start with any sequence number.
 */
export function findDuplicate(state: ProducerState | undefined, batch: Batch): number | undefined {
  if (state === undefined) return undefined
  if (batch.producerEpoch < state.epoch) {
    throw new BrokerError(
      'fenced',
      `producer ${batch.producerId} with epoch ${batch.producerEpoch} is fenced by a newer one with epoch ${state.epoch}`,
    )
  }
  const sameEpoch = batch.producerEpoch === state.epoch
  const last = lastSequence(batch)
  const duplicate = state.recent.find((old) => sameEpoch && old.first === batch.baseSequence && old.last === last)
  if (duplicate !== undefined) return duplicate.baseOffset
  const expected = sameEpoch ? (state.recent.at(-1)!.last + 1) % SEQUENCES : 0
  if (batch.baseSequence === expected) return undefined
  throw new BrokerError(
    'sequence_lost',
    `producer ${batch.producerId}: sequence number ${batch.baseSequence}, expected ${expected}`,
  )
}

export function appendToProducerState(
  state: ProducerState | undefined,
  batch: Batch,
  at: { readonly baseOffset: number; readonly nowMs: number },
): ProducerState {
  const before = state?.epoch === batch.producerEpoch ? state.recent : []
  const entry = { first: batch.baseSequence, last: lastSequence(batch), baseOffset: at.baseOffset }
  return { epoch: batch.producerEpoch, recent: [...before, entry].slice(-RECENT_MAX), usedMs: at.nowMs }
}

function lastSequence({ baseSequence, baseOffset, nextOffset }: Batch): number {
  return (baseSequence + nextOffset - baseOffset - 1) % SEQUENCES
}
