import type { Clock } from '../config/clock.ts'
import { backoffMs } from '../config/retry.ts'
import type { BrokerBackend, ProduceResult, ProducerIdentity } from './backend.ts'
import type { Compression, NewRecord } from './broker.ts'
import { BrokerError } from './error.ts'
import type { MetadataCache } from './metadata-cache.ts'
import {
  PartitionQueue,
  type ProducerBatch,
  type QueuedRecord,
  type SendCallback,
  takeWhileFitting,
} from './partition-queue.ts'
import { encodeBatch } from './record-batch.ts'
import { partitionKey } from './topic-partition.ts'

export type SenderOptions = {
  readonly home: BrokerBackend
  readonly topology: MetadataCache
  readonly clock: Clock
  readonly transactionalId: string | undefined
  readonly compression: Compression
  readonly batchBytesMax: number
  readonly deliveryTimeoutMs: number
  readonly identity: () => ProducerIdentity
  /** Gets a new identity, after the log lost track of the old one's sequence. */
  readonly renew: () => Promise<void>
  readonly freed: (bytes: number) => void
}

/** As many as Kafka's brokers remember of a producer: with more, a repetition could not be told. */
const IN_FLIGHT_MAX = 5
const REQUEST_BYTES_MAX = 8 * 1024 * 1024
const BACKOFF = { firstMs: 20, maxMs: 1_000 }
const REQUEST_TIMEOUT_MS = 30_000
const SEQUENCES = 2 ** 31

/**
 * Takes entries out of the partitions' queues and gets them stored, in order. While requests are under way, entries
 * gather, so that few large batches go out under load and single records at once when there is none.
 *
 * A batch keeps its sequence number for ever. When one fails and may be tried again, the partition is blocked until all
 * that was under way has come back; then they go again in order, one at a time. One that is too large for its topic goes
 * again in parts.
 *
 * What was never stored leaves a gap in the sequence, which begins anew then; what may have been stored goes again before.
 */
export class Sender {
  readonly #parts: SenderOptions
  readonly #queues = new Map<string, PartitionQueue>()
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
    const key = partitionKey({ topic: record.topic, partition })
    let queue = this.#queues.get(key)
    if (!queue) {
      queue = new PartitionQueue(record.topic, partition)
      this.#queues.set(key, queue)
    }
    queue.add(record, index, delivery, this.#parts.clock.monotonicMs())
    this.#active.add(queue)
  }

  /** Sends what was added in this turn of the event loop, all of it together. */
  pumpSoon(): void {
    if (this.#isPumpDue) return
    this.#isPumpDue = true
    setImmediate(() => {
      this.#isPumpDue = false
      this.pump()
    })
  }

  /** Sends what may be sent now. */
  pump(): void {
    if (this.#closed || this.#renewing !== undefined) return
    if (this.#isRenewalDue && ![...this.#active].some(isInDoubt)) {
      // Whoever waits is told by its delivery.
      if (this.#busy() === 0) this.renew().catch(() => undefined)
      return
    }
    this.#sendReady()
    if (this.#active.size === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  #sendReady(): void {
    for (const [node, queues] of this.#readyByNode()) {
      if (node < 0) {
        this.#lookAgain(queues)
        continue
      }
      while ((this.#inFlightOf.get(node) ?? 0) < IN_FLIGHT_MAX && queues.some(this.#isReady))
        this.#sendTo(node, queues.filter(this.#isReady))
    }
  }

  /** Resolves when nothing waits and nothing is under way. */
  flush(): Promise<void> {
    if (this.#active.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  /** Gives up what waits; what is under way is waited for. */
  async drop(reason: Error): Promise<void> {
    for (const queue of this.#active) {
      this.#fail(queue.drain(), reason)
      this.#rest(queue)
    }
    await this.flush()
  }

  async close(): Promise<void> {
    await this.flush()
    this.#closed = true
  }

  #busy(): number {
    let busy = 0
    for (const inFlight of this.#inFlightOf.values()) busy += inFlight
    return busy
  }

  /** Before the sequence begins anew, nothing goes but what may be stored already. */
  readonly #isReady = (queue: PartitionQueue): boolean => isReady(queue) && (!this.#isRenewalDue || isInDoubt(queue))

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
    const taken: { queue: PartitionQueue; batch: ProducerBatch }[] = []
    let size = 0
    for (const queue of queues) {
      if (size > REQUEST_BYTES_MAX) break
      const batch = this.#next(queue)
      size += batch.size
      queue.inFlight += 1
      taken.push({ queue, batch })
    }
    this.#inFlightOf.set(node, (this.#inFlightOf.get(node) ?? 0) + 1)
    void this.#exchange(node, taken)
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
    )
    return { entries, bytes, size, baseSequence, sinceMs: clock.monotonicMs(), mayBeStored: false }
  }

  async #exchange(node: number, batches: readonly { queue: PartitionQueue; batch: ProducerBatch }[]): Promise<void> {
    const bytes = await Promise.all(batches.map(({ batch }) => batch.bytes))
    let results: readonly ProduceResult[] = []
    let failure: unknown
    try {
      results = await this.#parts.home.produce({
        node,
        batches: batches.map(({ queue: { topic, partition } }, at) => ({ topic, partition, bytes: bytes[at]! })),
        timeoutMs: REQUEST_TIMEOUT_MS,
        ...(this.#parts.transactionalId === undefined ? {} : { transactionalId: this.#parts.transactionalId }),
      })
    } catch (error) {
      failure = error
    }
    this.#inFlightOf.set(node, (this.#inFlightOf.get(node) ?? 1) - 1)
    const byKey = new Map(results.map((result) => [partitionKey(result), result]))
    for (const { queue, batch } of batches) {
      queue.inFlight -= 1
      this.#settle(queue, batch, byKey.get(partitionKey(queue)), failure)
    }
    this.pump()
  }

  #settle(queue: PartitionQueue, batch: ProducerBatch, result: ProduceResult | undefined, failure: unknown): void {
    if (result && !result.error) {
      this.#failures = 0
      queue.isKnown = true
      batch.entries.forEach(({ index, delivery }, at) => {
        delivery.onStored(index, queue.partition, result.baseOffset + at)
      })
      this.#parts.freed(batch.size)
    } else this.#refused(queue, batch, errorOf(queue, result, failure), result?.refused)
    if (queue.inFlight > 0) return
    if (queue.isBlocked) this.#repeatSoon(queue)
    else this.#rest(queue)
  }

  #refused(queue: PartitionQueue, batch: ProducerBatch, error: BrokerError, places: readonly number[] = []): void {
    const tooLate = this.#parts.clock.monotonicMs() - batch.sinceMs > this.#parts.deliveryTimeoutMs
    // Behind a batch that goes again, a gap in the sequence is what has to be expected.
    const follows = queue.isBlocked && error.code === 'sequence_lost'
    if ((error.retriable || follows) && !tooLate) {
      queue.isBlocked = true
      queue.retries.push({ ...batch, mayBeStored: error.retriable })
      return
    }
    if (error.code === 'sequence_lost' && this.#parts.transactionalId === undefined && !tooLate) {
      // The log forgot this producer (the topic was made anew): begin a new sequence with what is left.
      this.#isRenewalDue = true
      queue.isBlocked = true
      queue.retries.push({ ...batch, mayBeStored: false })
      return
    }
    if (error.code === 'record_too_large' && batch.entries.length > 1) {
      this.#split(queue, batch)
      return
    }
    this.#giveUp(queue, batch, error, places)
  }

  /** Fails those that are to blame: the others go again. */
  #giveUp(queue: PartitionQueue, batch: ProducerBatch, error: BrokerError, places: readonly number[]): void {
    const isWhole = places.length === 0 || places.length === batch.entries.length
    if (isWhole || this.#parts.transactionalId !== undefined) this.#fail(batch.entries, error)
    else {
      const blamed = new Set(places)
      const entries = batch.entries.filter((_, place) => !blamed.has(place))
      this.#fail(
        batch.entries.filter((_, place) => blamed.has(place)),
        error,
      )
      queue.isBlocked = true
      queue.retries.push({ ...batch, entries, mayBeStored: false })
    }
    this.#isRenewalDue ||= this.#parts.transactionalId === undefined
  }

  /** None of it was stored, so the parts have the sequence of the whole. What follows is not larger than they are. */
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

  #rest(queue: PartitionQueue): void {
    if (!queue.hasEntries && queue.retries.length === 0 && queue.inFlight === 0) this.#active.delete(queue)
  }

  /** Everything has come back: again in order, after a while and with a fresh look at who leads. */
  #repeatSoon(queue: PartitionQueue): void {
    queue.retries.sort((a, b) => a.baseSequence - b.baseSequence)
    this.#lookAgain([queue])
  }

  #lookAgain(queues: readonly PartitionQueue[]): void {
    for (const queue of queues) queue.isBlocked = true
    const waitMs = backoffMs(BACKOFF, this.#failures++)
    void this.#parts.clock
      .sleep(waitMs)
      .then(() =>
        Promise.allSettled(
          [...new Set(queues.map(({ topic }) => topic))].map((topic) => this.#parts.topology.refresh(topic)),
        ),
      )
      .then((looks) => this.#unblock(queues, looks))
  }

  #unblock(queues: readonly PartitionQueue[], looks: readonly PromiseSettledResult<unknown>[]): void {
    const lost = looks.find((look) => look.status === 'rejected' && !isRetriable(look.reason))
    const oldestMs = this.#parts.clock.monotonicMs() - this.#parts.deliveryTimeoutMs
    for (const queue of queues) {
      queue.isBlocked = false
      if (lost?.status === 'rejected') this.#fail(queue.drain(), lost.reason as Error)
      else if (queue.sinceMs < oldestMs) this.#fail(queue.drain(), timeoutOf(queue, this.#parts.deliveryTimeoutMs))
      this.#rest(queue)
    }
    this.pump()
  }

  /** Takes a new identity and begins all sequences anew. Nothing may be under way. */
  renew(): Promise<void> {
    this.#renewing ??= this.#parts
      .renew()
      .then(() => this.#restart())
      .catch((error: unknown) => {
        for (const queue of this.#active) this.#fail(queue.drain(), error as Error)
        throw error
      })
      .finally(() => {
        this.#renewing = undefined
        this.#isRenewalDue = false
        for (const queue of [...this.#active]) this.#rest(queue)
        this.pump()
      })
    return this.#renewing
  }

  /** Under the new identity every sequence begins at 0, those of waiting batches first. */
  #restart(): void {
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

function isReady(queue: PartitionQueue): boolean {
  if (queue.isBlocked) return false
  if (queue.retries.length > 0 || !queue.isKnown)
    return queue.inFlight === 0 && (queue.retries.length > 0 || queue.hasEntries)
  return queue.hasEntries
}

/** What stands behind a batch that was not stored was not either: the first one says it of all. */
function isInDoubt({ retries: again }: PartitionQueue): boolean {
  return again[0]?.mayBeStored === true
}

function timeoutOf({ topic, partition }: PartitionQueue, timeoutMs: number): BrokerError {
  return new BrokerError(
    'timeout',
    `${topic}-${partition} took no records for ${timeoutMs} ms: it has no leader, or the broker is out of reach`,
  )
}

function isRetriable(error: unknown): boolean {
  return error instanceof BrokerError && error.retriable
}

function errorOf(queue: PartitionQueue, result: ProduceResult | undefined, failure: unknown): BrokerError {
  if (result?.error) return new BrokerError(result.error.code, result.error.message)
  if (failure instanceof BrokerError) return failure
  if (failure instanceof Error) return new BrokerError('unavailable', failure.message, { cause: failure })
  return new BrokerError('unavailable', `no answer for ${queue.topic}-${queue.partition}`)
}
