import type { SendResult } from '../../broker/broker.ts'
import type { Clock } from '../../common/clock.ts'
import type { Position, SourceRecord, StoredListener, StoredPosition } from '../../sdk/index.ts'
import type { TransactionBoundary } from '../configuration/task-config.ts'
import { partitionId } from '../stores/offset-state.ts'
import type { GuardedProducer } from '../topic-access/guarded-broker.ts'
import { InFlightRecords } from './in-flight-records.ts'
import type { ConvertedBatch } from './process-source-records.ts'
import type { PolledBatch, SourceDelivery } from './source-delivery.ts'
import type { SourceOffsets } from './source-offsets.ts'
import { type SourceListeners, storedPositions } from './stored-positions.ts'
import { countCommitMs, type TaskCounters } from './task-counters.ts'

export type ExactlyOnceOptions = {
  /** A transactional producer, which fenced all older producers of this task when it was opened. */
  readonly producer: Pick<GuardedProducer, 'send' | 'sendSourceOffsets' | 'begin' | 'commit' | 'abort' | 'close'>
  readonly offsets: SourceOffsets
  readonly counters: TaskCounters
  readonly clock: Clock
  /**
   * `transaction.boundary`: one transaction per batch, one per commit interval, or boundaries defined by the connector.
   */
  readonly boundary: TransactionBoundary
  readonly listeners?: () => SourceListeners
  readonly signal: AbortSignal
  /** Called when a write fails for good, so that the task stops polling and fails. */
  readonly onFailure: () => void
}

type Delivered = {
  readonly batch: readonly SourceRecord[]
  /** Set when the batch is stored. */
  positions: readonly (StoredPosition | null)[]
  readonly onStored: StoredListener
}

/**
 * Writes records and their source offsets in one transaction, so that a batch that was read twice is visible once. A
 * failed transaction fails the task, which restarts from the last committed one. The batches of a transaction are sent
 * without waiting for the acknowledgement of earlier ones, up to a limit; its end waits for all of them.
 */
export class ExactlyOnceDelivery implements SourceDelivery {
  readonly #options: ExactlyOnceOptions
  readonly #progress = new Map<string, { readonly partition: Position; readonly offset: Position }>()
  /**
   * The batches of the open transaction, of which the source is notified when it has ended. They are kept for a source with a
   * listener only, and without their converted records, because a transaction may be many times larger than a batch.
   */
  #delivered: Delivered[] = []
  readonly #inFlight: InFlightRecords
  /** The batches of the open transaction that are not stored yet. */
  readonly #sends = new Set<Promise<void>>()
  #queue: Promise<unknown> = Promise.resolve()
  #isOpen = false
  #isDelivering = false
  /** Whether an interval has ended, so that the next delivery ends with a commit. */
  #isDue = false
  #failure: unknown

  constructor(options: ExactlyOnceOptions) {
    this.#options = options
    this.#inFlight = new InFlightRecords(options.counters, options.signal)
  }

  async deliver(outgoing: ConvertedBatch, { records: batch, progress, end }: PolledBatch): Promise<void> {
    this.#isDelivering = true
    const turn = this.#enqueue(async () => ({ stored: this.#send(outgoing, batch, progress) }))
    // Counted from now on, because it may have to wait for the end of a transaction.
    this.#inFlight.add(
      outgoing,
      turn.then(
        ({ stored }) => stored,
        () => undefined,
      ),
    )
    const delivered = this.#runsAhead
      ? this.#inFlight.waitForRoom().then(() => this.#throwFailure())
      : this.#enqueue(async () => {
          await this.#inFlight.waitForRoom()
          if (end === 'abort') await this.#abort()
          else if (end === 'commit' || this.#options.boundary === 'poll' || this.#isDue) await this.#commit()
        })
    await delivered.finally(() => {
      this.#isDelivering = false
    })
  }

  /**
   * Ends the transaction of an interval. As in Kafka Connect, this happens at the end of a delivery, when the source has
   * returned nothing that is not committed. A source that returns nothing has no delivery: its transaction ends now, and
   * again with the next delivery, because the source may just have returned its batch. For a source without a listener it
   * does not matter when the transaction ends, so that its next records are read and converted meanwhile.
   */
  async commit(): Promise<void> {
    if (this.#options.boundary === 'connector') return
    if (!this.#isOpen && !this.#isDelivering) this.#options.listeners?.().onCommitted?.([])
    if (this.#options.boundary === 'poll') return
    this.#isDue = this.#isOpen && !this.#runsAhead
    // The error is thrown by the next `deliver` or `close`.
    if (!this.#isDelivering || this.#runsAhead)
      await this.#enqueue(() => this.#commit(this.#isDue)).catch(() => undefined)
  }

  async close(): Promise<void> {
    try {
      // A transaction that the connector did not end must not become visible.
      if (this.#options.boundary !== 'connector') await this.#enqueue(() => this.#commit())
    } finally {
      // Aborts the open transaction, if any.
      await this.#options.producer.close()
    }
  }

  get #runsAhead(): boolean {
    return this.#options.boundary === 'interval' && this.#options.listeners?.().isIndependent === true
  }

  /** Resolves when the batch is stored, or has failed. */
  #send(outgoing: ConvertedBatch, batch: readonly SourceRecord[], progress: PolledBatch['progress']): Promise<void> {
    const { producer, counters, listeners } = this.#options
    const { records, bytes } = outgoing
    const { length } = records
    if (!this.#isOpen) producer.begin()
    this.#isOpen = true
    for (const reached of progress) this.#progress.set(partitionId(reached.partition), reached)
    const { onStored } = listeners?.() ?? {}
    const locate = onStored && this.#locating({ batch, positions: [], onStored }, outgoing)
    const stored = producer
      .send(records)
      .then((result) => {
        counters.recordsOut += length
        counters.bytesOut += bytes
        locate?.(result)
      })
      .catch((error: unknown) => this.#fail(error))
      .finally(() => this.#sends.delete(stored))
    this.#sends.add(stored)
    return stored
  }

  /** A method of its own, because a closure in `#send` would keep the source records of every batch until it is stored. */
  #locating(delivered: Delivered, outgoing: ConvertedBatch): (result: SendResult) => void {
    this.#delivered.push(delivered)
    return (result) => {
      delivered.positions = storedPositions(delivered.batch, outgoing, result)
    }
  }

  async #commit(isDueAfterwards = false): Promise<void> {
    const { producer, offsets, counters, clock } = this.#options
    this.#isDue = isDueAfterwards
    if (!this.#isOpen) return
    const startMs = clock.monotonicMs()
    try {
      const committed = [...this.#progress.values()]
      await Promise.all([producer.sendSourceOffsets(offsets.encode(committed)), ...this.#sends])
      this.#throwFailure()
      await producer.commit()
      this.#isOpen = false
      this.#progress.clear()
      counters.commits += 1
      for (const { batch, positions, onStored } of this.#delivered.splice(0)) onStored(batch, () => positions)
      this.#options.listeners?.().onCommitted?.(committed)
    } catch (error) {
      counters.commitFailures += 1
      throw error
    } finally {
      countCommitMs(counters, clock.monotonicMs() - startMs)
    }
  }

  /**
   * Aborts the records of the transaction but commits its offsets, so that the source does not return the records
   * again.
   */
  async #abort(): Promise<void> {
    const { producer } = this.#options
    await Promise.all(this.#sends)
    this.#throwFailure()
    await producer.abort()
    this.#delivered = this.#delivered.map(({ batch, onStored }) => ({
      batch,
      positions: batch.map(() => null),
      onStored,
    }))
    producer.begin()
    await this.#commit()
  }

  /** Runs jobs one after the other; after a failure, all further jobs reject with it. */
  #enqueue<Result>(job: () => Promise<Result>): Promise<Result> {
    const done = this.#queue.then(async () => {
      this.#throwFailure()
      const result = await job().catch((error: unknown) => this.#fail(error))
      this.#throwFailure()
      return result as Result
    })
    this.#queue = done.catch(() => undefined)
    return done
  }

  #fail(error: unknown): void {
    if (this.#failure !== undefined) return
    this.#failure = error
    this.#options.onFailure()
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure
  }
}
