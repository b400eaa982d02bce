import type { NewRecord, TopicPartition } from './broker.ts'
import { recordBytesMax } from './record-batch.ts'

/** One call of `send`, waiting for its records. */
export type SendCallback = {
  /** Record `index` of the call stands at `offset` of `partition`. */
  readonly onStored: (index: number, partition: number, offset: number) => void
  readonly onFailed: (index: number, error: Error) => void
}

export type QueuedRecord = {
  readonly record: NewRecord
  readonly index: number
  readonly delivery: SendCallback
  readonly bytes: number
}

/** Entries that travel together. Sent again as the same bytes, so that the log can tell a repetition. */
export type ProducerBatch = {
  readonly entries: readonly QueuedRecord[]
  readonly bytes: Promise<Uint8Array>
  readonly size: number
  readonly baseSequence: number
  readonly sinceMs: number
  /** Whether it may have been stored without an answer: only under its own sequence the log can tell a repetition. */
  readonly mayBeStored: boolean
}

/** What waits for one partition: entries in order, and batches that have to be sent again before them. */
export class PartitionQueue implements TopicPartition {
  readonly topic: string
  readonly partition: number
  readonly retries: ProducerBatch[] = []
  inFlight = 0
  /** Set when a batch failed: nothing new is sent until all that is under way has come back. */
  isBlocked = false
  nextSequence = 0
  /** What a batch may have at most since the log found one too large: its topic allows less than producers assume. */
  batchBytesMax = Number.POSITIVE_INFINITY
  /**
   * Whether the log has taken a batch of this producer. Before that it would take any sequence as the first one, so only
   * one batch may be under way.
   */
  isKnown = false
  /** Since when something has been waiting without a break, by the monotonic clock. */
  sinceMs = 0
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

  /** The next entries, as many as fit into `bytesMax`; at least one. */
  take(bytesMax: number): { entries: readonly QueuedRecord[]; size: number } {
    const taken = takeWhileFitting(this.#entries, this.#taken, Math.min(bytesMax, this.batchBytesMax))
    const to = this.#taken + taken.entries.length
    this.#taken = to
    if (to === this.#entries.length) {
      this.#entries = []
      this.#taken = 0
    }
    return taken
  }

  /** Everything that was not acknowledged and is not under way. */
  drain(): readonly QueuedRecord[] {
    const left = [...this.retries.flatMap(({ entries }) => entries), ...this.#entries.slice(this.#taken)]
    this.retries.length = 0
    this.#entries = []
    this.#taken = 0
    return left
  }
}

/** So many entries from `from` on as fit into `bytesMax`; at least one. */
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
