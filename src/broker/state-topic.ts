import { inTime } from '../config/in-time.ts'
import type { Logger } from '../config/logger.ts'
import type {
  Broker,
  NewRecord,
  NewTopic,
  PartitionOffset,
  PartitionRecords,
  Producer,
  Reader,
  StoredRecord,
  TopicPartition,
} from './broker.ts'
import { BrokerError } from './error.ts'
import { keyOf } from './topology.ts'

/** A record of a state topic and where it stands. */
export type StateRecord = StoredRecord & TopicPartition

/** A record that could not be understood; it was stepped over. */
export type UnreadableRecord = PartitionOffset & { readonly error: Error }

export type StateTopicOptions = {
  readonly broker: Broker
  readonly logger: Logger
  /** Made when it is missing, compacted; else its policy and, when `partitions` is given, their number are checked. */
  readonly topic: NewTopic
  /** Takes the topic as it is. Default false. */
  readonly skipValidation?: boolean
  /**
   * Called for every record in the order of its partition, from the beginning of the log on. What it throws is reported
   * with topic, partition and offset, and the record is stepped over.
   */
  readonly apply: (record: StateRecord) => void
  readonly unreadable?: (record: UnreadableRecord) => void
  /** Default `read_committed`. */
  readonly isolation?: 'read_committed' | 'read_uncommitted'
  /** How long opening may take. Default 60,000 ms. */
  readonly openTimeoutMs?: number
  /** How long a write may take until it is read back. Default 30,000 ms. */
  readonly appendTimeoutMs?: number
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
  close(): Promise<void>
}
export type StateWrite = Pick<NewRecord, 'key' | 'value' | 'partition' | 'headers'>

const OPEN_TIMEOUT_MS = 60_000
const APPEND_TIMEOUT_MS = 30_000
const POLL_MS = 1_000
/** How long the answer to why it took too long may take. */
const STABLE_MS_MAX = 5_000

/**
 * A compacted topic as the program's memory: read to its end when it is opened, followed from then on. The log is the
 * only truth; what `apply` builds is a view of it.
 */
export async function openStateTopic(options: StateTopicOptions): Promise<StateTopic> {
  const { broker, topic } = options
  await broker.topics.create({ ...topic, configs: { ...topic.configs, 'cleanup.policy': 'compact' } })
  if (!options.skipValidation) await checkTopic(options)
  const starts = await broker.topics.offsets(topic.name, 'earliest')
  const state = new FollowedTopic(options, starts)
  try {
    await state.readToEnd(options.openTimeoutMs ?? OPEN_TIMEOUT_MS)
  } catch (error) {
    await state.close()
    throw error
  }
  return state
}

async function checkTopic({ broker, topic }: StateTopicOptions): Promise<void> {
  const found = await broker.topics.describe(topic.name)
  const policy = found?.configs['cleanup.policy']
  if (policy !== undefined && policy !== 'compact') {
    throw new BrokerError(
      'invalid_config',
      `topic '${topic.name}' has cleanup.policy=${policy}: it has to be exactly 'compact', or what it holds is lost in time`,
    )
  }
  if (found && topic.partitions === 1 && found.partitions.length !== 1) {
    throw new BrokerError(
      'invalid_config',
      `topic '${topic.name}' has ${found.partitions.length} partitions: it has to have 1, so that there is one order`,
    )
  }
}

type Waiter = {
  readonly until: ReadonlyMap<string, number>
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

class FollowedTopic implements StateTopic {
  readonly partitions: number
  readonly #options: StateTopicOptions
  readonly #reader: Reader
  readonly #positions: Map<string, PartitionOffset>
  readonly #waiters = new Set<Waiter>()
  #producer: Promise<Producer> | undefined
  #closed = false
  readonly #following: Promise<void>

  constructor(options: StateTopicOptions, starts: readonly PartitionOffset[]) {
    this.#options = options
    this.partitions = starts.length
    this.#positions = new Map(starts.map((start) => [keyOf(start), start]))
    this.#reader = options.broker.reader({ isolation: options.isolation ?? 'read_committed', outOfRange: 'earliest' })
    this.#reader.seek(starts)
    this.#following = this.#follow()
  }

  positions(): readonly PartitionOffset[] {
    return [...this.#positions.values()]
  }

  async append(writes: readonly StateWrite[], producer?: Producer): Promise<readonly PartitionOffset[]> {
    if (writes.length === 0) return []
    const topic = this.#options.topic.name
    const writer = producer ?? (await this.#ownProducer())
    const { partitions, offsets } = await writer.send(writes.map((write) => ({ ...write, topic })))
    const stored = writes.map((_, at) => ({ topic, partition: partitions[at] ?? 0, offset: offsets[at] ?? 0 }))
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
    await (await this.#producer)?.close()
    this.#failAll(new BrokerError('closed', `the view of topic '${this.#options.topic.name}' is closed`))
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
  #applied(
    ends: readonly PartitionOffset[],
    timeoutMs = this.#options.appendTimeoutMs ?? APPEND_TIMEOUT_MS,
  ): Promise<void> {
    const until = new Map<string, number>()
    for (const end of ends) until.set(keyOf(end), Math.max(end.offset, until.get(keyOf(end)) ?? 0))
    if (this.#hasReached(until)) return Promise.resolve()
    if (this.#closed)
      return Promise.reject(new BrokerError('closed', `the view of topic '${this.#options.topic.name}' is closed`))
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
    const stable = await inTime(asked, STABLE_MS_MAX, () => [])
    const held = stable.find((end) => {
      const position = this.#positions.get(keyOf(end))?.offset ?? 0
      return position >= end.offset && position < (until.get(keyOf(end)) ?? 0)
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
    while (!this.#closed) {
      try {
        this.#advance(await this.#reader.poll(POLL_MS))
      } catch (error) {
        if (this.#closed) return
        await this.#stumbled(error as Error)
      }
    }
  }

  #advance(polled: readonly PartitionRecords[]): void {
    for (const { topic, partition, records, nextOffset } of polled) {
      for (const record of records) this.#apply({ ...record, topic, partition })
      this.#positions.set(keyOf({ topic, partition }), { topic, partition, offset: nextOffset })
    }
    for (const waiter of this.#waiters) if (this.#hasReached(waiter.until)) waiter.resolve()
  }

  #apply(record: StateRecord): void {
    try {
      this.#options.apply(record)
    } catch (error) {
      this.#skip({ topic: record.topic, partition: record.partition, offset: record.offset, error: error as Error })
    }
  }

  #skip(record: UnreadableRecord): void {
    const { error, ...place } = record
    this.#options.logger.error({ err: error, ...place }, 'a record can not be read: it is skipped')
    this.#options.unreadable?.(record)
  }

  async #stumbled(error: Error): Promise<void> {
    const { logger, topic } = this.#options
    logger.error({ err: error, topic: topic.name }, 'reading a state topic failed: trying again')
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }

  #failAll(error: Error): void {
    for (const waiter of [...this.#waiters]) waiter.reject(error)
  }
}
