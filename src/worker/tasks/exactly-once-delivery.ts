import type { Producer } from '../../broker/broker.ts'
import type { Clock } from '../../config/clock.ts'
import type { Position, SourceRecord, StoredListener } from '../../sdk/index.ts'
import type { TransactionBoundary } from '../configuration/task-config.ts'
import { partitionId } from '../stores/offset-state.ts'
import { lastOffsets } from './acknowledged-prefix.ts'
import type { OffsetEncoder, SourceDelivery, TransactionEnd } from './source-delivery.ts'
import type { ConvertedBatch } from './source-records.ts'
import { countCommitMs, type TaskCounters } from './task-counters.ts'

export type ExactlyOnceOptions = {
  /** Transactional: it fenced every older producer of this task when it was opened. */
  readonly producer: Producer
  readonly toOffsets: OffsetEncoder
  readonly counters: TaskCounters
  readonly clock: Clock
  /** Whether every batch is a transaction, or those between two commits are one, or the source says where one ends. */
  readonly boundary: TransactionBoundary
  /** Who wants to be told of a batch that is in the log. */
  readonly listener?: () => StoredListener | undefined
  /** Every failure that ends the task, as soon as it is known. */
  readonly onFailure: () => void
}

/**
 * Records and the offsets behind them get into the log in one transaction, or not at all: a batch that was read twice is
 * seen once. What fails a transaction fails the task; it begins again at the last one that was committed.
 */
export class ExactlyOnceDelivery implements SourceDelivery {
  readonly #parts: ExactlyOnceOptions
  readonly #progress = new Map<string, { readonly partition: Position; readonly offset: Position }>()
  /** What is to be told when the transaction is committed. */
  #told: (() => void)[] = []
  #line: Promise<unknown> = Promise.resolve()
  #isOpen = false
  #failure: unknown

  constructor(parts: ExactlyOnceOptions) {
    this.#parts = parts
  }

  async deliver(outgoing: ConvertedBatch, batch: readonly SourceRecord[], end?: TransactionEnd): Promise<void> {
    await this.#inLine(async () => {
      await this.#send(outgoing)
      const listener = this.#parts.listener?.()
      if (listener) this.#told.push(() => listener(batch))
      for (const progress of lastOffsets(batch)) this.#progress.set(partitionId(progress.partition), progress)
      if (end === 'abort') await this.#takeBack()
      else if (end === 'commit' || this.#parts.boundary === 'poll') await this.#commit()
    })
  }

  async commit(): Promise<void> {
    // Who delivers next, or closes, is told what failed.
    if (this.#parts.boundary === 'interval') await this.#inLine(() => this.#commit()).catch(() => undefined)
  }

  async close(): Promise<void> {
    try {
      // What a source has not ended itself was not meant to be seen.
      if (this.#parts.boundary !== 'connector') await this.#inLine(() => this.#commit())
    } finally {
      // Aborts what is open still.
      await this.#parts.producer.close()
    }
  }

  async #send({ records, bytes }: ConvertedBatch): Promise<void> {
    const { producer, counters } = this.#parts
    if (!this.#isOpen) producer.begin()
    this.#isOpen = true
    counters.recordsActive += records.length
    try {
      await producer.send(records)
    } finally {
      counters.recordsActive -= records.length
    }
    counters.recordsOut += records.length
    counters.bytesOut += bytes
  }

  async #commit(): Promise<void> {
    const { producer, toOffsets, counters, clock } = this.#parts
    if (!this.#isOpen) return
    const startMs = clock.monotonicMs()
    try {
      await producer.send(toOffsets([...this.#progress.values()]))
      await producer.commit()
      this.#isOpen = false
      this.#progress.clear()
      counters.commits += 1
      for (const tell of this.#told.splice(0)) tell()
    } catch (error) {
      counters.commitFailures += 1
      throw error
    } finally {
      countCommitMs(counters, clock.monotonicMs() - startMs)
    }
  }

  /** The records, but not how far the source is: they are not to come again. */
  async #takeBack(): Promise<void> {
    const { producer } = this.#parts
    await producer.abort()
    this.#told = []
    producer.begin()
    await this.#commit()
  }

  /** One after the other; after a failure nothing more. */
  #inLine(job: () => Promise<void>): Promise<void> {
    const done = this.#line.then(async () => {
      if (this.#failure !== undefined) throw this.#failure
      try {
        await job()
      } catch (error) {
        this.#failure = error
        this.#parts.onFailure()
        throw error
      }
    })
    this.#line = done.catch(() => undefined)
    return done
  }
}
