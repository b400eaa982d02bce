import { messageOf } from '../../common/errors.ts'
import type { NewRecord, TopicPartition } from '../broker.ts'
import { BrokerError } from '../broker-error.ts'
import { recordBytesMax } from '../record-batch/record-batch.ts'

/** Reports the outcome of the records of one `send` call. */
export type SendCallback = {
  /** Record `index` of the call is stored at `offset` of `partition`. */
  readonly onStored: (index: number, partition: number, offset: number) => void
  readonly onFailed: (index: number, error: Error) => void
}

export type QueuedRecord = {
  readonly record: NewRecord
  readonly index: number
  readonly delivery: SendCallback
  readonly bytes: number
}

/** Records that are sent as one batch. A retry sends the same bytes, so that the broker detects a duplicate. */
export type ProducerBatch = {
  readonly entries: readonly QueuedRecord[]
  readonly bytes: Promise<Uint8Array>
  readonly size: number
  readonly baseSequence: number
  readonly sinceMs: number
  /**
   * Whether the batch may have been stored although no response arrived: only a retry with the same sequence number can
   * be detected as a duplicate.
   */
  readonly mayBeStored: boolean
}

/**
 * The pending records of one partition in order, and the batches to retry before them. `sender.ts` decides when a batch is
 * taken: as soon as a request can be sent, without a linger time.
 */
export class PartitionQueue implements TopicPartition {
  readonly topic: string
  readonly partition: number
  readonly retries: ProducerBatch[] = []
  /** Batches that were sent and have no response. */
  readonly inFlight = new Set<ProducerBatch>()
  /** Set when a batch failed: no new batch is sent until all batches in flight have returned. */
  isBlocked = false
  nextSequence = 0
  /**
   * Maximum size of a batch after the broker rejected a larger one, because the limit of the topic is below that of the
   * producer.
   */
  batchBytesMax = Number.POSITIVE_INFINITY
  /**
   * Whether the broker has accepted a batch of this producer. Before that it accepts any first sequence number, so only
   * one batch may be in flight.
   */
  isKnown = false
  /** Since when the queue has been non-empty without progress, by the monotonic clock. */
  sinceMs = 0
  /** Since when the brokers have reported that they do not know the partition. Undefined unless they reported it last. */
  missingSinceMs: number | undefined
  #entries: QueuedRecord[] = []
  #taken = 0

  constructor(topic: string, partition: number) {
    this.topic = topic
    this.partition = partition
  }

  add(record: NewRecord, index: number, delivery: SendCallback, nowMs: number): void {
    const bytes = recordBytesMax(record)
    if (!this.hasEntries && this.retries.length === 0) this.sinceMs = nowMs
    this.#entries.push({ record, index, delivery, bytes })
  }

  get hasEntries(): boolean {
    return this.#taken < this.#entries.length
  }

  get isEmpty(): boolean {
    return !this.hasEntries && this.retries.length === 0 && this.inFlight.size === 0
  }

  /** Whether a batch may be sent now. */
  get isReady(): boolean {
    if (this.isBlocked) return false
    if (this.retries.length > 0 || !this.isKnown)
      return this.inFlight.size === 0 && (this.retries.length > 0 || this.hasEntries)
    return this.hasEntries
  }

  /** If a batch was not stored, neither were those after it: the first batch decides. */
  get hasUncertainBatch(): boolean {
    return this.retries[0]?.mayBeStored === true
  }

  /** Whether a batch before this one is not stored yet. Until it is, the broker rejects this one. */
  hasEarlier({ baseSequence }: ProducerBatch): boolean {
    const isEarlier = (other: ProducerBatch) => compareSequences(other.baseSequence, baseSequence) < 0
    return this.retries.some(isEarlier) || this.inFlight.values().some(isEarlier)
  }

  /** Removes the next records that fit into `bytesMax`, at least one. */
  take(bytesMax: number): { entries: readonly QueuedRecord[]; size: number } {
    const taken = takeWhileFitting(this.#entries, this.#taken, Math.min(bytesMax, this.batchBytesMax))
    this.#taken += taken.entries.length
    // Removed in bulk, because each removal moves all entries that follow. A queue that is never empty must release them, too.
    if (this.#taken * 2 >= this.#entries.length) {
      this.#entries = this.#entries.slice(this.#taken)
      this.#taken = 0
    }
    return taken
  }

  /** Removes and returns all records that are neither acknowledged nor in flight. */
  drain(): readonly QueuedRecord[] {
    const left = [...this.retries.flatMap(({ entries }) => entries), ...this.#entries.slice(this.#taken)]
    this.retries.length = 0
    this.#entries = []
    this.#taken = 0
    return left
  }
}

/** Sequence numbers restart at 0 after the largest one. */
export const SEQUENCES = 2 ** 31

/** Orders sequence numbers of batches that are in flight together, also when the numbers have restarted between them. */
export function compareSequences(a: number, b: number): number {
  const distance = a - b
  if (Math.abs(distance) < SEQUENCES / 2) return distance
  return distance > 0 ? distance - SEQUENCES : distance + SEQUENCES
}

/** Throws an error that is not retriable, because the same batch cannot be encoded later either. */
export function failEncoding(cause: unknown): never {
  throw new BrokerError('invalid_request', `a batch could not be encoded: ${messageOf(cause)}`, { cause })
}

/** The records starting at `from` that fit into `bytesMax`, at least one. */
export function takeWhileFitting(
  entries: readonly QueuedRecord[],
  from: number,
  bytesMax: number,
): { entries: readonly QueuedRecord[]; size: number } {
  let size = 0
  let to = from
  for (; to < entries.length; to++) {
    const { bytes } = entries[to]!
    if (to > from && size + bytes > bytesMax) break
    size += bytes
  }
  return { entries: entries.slice(from, to), size }
}
