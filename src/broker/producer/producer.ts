import type { Clock } from '../../common/clock.ts'
import { countWork } from '../../common/code-optimization.ts'
import { retry } from '../../common/retry.ts'
import type {
  CommittedOffset,
  MemberGeneration,
  NewRecord,
  Producer,
  ProducerOptions,
  SendResult,
  TopicPartition,
} from '../broker.ts'
import type { BrokerBackend, ProducerIdentity } from '../broker-backend.ts'
import { BrokerError, isMissing } from '../broker-error.ts'
import type { MetadataCache } from '../metadata-cache.ts'
import { recordBytesMax } from '../record-batch/record-batch.ts'
import { BufferPool } from './buffer-pool.ts'
import { MissingTopicWait } from './missing-topic-wait.ts'
import type { SendCallback } from './partition-queue.ts'
import { partitionForKey } from './partitioner.ts'
import { missingPartition } from './produce-errors.ts'
import { Sender } from './sender.ts'

const BATCH_BYTES_MAX = 1_000_000
const BUFFER_BYTES_MAX = 32 * 1024 * 1024
const DELIVERY_TIMEOUT_MS = 120_000
const TRANSACTION_TIMEOUT_MS = 60_000
const MAX_BLOCK_MS = 60_000
const BACKOFF = { firstMs: 20, maxMs: 1_000 }

export type ProducerDependencies = {
  readonly backend: BrokerBackend
  readonly topology: MetadataCache
  readonly clock: Clock
  readonly onClose: () => void
}

const PARTITION_MAX = 2 ** 31 - 1

/**
 * Throws if a producer with this limit would reject the record regardless of the topic: `record_too_large`, or `invalid_record` for a
 * record that cannot be encoded, because it comes from a plugin.
 */
export function checkRecord(record: NewRecord, bytesMax = BATCH_BYTES_MAX): void {
  const { key, value, topic, partition, timestampMs, headers } = record
  const isValid =
    (partition === undefined || (Number.isInteger(partition) && partition >= 0 && partition <= PARTITION_MAX)) &&
    (timestampMs === undefined || Number.isSafeInteger(timestampMs)) &&
    isBytes(key) &&
    isBytes(value) &&
    (headers === undefined || headers.every(([name, content]) => typeof name === 'string' && isBytes(content)))
  if (!isValid) throw invalidRecord(record)
  if ((key?.length ?? 0) + (value?.length ?? 0) <= bytesMax) return
  const bytes = recordBytesMax(record)
  throw new BrokerError(
    'record_too_large',
    `a record of ${bytes} bytes for topic '${topic}' exceeds the maximum of ${bytesMax} bytes`,
  )
}

function isBytes(content: Uint8Array | null): boolean {
  return content === null || content instanceof Uint8Array
}

function invalidRecord({ topic, partition, timestampMs }: NewRecord): BrokerError {
  const shown = `partition ${String(partition)}, timestamp ${String(timestampMs)}`
  return new BrokerError(
    'invalid_record',
    `a record for topic '${topic}' cannot be written (${shown}): expected whole numbers as partition and timestamp, and bytes as key, ` +
      'value and headers',
  )
}

/** Initializes a producer id first: a transactional or fencing id fences all older producers. */
export async function createProducer(parts: ProducerDependencies, options: ProducerOptions): Promise<Producer> {
  const { transactionalId = options.fencingId, transactionTimeoutMs = TRANSACTION_TIMEOUT_MS } = options
  const identify = () =>
    parts.backend.initProducer(transactionalId === undefined ? {} : { transactionalId, transactionTimeoutMs })
  return new LogProducer(parts, options, await identify(), identify)
}

class LogProducer implements Producer {
  readonly #parts: ProducerDependencies
  readonly #transactionalId: string | undefined
  readonly #fencingId: string | undefined
  readonly #recordBytesMax: number
  readonly #deliveryTimeoutMs: number
  readonly #missingTopic: MissingTopicWait
  readonly #sender: Sender
  readonly #buffer: BufferPool
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
    this.#fencingId = options.transactionalId === undefined ? options.fencingId : undefined
    const batchBytesMax = options.batchBytesMax ?? BATCH_BYTES_MAX
    this.#recordBytesMax = options.recordBytesMax ?? batchBytesMax
    this.#deliveryTimeoutMs = options.deliveryTimeoutMs ?? DELIVERY_TIMEOUT_MS
    this.#missingTopic = new MissingTopicWait(options.maxBlockMs ?? MAX_BLOCK_MS, parts.clock, options.signal)
    this.#buffer = new BufferPool(options.bufferBytesMax ?? BUFFER_BYTES_MAX)
    this.#sender = new Sender({
      ...parts,
      transactionalId: options.transactionalId,
      compression: options.compression ?? 'none',
      batchBytesMax,
      deliveryTimeoutMs: this.#deliveryTimeoutMs,
      missingTopic: this.#missingTopic,
      identity: () => this.#identity,
      renew: async () => {
        // A new producer id would fence the producer that has taken over.
        if (this.#fencingId !== undefined) throw this.#failure ?? unusableError(this.#fencingId)
        this.#identity = await this.#retryTransient(identify)
      },
      freed: (bytes) => this.#buffer.release(bytes),
    })
  }

  async send(records: readonly NewRecord[], onRejected?: OnRejected): Promise<SendResult> {
    const sent = { partitions: new Int32Array(records.length), offsets: new Float64Array(records.length) }
    if (records.length === 0) return sent
    countWork(records.length)
    this.#check()
    let bytes = 0
    for (const record of records) bytes += this.#sizeOf(record)
    let delivered: Promise<SendResult> | undefined
    // Calls are queued in order, and so are their records.
    await this.#buffer.allocate(bytes, async () => {
      const partitions = await this.#prepare(records)
      this.#check()
      delivered = this.#deliver(records, partitions, sent, onRejected)
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
    const { backend } = this.#parts
    await this.#trackFailure(
      this.#whileMissing(() => backend.addPartitionsToTransaction({ ...transaction, partitions })),
    )
  }

  async sendOffsets(groupId: string, offsets: readonly CommittedOffset[], member?: MemberGeneration): Promise<void> {
    this.#check()
    const transaction = this.#transaction()
    this.#hasChanges = true
    // The instance id is omitted: with it a replaced member would be `fenced`, which callers read as a fenced producer.
    const self = member && { member: { memberId: member.memberId, generation: member.generation } }
    await this.#trackFailure(
      this.#parts.backend.commitOffsetsInTransaction({ ...transaction, groupId, offsets, ...self }),
    )
  }

  async commit(): Promise<void> {
    this.#check()
    const transaction = this.#transaction()
    await this.#sender.flush()
    this.#check()
    if (this.#hasChanges) await this.#trackFailure(this.#parts.backend.endTransaction({ ...transaction, commit: true }))
    this.#inTransaction = false
  }

  async abort(): Promise<void> {
    const transaction = this.#transaction()
    await this.#sender.drop(new BrokerError('invalid_transaction', 'the transaction was aborted'))
    if (isFatal(this.#failure)) throw this.#failure
    // A failed batch leaves a gap in the sequence. Reinitializing the producer id starts a new sequence and aborts the
    // open transaction.
    if (this.#failure) await this.#sender.renew()
    else if (this.#hasChanges) await this.#parts.backend.endTransaction({ ...transaction, commit: false })
    this.#inTransaction = false
    this.#failure = undefined
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
   * producer with a fencing id unusable permanently.
   */
  async #trackFailure<T>(call: Promise<T>): Promise<T> {
    try {
      return await call
    } catch (error) {
      if (this.#transactionalId !== undefined || this.#fencingId !== undefined) this.#failure ??= error as Error
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
      if (known >= count) topology.refreshIfOld(topic)
      needed.set(topic, known >= count ? known : await this.#waitForPartitions(topic, count))
    }
    return needed
  }

  #waitForPartitions(topic: string, count: number): Promise<number> {
    const { topology } = this.#parts
    return this.#whileMissing(async () => {
      const { length } = await this.#retryTransient(() => topology.refresh(topic))
      if (length >= count) return length
      throw missingPartition(topic, count - 1, length)
    })
  }

  /** Retries a call while the brokers do not know a topic. */
  async #whileMissing<T>(attempt: () => Promise<T>): Promise<T> {
    const { clock } = this.#parts
    const startMs = clock.monotonicMs()
    const retriable = (error: unknown) => !this.#closed && isMissing(error) && this.#missingTopic.continues(startMs)
    const { maxMs } = this.#missingTopic
    try {
      return await retry(attempt, { backoff: BACKOFF, clock, retriable, withinMs: maxMs })
    } catch (error) {
      throw isMissing(error) && !this.#closed ? this.#missingTopic.explain(error) : error
    }
  }

  /** Retries transient errors for as long as a record may be retried. */
  #retryTransient<T>(attempt: () => Promise<T>): Promise<T> {
    const retriable = (error: unknown) => !this.#closed && error instanceof BrokerError && error.retriable
    const { clock } = this.#parts
    return retry(attempt, { backoff: BACKOFF, clock, retriable, withinMs: this.#deliveryTimeoutMs })
  }

  #deliver(
    records: readonly NewRecord[],
    partitions: ReadonlyMap<string, number>,
    sent: SendResult,
    onRejected: OnRejected | undefined,
  ): Promise<SendResult> {
    const report = this.#transactionalId === undefined && this.#fencingId === undefined ? onRejected : undefined
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
            if (report && isRejection(error)) report(index, error)
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

type OnRejected = Parameters<Producer['send']>[1]

function isRejection(error: Error): error is BrokerError {
  return error instanceof BrokerError && (error.code === 'record_too_large' || error.code === 'invalid_record')
}

function unusableError(fencingId: string): BrokerError {
  return new BrokerError(
    'sequence_lost',
    `a record of the producer with the fencing id '${fencingId}' failed: open a new producer`,
  )
}

function isFatal(error: Error | undefined): error is BrokerError {
  return error instanceof BrokerError && error.code === 'fenced'
}
