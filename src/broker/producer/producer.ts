import type { Clock } from '../../common/clock.ts'
import { type Backoff, retry } from '../../common/retry.ts'
import { type Release, Semaphore } from '../../common/semaphore.ts'
import { withTimeout } from '../../common/timeout.ts'
import type {
  CommittedOffset,
  MemberGeneration,
  NewRecord,
  Producer,
  ProducerIdentity,
  ProducerOptions,
  SendResult,
  TopicPartition,
} from '../broker.ts'
import type { BackendRequest, BrokerBackend } from '../broker-backend.ts'
import { BrokerError, isMissing, isTransient } from '../broker-error.ts'
import type { ClientDefaults } from '../client-settings.ts'
import type { MetadataCache } from '../metadata-cache.ts'
import { recordBytesMax } from '../record-batch/record-batch.ts'
import { BATCH_BYTES_MAX, checkRecord } from './check-record.ts'
import { MissingTopicWait } from './missing-topic-wait.ts'
import type { SendCallback } from './partition-queue.ts'
import { partitionForKey } from './partitioner.ts'
import { missingPartition } from './produce-errors.ts'
import { Sender } from './sender.ts'

const BUFFER_BYTES_MAX = 32 * 1024 * 1024
/** Maximum number of `send` calls that wait for earlier ones. */
const SENDS_WAITING_MAX = 100_000
const DELIVERY_TIMEOUT_MS = 120_000
const TRANSACTION_TIMEOUT_MS = 60_000
const MAX_BLOCK_MS = 60_000
const REQUEST_MS_MIN = 5_000
const METADATA_MAX_AGE_MS = 300_000
const IN_FLIGHT_MAX = 5

export type ProducerDependencies = {
  readonly backend: BrokerBackend
  readonly topology: MetadataCache
  readonly clock: Clock
  readonly defaults: ClientDefaults
  readonly onClose: () => void
}

/**
 * Initializes a producer id first, unless it is given: a transactional id fences all older producers. While no broker can give one,
 * for example because the controller has failed, this is retried.
 */
export async function createProducer(parts: ProducerDependencies, options: ProducerOptions): Promise<Producer> {
  const { transactionalId, transactionTimeoutMs = TRANSACTION_TIMEOUT_MS, maxBlockMs = MAX_BLOCK_MS, signal } = options
  const { backend, clock, defaults } = parts
  const identify = (only: Pick<ProducerOptions, 'successorOf'> = {}) =>
    backend.initProducer(transactionalId === undefined ? {} : { transactionalId, transactionTimeoutMs, ...only })
  const retriable = (error: unknown) => signal?.aborted !== true && isTransient(error)
  const retrying = { backoff: defaults.retryBackoff, clock, retriable, withinMs: maxBlockMs }
  const first = () => identify(options.successorOf && { successorOf: options.successorOf })
  const identity = options.identity ?? (await withinMaxBlock(retry(first, retrying), maxBlockMs, clock))
  return new LogProducer(parts, options, identity, identify)
}

class LogProducer implements Producer {
  readonly #parts: ProducerDependencies
  readonly #transactionalId: string | undefined
  /** The identity was given, so that a new one would not fence the same producers. */
  readonly #hasFixedIdentity: boolean
  readonly #recordBytesMax: number
  readonly #deliveryTimeoutMs: number
  readonly #maxBlockMs: number
  readonly #metadataMaxAgeMs: number
  readonly #backoff: Backoff
  /** Ends the waits for missing topics, and the retries of calls that have failed. */
  readonly #signal: AbortSignal | undefined
  readonly #missingTopic: MissingTopicWait
  readonly #sender: Sender
  readonly #sends = new Semaphore(1, {
    waitingMax: SENDS_WAITING_MAX,
    full: () => new BrokerError('unavailable', `${SENDS_WAITING_MAX} calls of the producer wait already: send later`),
  })
  /** The bytes of unacknowledged records. */
  readonly #buffer: Semaphore
  #identity: ProducerIdentity
  #inTransaction = false
  /** How many partitions of each topic the open transaction includes. */
  #added = new Map<string, number>()
  #hasChanges = false
  #failure: Error | undefined
  #closed = false
  #rotation = 0

  constructor(
    parts: ProducerDependencies,
    options: ProducerOptions,
    identity: ProducerIdentity,
    identify: () => Promise<ProducerIdentity>,
  ) {
    this.#parts = parts
    this.#identity = identity
    this.#transactionalId = options.transactionalId
    this.#hasFixedIdentity = options.identity !== undefined
    const batchBytesMax = options.batchBytesMax ?? BATCH_BYTES_MAX
    this.#recordBytesMax = options.recordBytesMax ?? batchBytesMax
    this.#deliveryTimeoutMs = options.deliveryTimeoutMs ?? DELIVERY_TIMEOUT_MS
    this.#maxBlockMs = options.maxBlockMs ?? MAX_BLOCK_MS
    const { metadataMaxAgeMs = parts.defaults.metadataMaxAgeMs, missingTopicMs = this.#maxBlockMs } = options
    this.#metadataMaxAgeMs = metadataMaxAgeMs ?? METADATA_MAX_AGE_MS
    this.#backoff = parts.defaults.retryBackoff
    this.#signal = options.signal
    this.#missingTopic = new MissingTopicWait(missingTopicMs, parts.clock, options.signal)
    this.#buffer = new Semaphore(options.bufferBytesMax ?? BUFFER_BYTES_MAX)
    this.#sender = new Sender({
      ...parts,
      transactionalId: options.transactionalId,
      compression: options.compression ?? 'none',
      batchBytesMax,
      deliveryTimeoutMs: this.#deliveryTimeoutMs,
      inFlightMax: options.inFlightMax ?? IN_FLIGHT_MAX,
      backoff: this.#backoff,
      missingTopic: this.#missingTopic,
      identity: () => this.#identity,
      renew: async () => {
        if (this.#hasFixedIdentity) throw this.#failure ?? unusableError(this.#identity)
        this.#identity = await this.#retryTransient(identify)
      },
      freed: (bytes) => this.#buffer.release(bytes),
    })
  }

  async send(records: readonly NewRecord[], onRejected?: OnRejected): Promise<SendResult> {
    const sent = { partitions: new Int32Array(records.length), offsets: new Float64Array(records.length) }
    if (records.length === 0) return sent
    this.#check()
    let bytes = 0
    for (const record of records) bytes += this.#sizeOf(record)
    let delivered: Promise<SendResult> | undefined
    // Calls are queued in order, and so are their records.
    await this.#sends.run(async () => {
      const release = await this.#acquireBuffer(bytes)
      try {
        const partitions = await this.#prepare(records)
        this.#check()
        delivered = this.#deliver(records, partitions, sent, onRejected)
      } catch (error) {
        release()
        throw error
      }
    })
    return delivered ?? sent
  }

  begin(): void {
    this.#check()
    if (this.#transactionalId === undefined)
      throw new BrokerError('invalid_transaction', 'this producer has no transactional id')
    if (this.#inTransaction)
      throw new BrokerError('invalid_transaction', `a transaction of '${this.#transactionalId}' is already open`)
    this.#inTransaction = true
    this.#hasChanges = false
    this.#added = new Map()
  }

  async addPartitions(partitions: readonly TopicPartition[]): Promise<void> {
    this.#check()
    const transaction = this.#transaction()
    if (partitions.length === 0) return
    this.#hasChanges = true
    const add = () => this.#parts.backend.addPartitionsToTransaction({ ...transaction, partitions })
    const added = this.#whileMissing(() => this.#retryTransient(add, this.#maxBlockMs))
    await this.#trackFailure(this.#withinMaxBlock(added))
  }

  async sendOffsets(groupId: string, offsets: readonly CommittedOffset[], member?: MemberGeneration): Promise<void> {
    this.#check()
    const transaction = this.#transaction()
    this.#hasChanges = true
    // The instance id is omitted: with it a replaced member would be `fenced`, which callers read as a fenced producer.
    const self = member && { member: { memberId: member.memberId, generation: member.generation } }
    const committed = this.#parts.backend.commitOffsetsInTransaction({ ...transaction, groupId, offsets, ...self })
    await this.#trackFailure(this.#withinMaxBlock(committed))
  }

  async commit(): Promise<void> {
    this.#check()
    const transaction = this.#transaction()
    await this.#sender.flush()
    this.#check()
    if (this.#hasChanges) await this.#trackFailure(this.#end({ ...transaction, commit: true }))
    this.#inTransaction = false
  }

  async abort(): Promise<void> {
    const transaction = this.#transaction()
    await this.#sender.drop(new BrokerError('invalid_transaction', 'the transaction was aborted'))
    if (isFatal(this.#failure)) throw this.#failure
    // A failed batch leaves a gap in the sequence. Reinitializing the producer id starts a new sequence and aborts the
    // open transaction.
    if (this.#failure) await this.#sender.renew()
    else if (this.#hasChanges) await this.#end({ ...transaction, commit: false })
    this.#inTransaction = false
    this.#failure = undefined
  }

  async #end(request: BackendRequest<'endTransaction'>): Promise<void> {
    const { producerId, epoch } = await this.#persist(() => this.#parts.backend.endTransaction(request))
    if (producerId === this.#identity.producerId && epoch === this.#identity.epoch) return
    this.#identity = { producerId, epoch }
    this.#sender.restart()
  }

  async close(): Promise<void> {
    if (this.#closed) return
    if (this.#inTransaction) await this.abort().catch(() => undefined)
    this.#closed = true
    await this.#sender.close()
    this.#parts.onClose()
  }

  #check(): void {
    if (this.#closed) throw new BrokerError('closed', 'the producer is closed')
    if (this.#failure) throw this.#failure
  }

  #transaction() {
    if (this.#transactionalId === undefined || !this.#inTransaction)
      throw new BrokerError('invalid_transaction', 'no transaction is open')
    return { ...this.#identity, transactionalId: this.#transactionalId }
  }

  /**
   * A failure makes a transaction unusable: until `abort`, or permanently if the producer is fenced. It makes a
   * producer with a given identity unusable permanently.
   */
  async #trackFailure<T>(call: Promise<T>): Promise<T> {
    try {
      return await call
    } catch (error) {
      if (this.#transactionalId !== undefined || this.#hasFixedIdentity) this.#failure ??= error as Error
      throw error
    }
  }

  #sizeOf(record: NewRecord): number {
    checkRecord(record, this.#recordBytesMax)
    return recordBytesMax(record)
  }

  /**
   * Resolves with the number of partitions of each topic, which decides where keys go, when all of them belong to the
   * transaction.
   */
  async #prepare(records: readonly NewRecord[]): Promise<ReadonlyMap<string, number>> {
    const counts = await this.#partitionCounts(records)
    if (this.#transactionalId === undefined) return counts
    // Rejects when no transaction is open.
    this.#transaction()
    const added = this.#added
    const joining: TopicPartition[] = []
    for (const [topic, count] of counts)
      for (let partition = added.get(topic) ?? 0; partition < count; partition++) joining.push({ topic, partition })
    if (joining.length === 0) return counts
    await this.addPartitions(joining)
    for (const { topic, partition } of joining) added.set(topic, partition + 1)
    return counts
  }

  /** Waits for topics, and partitions of these records, that the brokers do not know yet. */
  async #partitionCounts(records: readonly NewRecord[]): Promise<ReadonlyMap<string, number>> {
    const { topology } = this.#parts
    const needed = new Map<string, number>()
    for (const { topic, partition = 0 } of records)
      if (partition >= (needed.get(topic) ?? 0)) needed.set(topic, partition + 1)
    for (const [topic, count] of needed) {
      const known = topology.known(topic)?.length ?? 0
      if (known >= count) topology.refreshIfOld(topic, this.#metadataMaxAgeMs)
      needed.set(topic, known >= count ? known : await this.#waitForPartitions(topic, count))
    }
    return needed
  }

  #waitForPartitions(topic: string, count: number): Promise<number> {
    const { topology } = this.#parts
    return this.#whileMissing(async () => {
      const { length } = await this.#persist(() => topology.refresh(topic))
      if (length >= count) return length
      throw missingPartition(topic, count - 1, length)
    })
  }

  async #acquireBuffer(bytes: number): Promise<Release> {
    const free = this.#buffer.tryAcquire(bytes)
    if (free !== undefined) return free
    const { clock } = this.#parts
    const acquiring = this.#buffer.acquire(bytes)
    const late = () => {
      void acquiring.then((release) => release())
      throw new BrokerError('timeout', `the buffer of the producer was full for ${this.#maxBlockMs} ms (max.block.ms)`)
    }
    return withTimeout(acquiring, this.#maxBlockMs, late, clock)
  }

  /** Repeats a call while brokers cannot carry it out, for `max.block.ms`. */
  #persist<T>(call: () => Promise<T>): Promise<T> {
    return this.#withinMaxBlock(this.#retryTransient(call, this.#maxBlockMs))
  }

  #withinMaxBlock<T>(call: Promise<T>): Promise<T> {
    return withinMaxBlock(call, this.#maxBlockMs, this.#parts.clock)
  }

  /** Retries a call while the brokers do not know a topic. */
  async #whileMissing<T>(attempt: () => Promise<T>): Promise<T> {
    const { clock } = this.#parts
    const startMs = clock.monotonicMs()
    const retriable = (error: unknown) => !this.#closed && isMissing(error) && this.#missingTopic.continues(startMs)
    const { maxMs } = this.#missingTopic
    try {
      return await retry(attempt, { backoff: this.#backoff, clock, retriable, withinMs: maxMs })
    } catch (error) {
      throw isMissing(error) && !this.#closed ? this.#missingTopic.explain(error) : error
    }
  }

  /** Retries transient errors, by default for as long as a record may be retried. */
  #retryTransient<T>(attempt: () => Promise<T>, withinMs = this.#deliveryTimeoutMs): Promise<T> {
    const retriable = (error: unknown) => !this.#closed && this.#signal?.aborted !== true && isTransient(error)
    const { clock } = this.#parts
    return retry(attempt, { backoff: this.#backoff, clock, retriable, withinMs })
  }

  #deliver(
    records: readonly NewRecord[],
    partitions: ReadonlyMap<string, number>,
    sent: SendResult,
    onRejected: OnRejected | undefined,
  ): Promise<SendResult> {
    const report = this.#transactionalId === undefined && !this.#hasFixedIdentity ? onRejected : undefined
    return this.#trackFailure(
      new Promise<SendResult>((resolve, reject) => {
        let left = records.length
        let failure: Error | undefined
        const settle = () => {
          left -= 1
          if (left === 0) failure ? reject(failure) : resolve(sent)
        }
        const delivery: SendCallback = {
          onStored: (index, partition, offset) => {
            sent.partitions[index] = partition
            sent.offsets[index] = offset
            settle()
          },
          onFailed: (index, error) => {
            if (report && isRecordRejected(error)) report(index, error)
            else failure ??= error
            settle()
          },
        }
        const rotation = this.#rotation++
        for (let index = 0; index < records.length; index++) {
          const record = records[index]!
          const partition = choosePartition(record, partitions.get(record.topic) as number, rotation)
          this.#sender.add(record, partition, index, delivery)
        }
        this.#sender.pumpSoon()
      }),
    )
  }
}

/** All records of one call without a key go to the same partition; the next call uses the next partition. */
function choosePartition({ partition, key }: NewRecord, partitions: number, rotation: number): number {
  if (partition !== undefined) return partition
  if (partitions === 1) return 0
  return key === null ? rotation % partitions : partitionForKey(key, partitions)
}

/** However short `max.block.ms` is, a request has some time, so that a topic that is missing is told from a broker that is slow. */
function withinMaxBlock<T>(call: Promise<T>, maxBlockMs: number, clock: Clock): Promise<T> {
  const late = () => {
    throw new BrokerError('timeout', `no response of the brokers within ${maxBlockMs} ms (max.block.ms)`)
  }
  return withTimeout(call, Math.max(REQUEST_MS_MIN, maxBlockMs), late, clock)
}

type OnRejected = Parameters<Producer['send']>[1]

function isRecordRejected(error: Error): error is BrokerError {
  return error instanceof BrokerError && (error.code === 'record_too_large' || error.code === 'invalid_record')
}

function unusableError({ producerId, epoch }: ProducerIdentity): BrokerError {
  return new BrokerError(
    'sequence_lost',
    `a record of producer ${producerId} in epoch ${epoch} failed: open a new producer with a higher epoch`,
  )
}

function isFatal(error: Error | undefined): error is BrokerError {
  return error instanceof BrokerError && error.code === 'fenced'
}
