import type { PartitionRecords, TopicPartition } from '../../broker/broker.ts'
import type { Clock } from '../../common/clock.ts'
import type { SinkTask as SinkPlugin, SinkRecord } from '../../sdk/index.ts'
import { type ErrorPolicy, isRetriable } from './error-policy.ts'
import type { RetryStatus } from './retry-status.ts'
import { partitionKey, type SinkOffsets } from './sink-offsets.ts'
import { countBatch, type TaskCounters } from './task-counters.ts'

/** Records that are passed to the sink, and the records of the log that they were converted from. */
export type SinkBatch = { readonly polled: readonly PartitionRecords[]; readonly records: readonly SinkRecord[] }

export type SinkDeliveryOptions = {
  readonly plugin: SinkPlugin
  readonly policy: ErrorPolicy
  readonly offsets: SinkOffsets
  readonly status: Pick<RetryStatus, 'setError'>
  readonly counters: TaskCounters
  readonly clock: Clock
  /**
   * Called with true when the sink has rejected a batch that will be retried, and with false when the sink has accepted it, or
   * it was dropped. The task reads no records in between.
   */
  readonly onBlocked: (isBlocked: boolean) => void
  /** Called when a `put` has failed for good, so that the task stops waiting for records. */
  readonly onFailure: () => void
}

/**
 * Calls `put` with one batch at a time, in their order. With `readsAhead`, the task converts the next batch while `put` runs, so
 * at most two batches are in memory.
 */
export class SinkDelivery {
  readonly #options: SinkDeliveryOptions
  /** The batch that waits for its retry, and the batch after it, if that was already converted. */
  #blocked: SinkBatch[] = []
  #attempts = 0
  /** Earliest time of the next attempt, in ms of the monotonic clock. */
  #dueMs = 0
  #running: Promise<void> = Promise.resolve()
  #failure: { readonly error: unknown } | undefined

  constructor(options: SinkDeliveryOptions) {
    this.#options = options
  }

  /** Whether a batch waits for its retry. */
  get isBlocked(): boolean {
    return this.#blocked.length > 0
  }

  /** When the batch that waits may be put again, in ms of the monotonic clock. */
  get dueMs(): number {
    return this.#dueMs
  }

  /** Calls `put` when the earlier batches are accepted. Throws if the sink has failed for good, also with an earlier one. */
  async deliver(batch: SinkBatch): Promise<void> {
    await this.settled()
    if (this.isBlocked) {
      this.#blocked.push(batch)
      return
    }
    this.#running = this.#put(batch).catch((error: unknown) => this.#fail(error))
    if (!this.#options.plugin.readsAhead) await this.settled()
  }

  /** Retries the batch that waits, if its retry is due, and then puts the batch after it. */
  async retry(): Promise<void> {
    if (!this.isBlocked || this.#options.clock.monotonicMs() < this.#dueMs) return
    const [first, ...others] = this.#blocked
    if (!(await this.#attempt(first!))) return
    this.#blocked = []
    for (const batch of others) await this.#put(batch)
    if (!this.isBlocked) this.#options.onBlocked(false)
  }

  /** Waits until `put` has returned. Throws the error of a sink that failed for good. */
  async settled(): Promise<void> {
    await this.#running
    this.throwFailure()
  }

  /** Waits until `put` has returned, also if it failed. */
  async idle(): Promise<void> {
    await this.#running
  }

  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }

  /** Removes the records of these partitions from the batches that wait: their next owner reads them again. */
  drop(partitions: readonly TopicPartition[]): void {
    if (!this.isBlocked) return
    const gone = new Set(partitions.map(partitionKey))
    const kept = this.#blocked.map(({ polled, records }) => ({
      polled: polled.filter((chunk) => !gone.has(partitionKey(chunk))),
      records: records.filter(({ origin }) => !gone.has(partitionKey(origin))),
    }))
    this.#blocked = kept.filter(({ polled }) => polled.length > 0)
    if (this.isBlocked) return
    this.#attempts = 0
    this.#options.status.setError(undefined)
    this.#options.onBlocked(false)
  }

  async #put(batch: SinkBatch): Promise<void> {
    if (await this.#attempt(batch)) return
    this.#blocked = [batch]
    this.#options.onBlocked(true)
  }

  /** Resolves to whether the sink accepted the batch. If not, its next attempt is due after a delay. */
  async #attempt(batch: SinkBatch): Promise<boolean> {
    const { plugin, counters, clock, status, offsets } = this.#options
    const startMs = clock.monotonicMs()
    try {
      if (batch.records.length > 0 || plugin.putsEmptyBatches) {
        counters.recordsActive = batch.records.length
        await plugin.put(batch.records)
      }
    } catch (error) {
      if (!isRetriable(error)) throw error
      this.#delay(error)
      return false
    }
    this.#attempts = 0
    status.setError(undefined)
    if (batch.polled.length > 0) countBatch(counters, batch.records.length, clock.monotonicMs() - startMs)
    this.#countLatency(batch.records)
    counters.recordsOut += batch.records.length
    counters.recordsActive = 0
    offsets.delivered(batch.polled)
    counters.recordsLag = offsets.lagMax()
    return true
  }

  #delay(error: unknown): void {
    const { policy, status, clock } = this.#options
    const message = 'the sink did not accept a batch; it is put again after a delay'
    this.#dueMs = clock.monotonicMs() + policy.delayAfterMs(error, this.#attempts++, message)
    status.setError(error)
  }

  #fail(error: unknown): void {
    this.#failure = { error }
    this.#options.onFailure()
  }

  #countLatency(records: readonly SinkRecord[]): void {
    const { counters, clock } = this.#options
    const nowMs = clock.nowMs()
    let totalMs = 0
    let maxMs = 0
    for (const { timestampMs } of records) {
      const ageMs = timestampMs === null ? 0 : Math.max(0, nowMs - timestampMs)
      totalMs += ageMs
      if (ageMs > maxMs) maxMs = ageMs
    }
    counters.latencyMsTotal += totalMs
    counters.latencyMsMax = maxMs
  }
}
