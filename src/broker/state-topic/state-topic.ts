import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Clock, systemClock } from '../../common/clock.ts'
import { messageOf } from '../../common/errors.ts'
import { ErrorDeduplicator } from '../../common/logging/error-deduplicator.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { withTimeout } from '../../common/timeout.ts'
import type {
  Broker,
  NewRecord,
  NewTopic,
  PartitionOffset,
  PartitionReader,
  PartitionRecords,
  Producer,
  SendResult,
  StoredRecord,
  TopicPartition,
} from '../broker.ts'
import { BrokerError } from '../broker-error.ts'
import { topicPartitionKey } from '../topic-partition.ts'
import { LateWrites } from './late-writes.ts'
import { PositionWaiters, type ReadLimits } from './position-waiters.ts'
import {
  ensureStateTopic,
  outOfRangeError,
  readFailedError,
  recreatedError,
  type StateTopicRequirements,
  truncatedError,
} from './state-topic-checks.ts'

/** A record of a state topic with its position. */
export type StateRecord = StoredRecord & TopicPartition

/** A record that could not be decoded and was skipped. */
export type UnreadableRecord = PartitionOffset & { readonly error: Error }

export type StateTopicOptions<Entry> = StateTopicRequirements & {
  readonly logger: Logger
  /**
   * Decodes one record. If it throws, the error is reported with topic, partition and offset, and the record is
   * skipped, as Kafka Connect and Confluent Schema Registry do.
   */
  readonly decode: (record: StateRecord) => Entry
  /**
   * Called for each decoded record, in the order of its partition, from the start of the log. Must not throw: an
   * exception is a bug and stops the view.
   */
  readonly apply: (entry: Entry, record: StateRecord) => void
  readonly onUnreadable?: (record: UnreadableRecord) => void
  /**
   * Called once when the view cannot follow the topic any further: a record batch is unreadable, or the topic lost
   * records that were read. The view then rejects writes, and the program has to stop.
   */
  readonly onFailed?: ((error: Error) => void) | undefined
  /** Default `read_committed`. */
  readonly isolation?: 'read_committed' | 'read_uncommitted'
  /**
   * How far the topic is read before it is open. With `stable`, up to the first open transaction: for a view whose users
   * call `readToEnd` before they rely on it. Default `end`.
   */
  readonly openTo?: 'end' | 'stable'
  /** How long opening may take without progress. Default 60,000 ms. */
  readonly openTimeoutMs?: number
  /**
   * Timeout of a write with reading it back, which is renewed while it is read back with progress. Default 30,000 ms, as in Kafka
   * Connect, which has no setting for it either.
   */
  readonly appendTimeoutMs?: number
  readonly clock?: Clock
}

export type StateTopic = {
  /**
   * Writes records and resolves when this view has applied them (read your own writes). Records without a partition are
   * partitioned by key. With the producer of a transaction, it resolves when they are written: they become readable after its
   * commit, which is up to the caller.
   */
  append(records: readonly StateWrite[], producer?: Producer): Promise<readonly PartitionOffset[]>
  /** Writes records with a producer that has no transaction, and resolves when this view has applied them. */
  appendBy(producer: Producer, records: readonly StateWrite[]): Promise<readonly PartitionOffset[]>
  /**
   * Resolves when all records that were in the topic at the time of the call are applied, and those of writes that timed out before. Rejects
   * with `timeout`, or with an `OpenTransactionError`, after `timeoutMs` without progress, which is that of a write by default.
   */
  readToEnd(timeoutMs?: number): Promise<void>
  /** The next offset to read, by partition. */
  positions(): readonly PartitionOffset[]
  readonly partitions: number
  /**
   * The error that stopped the view, or `not_authorized` while it may not read the topic. Undefined while it follows the topic.
   */
  readonly failure: Error | undefined
  close(): Promise<void>
}
export type StateWrite = Pick<NewRecord, 'key' | 'value' | 'partition' | 'headers'>

const OPEN_TIMEOUT_MS = 60_000
const APPEND_TIMEOUT_MS = 30_000
const POLL_MS = 1_000
/** Interval of checks that the topic has not been recreated. */
const IDENTITY_CHECK_MS = 10_000
/** Minimum interval between two saves of the progress. */
const PROGRESS_PAUSE_MS = 100
/** A broker that has just started may not know a topic yet. */
const MISSING_MS_MAX = 5_000

/** A compacted topic as an in-memory view: read to its end on opening and followed afterwards. An incomplete view is not opened. */
export async function openStateTopic<Entry>(options: StateTopicOptions<Entry>): Promise<StateTopic> {
  const { broker, topic } = options
  const isNew = await ensureStateTopic(options)
  const [id, ends, first] = await Promise.all([
    broker.topics.id(topic.name),
    endsOf(broker, topic, options.openTo),
    isNew ? undefined : broker.topics.offsets(topic.name, 'earliest'),
  ])
  const state = new FollowedTopic(options, id, first ?? ends.map((end) => ({ ...end, offset: 0 })))
  try {
    await state.readTo(ends, { timeoutMs: options.openTimeoutMs ?? OPEN_TIMEOUT_MS, explains: true })
  } catch (error) {
    await state.close()
    throw error
  }
  state.markOpen()
  return state
}

/** A commit is acknowledged before its markers are written: the last stable offset may not include its records yet. */
function endsOf(broker: Broker, { name }: NewTopic, to: 'end' | 'stable' = 'end'): Promise<readonly PartitionOffset[]> {
  return broker.topics.offsets(name, 'latest', to === 'end' ? 'read_uncommitted' : 'read_committed')
}

class FollowedTopic<Entry> implements StateTopic {
  readonly partitions: number
  readonly #options: StateTopicOptions<Entry>
  readonly #clock: Clock
  readonly #id: string | undefined
  readonly #reader: PartitionReader
  readonly #positions: Map<string, PartitionOffset>
  readonly #waiters: PositionWaiters
  #producer: Promise<Producer> | undefined
  readonly #late = new LateWrites()
  #idCheckedMs: number
  #isCheckingId = false
  #missingSinceMs: number | undefined
  #isSaving = false
  #isOpen = false
  #failure: Error | undefined
  /** Set while this client may not read the topic. */
  #denial: BrokerError | undefined
  readonly #readErrors = new ErrorDeduplicator()
  #closed = false
  readonly #following: Promise<void>

  constructor(options: StateTopicOptions<Entry>, id: string | undefined, starts: readonly PartitionOffset[]) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#id = id
    this.#idCheckedMs = this.#clock.monotonicMs()
    this.partitions = starts.length
    this.#positions = new Map(starts.map((start) => [topicPartitionKey(start), start]))
    this.#waiters = new PositionWaiters({ ...options, clock: this.#clock, positions: this.#positions })
    const { broker, isolation = 'read_committed' } = options
    this.#reader = broker.reader({ isolation, outOfRange: 'error', prefetchesAtEnd: false })
    this.#reader.seek(starts)
    this.#following = this.#follow()
  }

  get failure(): Error | undefined {
    return this.#failure ?? this.#denial
  }

  get #appendTimeoutMs(): number {
    return this.#options.appendTimeoutMs ?? APPEND_TIMEOUT_MS
  }

  /** From here on a failure is reported to the program instead of a caller. */
  markOpen(): void {
    this.#isOpen = true
    if (this.#failure) this.#report(this.#failure)
  }

  positions(): readonly PartitionOffset[] {
    return [...this.#positions.values()]
  }

  async append(writes: readonly StateWrite[], producer?: Producer): Promise<readonly PartitionOffset[]> {
    return producer === undefined ? this.#write(writes) : this.#store(writes, producer)
  }

  async appendBy(producer: Producer, writes: readonly StateWrite[]): Promise<readonly PartitionOffset[]> {
    return this.#write(writes, producer)
  }

  /** The timeout is that of storing and reading back together. */
  async #write(writes: readonly StateWrite[], producer?: Producer): Promise<readonly PartitionOffset[]> {
    const startMs = this.#clock.monotonicMs()
    const stored = await this.#store(writes, producer)
    const ends = stored.map((place) => ({ ...place, offset: place.offset + 1 }))
    const firstMs = Math.max(1, startMs + this.#appendTimeoutMs - this.#clock.monotonicMs())
    await this.readTo(ends, { timeoutMs: this.#appendTimeoutMs, firstMs })
    return stored
  }

  async #store(writes: readonly StateWrite[], producer?: Producer): Promise<readonly PartitionOffset[]> {
    if (writes.length === 0) return []
    this.#check()
    const topic = this.#options.topic.name
    const before = new Map(this.#positions)
    const records = writes.map((write) => ({ ...write, topic }))
    const sending = this.#send(records, producer)
    const late = () => {
      this.#late.add(sending)
      throw new BrokerError(
        'timeout',
        `a write to topic '${topic}' was not acknowledged within ${this.#appendTimeoutMs} ms`,
      )
    }
    const { partitions, offsets } = await withTimeout(sending, this.#appendTimeoutMs, late, this.#clock)
    const stored = writes.map((_, at) => ({ topic, partition: partitions[at] ?? 0, offset: offsets[at] ?? 0 }))
    const backwards = stored.find((place) => place.offset < (before.get(topicPartitionKey(place))?.offset ?? 0))
    if (backwards)
      throw this.#fail(truncatedError(before.get(topicPartitionKey(backwards)) ?? backwards, backwards.offset))
    return stored
  }

  async #send(records: readonly NewRecord[], producer: Producer | undefined): Promise<SendResult> {
    return (producer ?? (await this.#ownProducer())).send(records)
  }

  async readToEnd(timeoutMs = this.#appendTimeoutMs): Promise<void> {
    const { broker, topic } = this.#options
    const late = () => {
      throw new BrokerError('timeout', `the end of topic '${topic.name}' could not be read within ${timeoutMs} ms`)
    }
    const reaching = this.#late.settle().then(() => endsOf(broker, topic))
    const ends = await withTimeout(reaching, timeoutMs, late, this.#clock)
    await this.readTo(ends, { timeoutMs, explains: true })
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#reader.close()
    await this.#following
    await (await this.#producer?.catch(() => undefined))?.close()
    this.#waiters.rejectAll(new BrokerError('closed', `the view of topic '${this.#options.topic.name}' is closed`))
  }

  #check(): void {
    if (this.failure) throw this.failure
    if (this.#closed) throw new BrokerError('closed', `the view of topic '${this.#options.topic.name}' is closed`)
  }

  #ownProducer(): Promise<Producer> {
    const limits = { deliveryTimeoutMs: this.#appendTimeoutMs, maxBlockMs: this.#appendTimeoutMs }
    // A write must not wait until someone has recreated the topic.
    const made = this.#producer ?? this.#options.broker.producer({ ...limits, missingTopicMs: 0 })
    this.#producer = made
    // The next write retries.
    made.catch(() => {
      if (this.#producer === made) this.#producer = undefined
    })
    return made
  }

  /** Resolves when the view has reached these offsets. */
  async readTo(ends: readonly PartitionOffset[], limits: ReadLimits): Promise<void> {
    this.#check()
    await this.#waiters.reach(ends, limits)
  }

  async #follow(): Promise<void> {
    while (!this.#closed && !this.#failure) {
      try {
        const polled = await this.#reader.poll(POLL_MS)
        this.#missingSinceMs = undefined
        this.#denial = undefined
        this.#readErrors.clear()
        // Callers that waited for these records send their responses before the next fetch is sent.
        if (this.#advance(polled)) await nextTurn()
        if (this.#clock.monotonicMs() - this.#idCheckedMs >= IDENTITY_CHECK_MS) void this.#checkTopicId()
      } catch (error) {
        await this.#handleReadError(error as Error)
      }
    }
  }

  #advance(polled: readonly PartitionRecords[]): boolean {
    for (const { topic, partition, records, nextOffset } of polled) {
      for (const record of records) this.#take({ ...record, topic, partition })
      if (this.#failure) return false
      this.#moveTo({ topic, partition, offset: nextOffset })
    }
    if (polled.length > 0 && this.#isOpen && !this.#isSaving) void this.#saveProgress()
    return this.#waiters.resolveReached()
  }

  #moveTo(position: PartitionOffset): void {
    const key = topicPartitionKey(position)
    const { offset } = this.#positions.get(key) ?? { offset: 0 }
    this.#positions.set(key, position)
    if (position.offset === offset) return
    this.#waiters.renew(key, offset)
  }

  /** Saves the progress repeatedly while positions advance. */
  async #saveProgress(): Promise<void> {
    const { progress, logger, topic } = this.#options
    if (!progress) return
    this.#isSaving = true
    const hasMoved = (saved: readonly PartitionOffset[]) =>
      saved.some((position) => this.#positions.get(topicPartitionKey(position))?.offset !== position.offset)
    let saved: readonly PartitionOffset[]
    do {
      saved = this.positions()
      await progress.save(saved).catch((error: unknown) => {
        logger.debug({ err: error, topic: topic.name }, 'cannot save the progress of a state topic')
      })
      await this.#clock.sleep(PROGRESS_PAUSE_MS)
    } while (!this.#closed && !this.#failure && hasMoved(saved))
    this.#isSaving = false
  }

  #take(record: StateRecord): void {
    const { topic, partition, offset } = record
    let entry: Entry
    try {
      entry = this.#options.decode(record)
    } catch (error) {
      this.#options.logger.error({ err: error, topic, partition, offset }, 'cannot decode a record: it is skipped')
      this.#options.onUnreadable?.({ topic, partition, offset, error: error as Error })
      return
    }
    try {
      this.#options.apply(entry, record)
    } catch (error) {
      const place = `the record at offset ${offset} of ${topic}-${partition}`
      this.#fail(new Error(`internal error: applying ${place} failed: ${messageOf(error)}`, { cause: error }))
    }
  }

  /** Retries transient errors. Any other error means that the view could miss records, and stops it. */
  async #handleReadError(error: Error): Promise<void> {
    if (this.#closed) return
    const { broker, logger, topic } = this.#options
    if (error instanceof BrokerError && (error.retriable || this.#isDenial(error) || this.#isMissingBriefly(error))) {
      if (!this.#readErrors.isRepeated(error))
        logger.warn({ err: error, topic: topic.name }, 'cannot read a state topic, retrying until it succeeds')
      await this.#clock.sleep(POLL_MS)
      return
    }
    const isOutOfRange = error instanceof BrokerError && error.code === 'offset_out_of_range'
    this.#fail(isOutOfRange ? await outOfRangeError(broker, this.positions()) : readFailedError(topic.name, error))
  }

  #isMissingBriefly({ code }: BrokerError): boolean {
    if (code !== 'topic_not_found') return false
    const nowMs = this.#clock.monotonicMs()
    this.#missingSinceMs ??= nowMs
    // When it exists again, it may be another topic.
    this.#idCheckedMs = Number.NEGATIVE_INFINITY
    return nowMs - this.#missingSinceMs < MISSING_MS_MAX
  }

  /** A topic that was recreated and has grown past the position of this view is detected by its id only. */
  async #checkTopicId(): Promise<void> {
    const { broker, topic } = this.#options
    if (this.#id === undefined || this.#isCheckingId) return
    this.#isCheckingId = true
    const id = await broker.topics.id(topic.name).catch(() => undefined)
    this.#isCheckingId = false
    this.#idCheckedMs = this.#clock.monotonicMs()
    if (id !== undefined && id !== this.#id) this.#fail(recreatedError(topic.name))
  }

  /** The view is incomplete until the right to read the topic is granted again, and continues then. */
  #isDenial(error: BrokerError): boolean {
    if (!this.#isOpen || error.code !== 'not_authorized') return false
    this.#denial = error
    this.#waiters.rejectAll(error)
    return true
  }

  /** Stops the view. Only the first failure is reported. */
  #fail(error: Error): Error {
    if (this.#failure || this.#closed) return this.#failure ?? error
    this.#failure = error
    this.#waiters.rejectAll(error)
    this.#reader.wake()
    if (this.#isOpen) this.#report(error)
    return error
  }

  #report(error: Error): void {
    const { logger, topic, onFailed } = this.#options
    logger.fatal({ err: error, topic: topic.name }, 'a state topic can no longer be followed')
    onFailed?.(error)
  }
}
