import type { Clock } from '../../common/clock.ts'
import { type Backoff, backoffMs } from '../../common/retry.ts'
import { withTimeout } from '../../common/timeout.ts'
import type { Compression, NewRecord, ProducerIdentity } from '../broker.ts'
import type { BrokerBackend, ProduceResult } from '../broker-backend.ts'
import { type BrokerError, isMissing, isTransient } from '../broker-error.ts'
import type { MetadataCache } from '../metadata-cache.ts'
import { encodeBatch } from '../record-batch/record-batch.ts'
import { topicPartitionKey } from '../topic-partition.ts'
import type { MissingTopicWait } from './missing-topic-wait.ts'
import {
  compareSequences,
  failEncoding,
  PartitionQueue,
  type ProducerBatch,
  type QueuedRecord,
  SEQUENCES,
  type SendCallback,
  takeWhileFitting,
} from './partition-queue.ts'
import { missingPartition, produceError, timeoutError } from './produce-errors.ts'

export type SenderOptions = {
  readonly backend: BrokerBackend
  readonly topology: MetadataCache
  readonly clock: Clock
  readonly transactionalId: string | undefined
  readonly compression: Compression
  readonly batchBytesMax: number
  readonly deliveryTimeoutMs: number
  /** Requests to one node that wait for a response. */
  readonly inFlightMax: number
  readonly backoff: Backoff
  readonly missingTopic: MissingTopicWait
  readonly identity: () => ProducerIdentity
  /** Reinitializes the producer id after the broker lost the sequence of the current one. */
  readonly renew: () => Promise<void>
  readonly freed: (bytes: number) => void
}

const REQUEST_BYTES_MAX = 8 * 1024 * 1024

/**
 * Takes records from the queues of the partitions and stores them in order. While requests are in flight, records
 * accumulate: under load a few large batches are sent, without load single records are sent immediately.
 *
 * A batch keeps its sequence number. When a batch fails with a retriable error, its partition is blocked until all its
 * batches in flight have returned; then they are retried in order, one at a time. A batch that is too large for its
 * topic is split.
 *
 * A batch that was certainly not stored leaves a gap in the sequence, so the producer id is reinitialized. Batches that
 * may have been stored are retried before that.
 */
export class Sender {
  readonly #parts: SenderOptions
  readonly #queues = new Map<string, PartitionQueue>()
  /** The queue of the last record, which is usually that of the next one, too. */
  #last: PartitionQueue | undefined
  readonly #inFlightOf = new Map<number, number>()
  readonly #active = new Set<PartitionQueue>()
  #idle: (() => void)[] = []
  #renewing: Promise<void> | undefined
  #isRenewalDue = false
  #isPumpDue = false
  #failures = 0
  #closed = false

  constructor(parts: SenderOptions) {
    this.#parts = parts
  }

  add(record: NewRecord, partition: number, index: number, delivery: SendCallback): void {
    let queue = this.#last
    if (queue === undefined || queue.partition !== partition || queue.topic !== record.topic) {
      queue = this.#queueOf(record.topic, partition)
      this.#last = queue
    }
    queue.add(record, index, delivery, this.#parts.clock.monotonicMs())
    this.#active.add(queue)
  }

  #queueOf(topic: string, partition: number): PartitionQueue {
    const key = topicPartitionKey({ topic, partition })
    const known = this.#queues.get(key)
    if (known !== undefined) return known
    const queue = new PartitionQueue(topic, partition)
    this.#queues.set(key, queue)
    return queue
  }

  /** Sends at the end of this turn of the event loop, so that all records added in it are batched. */
  pumpSoon(): void {
    if (this.#isPumpDue) return
    this.#isPumpDue = true
    setImmediate(() => {
      this.#isPumpDue = false
      this.pump()
    })
  }

  /** Sends all batches that can be sent now. */
  pump(): void {
    if (this.#closed || this.#renewing !== undefined) return
    if (this.#isRenewalDue && ![...this.#active].some(({ hasUncertainBatch }) => hasUncertainBatch)) {
      // The callbacks of the records report the error.
      if (this.#countInFlight() === 0) this.renew().catch(() => undefined)
      return
    }
    this.#sendReady()
    if (this.#active.size === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  #sendReady(): void {
    for (const [node, queues] of this.#readyByNode()) {
      if (node < 0) {
        this.#refreshLeaders(queues)
        continue
      }
      while ((this.#inFlightOf.get(node) ?? 0) < this.#parts.inFlightMax && queues.some(this.#isReady))
        this.#sendTo(node, queues.filter(this.#isReady))
    }
  }

  /** Resolves when nothing is queued or in flight. */
  flush(): Promise<void> {
    if (this.#active.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  /** Fails the queued records and waits for those in flight. */
  async drop(reason: Error): Promise<void> {
    for (const queue of this.#active) {
      this.#fail(queue.drain(), reason)
      this.#deactivateIfEmpty(queue)
    }
    await this.flush()
  }

  async close(): Promise<void> {
    await this.flush()
    this.#closed = true
  }

  #countInFlight(): number {
    let busy = 0
    for (const inFlight of this.#inFlightOf.values()) busy += inFlight
    return busy
  }

  /** Before the producer id is reinitialized, only batches that may have been stored are sent. */
  readonly #isReady = (queue: PartitionQueue): boolean =>
    queue.isReady && (!this.#isRenewalDue || queue.hasUncertainBatch)

  #readyByNode(): Map<number, PartitionQueue[]> {
    const byNode = new Map<number, PartitionQueue[]>()
    for (const queue of this.#active) {
      if (!this.#isReady(queue)) continue
      const node = this.#parts.topology.known(queue.topic)?.[queue.partition] ?? -1
      const queues = byNode.get(node)
      if (queues) queues.push(queue)
      else byNode.set(node, [queue])
    }
    return byNode
  }

  #sendTo(node: number, queues: readonly PartitionQueue[]): void {
    const ready: { queue: PartitionQueue; batch: ProducerBatch }[] = []
    let size = 0
    for (const queue of queues) {
      if (size > REQUEST_BYTES_MAX) break
      const batch = this.#next(queue)
      size += batch.size
      queue.inFlight.add(batch)
      ready.push({ queue, batch })
    }
    this.#inFlightOf.set(node, (this.#inFlightOf.get(node) ?? 0) + 1)
    void this.#sendRequest(node, ready)
  }

  #next(queue: PartitionQueue): ProducerBatch {
    const repeated = queue.retries.shift()
    if (repeated) return repeated
    const { entries, size } = queue.take(this.#parts.batchBytesMax)
    const baseSequence = queue.nextSequence
    queue.nextSequence = (baseSequence + entries.length) % SEQUENCES
    return this.#build(entries, size, baseSequence)
  }

  #build(entries: readonly QueuedRecord[], size: number, baseSequence: number): ProducerBatch {
    const { clock, compression, transactionalId } = this.#parts
    const bytes = encodeBatch(
      entries.map(({ record }) => record),
      {
        nowMs: clock.nowMs(),
        compression,
        producer: { ...this.#parts.identity(), baseSequence },
        transactional: transactionalId !== undefined,
      },
    ).catch(failEncoding)
    return { entries, bytes, size, baseSequence, sinceMs: clock.monotonicMs(), mayBeStored: false }
  }

  async #sendRequest(node: number, batches: readonly { queue: PartitionQueue; batch: ProducerBatch }[]): Promise<void> {
    const { backend, clock, transactionalId } = this.#parts
    let results: readonly ProduceResult[] = []
    let failure: unknown
    try {
      const bytes = await Promise.all(batches.map(({ batch }) => batch.bytes))
      const timeoutMs = Math.max(1, Math.ceil(Math.min(...batches.map(({ batch }) => this.#msLeft(batch)))))
      const parts = batches.map(({ queue: { topic, partition } }, at) => ({ topic, partition, bytes: bytes[at]! }))
      const request = { node, batches: parts, timeoutMs, ...(transactionalId !== undefined && { transactionalId }) }
      // A response that arrives later is not needed: a retry has the same sequence numbers.
      results = (await withTimeout(backend.produce(request), timeoutMs, () => undefined, clock)) ?? []
    } catch (error) {
      failure = error
    }
    this.#inFlightOf.set(node, (this.#inFlightOf.get(node) ?? 1) - 1)
    const byKey = new Map(results.map((result) => [topicPartitionKey(result), result]))
    for (const { queue, batch } of batches) {
      queue.inFlight.delete(batch)
      this.#settle(queue, batch, byKey.get(topicPartitionKey(queue)), failure)
    }
    this.pump()
  }

  #settle(queue: PartitionQueue, batch: ProducerBatch, result: ProduceResult | undefined, failure: unknown): void {
    if (result && !result.error) {
      this.#failures = 0
      queue.isKnown = true
      queue.missingSinceMs = undefined
      queue.sinceMs = this.#parts.clock.monotonicMs()
      batch.entries.forEach(({ index, delivery }, at) => {
        delivery.onStored(index, queue.partition, result.baseOffset + at)
      })
      this.#parts.freed(batch.size)
    } else this.#handleRejection(queue, batch, produceError(queue, result, failure), result?.rejectedRecords)
    if (queue.inFlight.size > 0) return
    if (queue.isBlocked) this.#retryLater(queue)
    else this.#deactivateIfEmpty(queue)
  }

  /** Until the delivery timeout of a batch or queue. */
  #msLeft({ sinceMs }: Pick<ProducerBatch, 'sinceMs'>): number {
    return sinceMs + this.#parts.deliveryTimeoutMs - this.#parts.clock.monotonicMs()
  }

  #handleRejection(
    queue: PartitionQueue,
    batch: ProducerBatch,
    error: BrokerError,
    rejected: readonly number[] = [],
  ): void {
    const nowMs = this.#parts.clock.monotonicMs()
    const tooLate = this.#msLeft(batch) <= 0
    queue.missingSinceMs = isMissing(error) ? (queue.missingSinceMs ?? nowMs) : undefined
    if (queue.missingSinceMs !== undefined && !tooLate && this.#parts.missingTopic.continues(queue.missingSinceMs)) {
      queue.isBlocked = true
      // The broker did not process the batch, so it may be stored only if an earlier attempt may have stored it.
      queue.retries.push(batch)
      return
    }
    // A former leader may have rejected an earlier batch, whose response arrives later.
    const follows = error.code === 'sequence_lost' && queue.hasEarlier(batch)
    if ((error.retriable || follows) && !tooLate) {
      queue.isBlocked = true
      queue.retries.push({ ...batch, mayBeStored: error.retriable })
      return
    }
    if (error.code === 'sequence_lost' && this.#parts.transactionalId === undefined && !tooLate) {
      // The broker lost the state of this producer (the topic was recreated): start a new sequence with the remaining
      // records.
      this.#isRenewalDue = true
      queue.isBlocked = true
      queue.retries.push({ ...batch, mayBeStored: false })
      return
    }
    if (error.code === 'record_too_large' && batch.entries.length > 1) {
      this.#split(queue, batch)
      return
    }
    const reason = isMissing(error) ? this.#parts.missingTopic.explain(error) : error
    this.#failRejected(queue, batch, reason, rejected)
  }

  /** Fails the rejected records and retries the others. */
  #failRejected(queue: PartitionQueue, batch: ProducerBatch, error: BrokerError, rejected: readonly number[]): void {
    const isWhole = rejected.length === 0 || rejected.length === batch.entries.length
    if (isWhole || this.#parts.transactionalId !== undefined) this.#fail(batch.entries, error)
    else {
      const isRejected = new Set(rejected)
      const entries = batch.entries.filter((_, index) => !isRejected.has(index))
      this.#fail(
        batch.entries.filter((_, index) => isRejected.has(index)),
        error,
      )
      queue.isBlocked = true
      queue.retries.push({ ...batch, entries, mayBeStored: false })
    }
    this.#isRenewalDue ||= this.#parts.transactionalId === undefined
  }

  /**
   * Nothing of the batch was stored, so the parts reuse its sequence numbers. Later batches are not larger than the
   * parts.
   */
  #split(queue: PartitionQueue, { entries, size, baseSequence }: ProducerBatch): void {
    queue.isBlocked = true
    queue.batchBytesMax = Math.min(queue.batchBytesMax, Math.ceil(size / 2))
    for (let at = 0; at < entries.length; ) {
      const part = takeWhileFitting(entries, at, size / 2)
      queue.retries.push(this.#build(part.entries, part.size, (baseSequence + at) % SEQUENCES))
      at += part.entries.length
    }
  }

  #fail(entries: readonly QueuedRecord[], error: Error): void {
    for (const { delivery, index, bytes } of entries) {
      delivery.onFailed(index, error)
      this.#parts.freed(bytes)
    }
  }

  #deactivateIfEmpty(queue: PartitionQueue): void {
    if (!queue.isEmpty) return
    queue.missingSinceMs = undefined
    this.#active.delete(queue)
  }

  /** All batches have returned: retries them in order, after a backoff and a metadata refresh. */
  #retryLater(queue: PartitionQueue): void {
    queue.retries.sort((a, b) => compareSequences(a.baseSequence, b.baseSequence))
    this.#refreshLeaders([queue])
  }

  #refreshLeaders(queues: readonly PartitionQueue[]): void {
    for (const queue of queues) queue.isBlocked = true
    const waitMs = backoffMs(this.#parts.backoff, this.#failures++)
    void this.#parts.clock
      .sleep(waitMs)
      .then(() => Promise.all(queues.map((queue) => this.#refreshFailure(queue))))
      .then((failures) => this.#unblock(queues, failures))
  }

  /** The error of all batches of a queue, judged after its metadata was refreshed. Undefined if a retry may succeed. */
  async #refreshFailure(queue: PartitionQueue): Promise<Error | undefined> {
    const { topology, missingTopic, clock } = this.#parts
    const leftMs = Math.max(1, this.#msLeft(queue))
    try {
      const leaders = await withTimeout(topology.refresh(queue.topic), leftMs, () => undefined, clock)
      if (leaders === undefined) return undefined
      if (queue.partition < leaders.length) return undefined
      throw missingPartition(queue.topic, queue.partition, leaders.length)
    } catch (error) {
      if (!isMissing(error)) return isTransient(error) ? undefined : (error as Error)
      queue.missingSinceMs ??= clock.monotonicMs()
      return missingTopic.continues(queue.missingSinceMs) ? undefined : missingTopic.explain(error)
    }
  }

  #unblock(queues: readonly PartitionQueue[], failures: readonly (Error | undefined)[]): void {
    for (const [at, queue] of queues.entries()) {
      const failure = failures[at]
      queue.isBlocked = false
      if (failure) this.#fail(queue.drain(), failure)
      else if (this.#msLeft(queue) <= 0) this.#fail(queue.drain(), timeoutError(queue, this.#parts.deliveryTimeoutMs))
      this.#deactivateIfEmpty(queue)
    }
    this.pump()
  }

  /** Reinitializes the producer id and restarts all sequences. Nothing may be in flight. */
  renew(): Promise<void> {
    this.#renewing ??= this.#parts
      .renew()
      .then(() => this.restart())
      .catch((error: unknown) => {
        for (const queue of this.#active) this.#fail(queue.drain(), error as Error)
        throw error
      })
      .finally(() => {
        this.#renewing = undefined
        this.#isRenewalDue = false
        for (const queue of [...this.#active]) this.#deactivateIfEmpty(queue)
        this.pump()
      })
    return this.#renewing
  }

  /** Every sequence starts at 0, because the producer has another epoch or id; records to retry come first. Nothing may be in flight. */
  restart(): void {
    for (const queue of this.#queues.values()) {
      const left = queue.drain()
      queue.nextSequence = 0
      queue.isBlocked = false
      queue.isKnown = false
      for (const { record, index, delivery } of left)
        queue.add(record, index, delivery, this.#parts.clock.monotonicMs())
    }
  }
}
