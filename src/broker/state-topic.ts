import { type Clock, systemClock } from '../config/clock.ts'
import { messageOf } from '../config/errors.ts'
import type { Logger } from '../config/logger.ts'
import { withTimeout } from '../config/timeout.ts'
import type {
  Broker,
  NewRecord,
  NewTopic,
  PartitionOffset,
  PartitionReader,
  PartitionRecords,
  Producer,
  StoredRecord,
  TopicPartition,
} from './broker.ts'
import { BrokerError } from './error.ts'
import {
  checkComplete,
  checkTopic,
  outOfRangeError,
  readFailedError,
  recreatedError,
  type StateTopicEvidence,
  truncatedError,
} from './state-topic-checks.ts'
import { partitionKey } from './topic-partition.ts'

/** A record of a state topic and where it stands. */
export type StateRecord = StoredRecord & TopicPartition

/** A record that could not be decoded; it was skipped. */
export type UnreadableRecord = PartitionOffset & { readonly error: Error }

export type StateTopicOptions<Entry> = StateTopicEvidence & {
  readonly broker: Broker
  readonly logger: Logger
  /** Made when it is missing, compacted; else its policy and, when `partitions` is given, their number are checked. */
  readonly topic: NewTopic
  /** Takes the topic as it is: its policy, its partitions, its beginning and its being empty. Default false. */
  readonly skipValidation?: boolean | undefined
  /**
   * Reads one record. What it throws is reported with topic, partition and offset, and the record is skipped, as Kafka
   * Connect and Confluent's registry do.
   */
  readonly decode: (record: StateRecord) => Entry
  /**
   * Called for every decoded record in the order of its partition, from the beginning of the log on. It must not throw:
   * that is a bug and ends the view.
   */
  readonly apply: (entry: Entry, record: StateRecord) => void
  readonly onUnreadable?: (record: UnreadableRecord) => void
  /**
   * Called once, when the view cannot follow the topic any further: a record batch cannot be read, or the topic no longer
   * holds what was read from it. The view takes no more writes; the program that depends on it has to stop.
   */
  readonly onFailed?: ((error: Error) => void) | undefined
  /** Default `read_committed`. */
  readonly isolation?: 'read_committed' | 'read_uncommitted'
  /** How long opening may take. Default 60,000 ms. */
  readonly openTimeoutMs?: number
  /** How long a write may take until it is read back. Default 30,000 ms. */
  readonly appendTimeoutMs?: number
  readonly clock?: Clock
}

export type StateTopic = {
  /**
   * Writes records and waits until this very view has applied them: whoever awaits it reads its own writes.
   * Records without a partition go where their key belongs.
   */
  append(records: readonly StateWrite[], producer?: Producer): Promise<readonly PartitionOffset[]>
  /** Waits until this view has applied the records at these places. */
  applied(places: readonly PartitionOffset[]): Promise<void>
  /** Waits until everything that stood in the topic at the time of the call is applied. */
  readToEnd(): Promise<void>
  /** By partition, the offset that is read next. */
  positions(): readonly PartitionOffset[]
  readonly partitions: number
  /** Why the view ended by itself. Undefined while it follows the topic. */
  readonly failure: Error | undefined
  close(): Promise<void>
}
export type StateWrite = Pick<NewRecord, 'key' | 'value' | 'partition' | 'headers'>

const OPEN_TIMEOUT_MS = 60_000
const APPEND_TIMEOUT_MS = 30_000
const POLL_MS = 1_000
/** How long the answer to why it took too long may take. */
const STABLE_MS_MAX = 5_000
/** How often the view asks whether the topic is still the one that it opened. */
const IDENTITY_CHECK_MS = 10_000
/** Between two times that the progress is saved. */
const PROGRESS_PAUSE_MS = 100
/** A broker that has just started may not know a topic for a moment. */
const MISSING_MS_MAX = 5_000

/**
 * A compacted topic as the program's memory: read to its end when it is opened, followed from then on. The log is the
 * only truth; what `apply` builds is a view of it, and a view that cannot be complete is not given.
 */
export async function openStateTopic<Entry>(options: StateTopicOptions<Entry>): Promise<StateTopic> {
  const { broker, topic, skipValidation = false } = options
  if (!skipValidation) await checkComplete(broker, topic.name, options)
  await broker.topics.create({ ...topic, configs: { ...topic.configs, 'cleanup.policy': 'compact' } })
  if (!skipValidation) await checkTopic(broker, topic)
  const id = await broker.topics.id(topic.name)
  const starts = await broker.topics.offsets(topic.name, 'earliest')
  const state = new FollowedTopic(options, id, starts)
  try {
    await state.readToEnd(options.openTimeoutMs ?? OPEN_TIMEOUT_MS)
  } catch (error) {
    await state.close()
    throw error
  }
  state.opened()
  return state
}

type Waiter = {
  readonly until: ReadonlyMap<string, number>
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

class FollowedTopic<Entry> implements StateTopic {
  readonly partitions: number
  readonly #options: StateTopicOptions<Entry>
  readonly #clock: Clock
  readonly #id: string | undefined
  readonly #reader: PartitionReader
  readonly #positions: Map<string, PartitionOffset>
  readonly #waiters = new Set<Waiter>()
  #producer: Promise<Producer> | undefined
  #identifiedMs: number
  #isIdentifying = false
  #missingSinceMs: number | undefined
  #isSaving = false
  #isOpen = false
  #failure: Error | undefined
  #closed = false
  readonly #following: Promise<void>

  constructor(options: StateTopicOptions<Entry>, id: string | undefined, starts: readonly PartitionOffset[]) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#id = id
    this.#identifiedMs = this.#clock.monotonicMs()
    this.partitions = starts.length
    this.#positions = new Map(starts.map((start) => [partitionKey(start), start]))
    this.#reader = options.broker.reader({ isolation: options.isolation ?? 'read_committed', outOfRange: 'error' })
    this.#reader.seek(starts)
    this.#following = this.#follow()
  }

  get failure(): Error | undefined {
    return this.#failure
  }

  /** From here on a failure is nobody's who waits, but the program's. */
  opened(): void {
    this.#isOpen = true
    if (this.#failure) this.#options.onFailed?.(this.#failure)
  }

  positions(): readonly PartitionOffset[] {
    return [...this.#positions.values()]
  }

  async append(writes: readonly StateWrite[], producer?: Producer): Promise<readonly PartitionOffset[]> {
    if (writes.length === 0) return []
    this.#check()
    const topic = this.#options.topic.name
    const writer = producer ?? (await this.#ownProducer())
    const before = new Map(this.#positions)
    const { partitions, offsets } = await writer.send(writes.map((write) => ({ ...write, topic })))
    const stored = writes.map((_, at) => ({ topic, partition: partitions[at] ?? 0, offset: offsets[at] ?? 0 }))
    const backwards = stored.find((place) => place.offset < (before.get(partitionKey(place))?.offset ?? 0))
    if (backwards) throw this.#fail(truncatedError(before.get(partitionKey(backwards)) ?? backwards, backwards.offset))
    // A transaction's records can be read only after its commit, which is the caller's.
    if (!producer) await this.applied(stored)
    return stored
  }

  applied(places: readonly PartitionOffset[]): Promise<void> {
    return this.#applied(places.map((place) => ({ ...place, offset: place.offset + 1 })))
  }

  async readToEnd(timeoutMs?: number): Promise<void> {
    const { broker, topic } = this.#options
    // A commit is answered before its markers are in the partitions: the last stable offset may not have what it wrote.
    const ends = await broker.topics.offsets(topic.name, 'latest', 'read_uncommitted')
    await this.#applied(ends, timeoutMs)
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#reader.close()
    await this.#following
    await (await this.#producer?.catch(() => undefined))?.close()
    this.#failAll(new BrokerError('closed', `the view of topic '${this.#options.topic.name}' is closed`))
  }

  #check(): void {
    if (this.#failure) throw this.#failure
    if (this.#closed) throw new BrokerError('closed', `the view of topic '${this.#options.topic.name}' is closed`)
  }

  #ownProducer(): Promise<Producer> {
    const made =
      this.#producer ??
      this.#options.broker.producer({ deliveryTimeoutMs: this.#options.appendTimeoutMs ?? APPEND_TIMEOUT_MS })
    this.#producer = made
    // The next write tries again.
    made.catch(() => {
      if (this.#producer === made) this.#producer = undefined
    })
    return made
  }

  /** Resolves when the view has reached all of these offsets. */
  async #applied(
    ends: readonly PartitionOffset[],
    timeoutMs = this.#options.appendTimeoutMs ?? APPEND_TIMEOUT_MS,
  ): Promise<void> {
    this.#check()
    const until = new Map<string, number>()
    for (const end of ends) until.set(partitionKey(end), Math.max(end.offset, until.get(partitionKey(end)) ?? 0))
    if (this.#hasReached(until)) return
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters.delete(waiter)
        void this.#lateness(until, timeoutMs).then(reject)
      }, timeoutMs)
      const ended = (settle: () => void) => () => {
        clearTimeout(timer)
        this.#waiters.delete(waiter)
        settle()
      }
      const waiter: Waiter = { until, resolve: ended(resolve), reject: (error) => ended(() => reject(error))() }
      this.#waiters.add(waiter)
    })
  }

  /** Why the view is not where it should be: it reads up to the first transaction that is open. */
  async #lateness(until: ReadonlyMap<string, number>, timeoutMs: number): Promise<BrokerError> {
    const { broker, topic } = this.#options
    const late = `topic '${topic.name}' was not read to its end within ${timeoutMs} ms`
    const asked = broker.topics.offsets(topic.name, 'latest', 'read_committed').catch(() => [])
    const stable = await withTimeout(asked, STABLE_MS_MAX, () => [])
    const held = stable.find((end) => {
      const position = this.#positions.get(partitionKey(end))?.offset ?? 0
      return position >= end.offset && position < (until.get(partitionKey(end)) ?? 0)
    })
    if (this.#options.isolation === 'read_uncommitted' || held === undefined) return new BrokerError('timeout', late)
    const { partition, offset } = held
    return new BrokerError(
      'transaction_open',
      `${late}: partition ${partition} can't be read past offset ${offset}, where a transaction begins that has no end; ` +
        'when its producer is gone, as after a crash of the only broker, end it with: kafka-transactions.sh ' +
        `--bootstrap-server HOST:PORT abort --topic ${topic.name} --partition ${partition} --start-offset ${offset}`,
    )
  }

  #hasReached(until: ReadonlyMap<string, number>): boolean {
    for (const [key, offset] of until) if ((this.#positions.get(key)?.offset ?? 0) < offset) return false
    return true
  }

  async #follow(): Promise<void> {
    while (!this.#closed && !this.#failure) {
      try {
        const polled = await this.#reader.poll(POLL_MS)
        this.#missingSinceMs = undefined
        this.#advance(polled)
        if (this.#clock.monotonicMs() - this.#identifiedMs >= IDENTITY_CHECK_MS) void this.#identify()
      } catch (error) {
        await this.#stumbled(error as Error)
      }
    }
  }

  #advance(polled: readonly PartitionRecords[]): void {
    for (const { topic, partition, records, nextOffset } of polled) {
      for (const record of records) this.#take({ ...record, topic, partition })
      if (this.#failure) return
      this.#positions.set(partitionKey({ topic, partition }), { topic, partition, offset: nextOffset })
    }
    for (const waiter of this.#waiters) if (this.#hasReached(waiter.until)) waiter.resolve()
    if (polled.length > 0 && this.#isOpen && !this.#isSaving) void this.#saveProgress()
  }

  /** While the view moves. */
  async #saveProgress(): Promise<void> {
    const { progress, logger, topic } = this.#options
    if (!progress) return
    this.#isSaving = true
    const hasMoved = (saved: readonly PartitionOffset[]) =>
      saved.some((position) => this.#positions.get(partitionKey(position))?.offset !== position.offset)
    let saved: readonly PartitionOffset[]
    do {
      saved = this.positions()
      await progress.save(saved).catch((error: unknown) => {
        logger.debug({ err: error, topic: topic.name }, 'the progress of a state topic could not be saved')
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
      this.#options.logger.error({ err: error, topic, partition, offset }, 'a record can not be read: it is skipped')
      this.#options.onUnreadable?.({ topic, partition, offset, error: error as Error })
      return
    }
    try {
      this.#options.apply(entry, record)
    } catch (error) {
      const place = `the record at offset ${offset} of ${topic}-${partition}`
      this.#fail(new Error(`a bug: applying ${place} failed: ${messageOf(error)}`, { cause: error }))
    }
  }

  /** A failure that passes by itself is waited for; any other one means that the view could miss something. */
  async #stumbled(error: Error): Promise<void> {
    if (this.#closed) return
    const { broker, logger, topic } = this.#options
    if (error instanceof BrokerError && (error.retriable || this.#isMissingBriefly(error))) {
      logger.warn({ err: error, topic: topic.name }, 'reading a state topic failed: trying again')
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
    // When it is there again, it may be another one.
    this.#identifiedMs = Number.NEGATIVE_INFINITY
    return nowMs - this.#missingSinceMs < MISSING_MS_MAX
  }

  /** A topic that is made anew and grows past the position of this view gives no other sign of it. */
  async #identify(): Promise<void> {
    const { broker, topic } = this.#options
    if (this.#id === undefined || this.#isIdentifying) return
    this.#isIdentifying = true
    const id = await broker.topics.id(topic.name).catch(() => undefined)
    this.#isIdentifying = false
    this.#identifiedMs = this.#clock.monotonicMs()
    if (id !== undefined && id !== this.#id) this.#fail(recreatedError(topic.name))
  }

  /** Ends the view. The first failure counts. */
  #fail(error: Error): Error {
    if (this.#failure || this.#closed) return this.#failure ?? error
    const { logger, topic, onFailed } = this.#options
    this.#failure = error
    logger.fatal({ err: error, topic: topic.name }, 'a state topic cannot be followed any further')
    this.#failAll(error)
    this.#reader.wake()
    if (this.#isOpen) onFailed?.(error)
    return error
  }

  #failAll(error: Error): void {
    for (const waiter of [...this.#waiters]) waiter.reject(error)
  }
}
