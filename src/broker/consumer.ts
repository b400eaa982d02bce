import type { Clock } from '../config/clock.ts'
import type { Logger } from '../config/logger.ts'
import type { BrokerBackend } from './backend.ts'
import type {
  Broker,
  CommittedOffset,
  Consumer,
  ConsumerOptions,
  Generation,
  GroupMembership,
  JoinedMember,
  MemberGeneration,
  PartitionOffset,
  PartitionRecords,
  TopicPartition,
} from './broker.ts'
import { assignRanges, decodeAssignment, decodeSubscription, encodeSubscription, RANGE } from './consumer-protocol.ts'
import { BrokerError } from './error.ts'
import type { LogReader } from './log-reader.ts'
import { partitionKey } from './topic-partition.ts'

const POLL_INTERVAL_MS_MAX = 300_000
const SESSION_TIMEOUT_MS = 45_000
/** How often new topics and partitions are looked for. */
const REFRESH_MS = 30_000
const TAKE_OVER_AGAIN_MS = 200
const LEAVE_TURN_MS = 5

type Listener = (partitions: readonly TopicPartition[]) => Promise<void> | void

export type ConsumerDependencies = {
  readonly home: BrokerBackend
  readonly clock: Clock
  readonly logger: Logger
  readonly join: Broker['joinGroup']
  readonly reader: LogReader
  readonly onClose: () => void
}

export async function createConsumer(parts: ConsumerDependencies, options: ConsumerOptions): Promise<Consumer> {
  const consumer = new GroupConsumer(parts, options)
  try {
    await consumer.start()
  } catch (error) {
    await parts.reader.close()
    throw error
  }
  return consumer
}

/**
 * A consumer group's member and a reader of what it was given. What the group decides is carried out inside `poll`: the
 * member's callbacks wait in line until the next one.
 */
class GroupConsumer implements Consumer {
  readonly #parts: ConsumerDependencies
  readonly #options: ConsumerOptions
  #member: GroupMembership | undefined
  #generation: Generation | undefined
  #assigned: readonly TopicPartition[] = []
  #topics: readonly string[] = []
  #partitionCounts = ''
  /** Partitions that the group wants back and `poll` has not given up yet. */
  #line: (() => Promise<void>)[] = []
  /** What the group gave and `poll` has not taken over yet. */
  #given: Generation | undefined
  #lastPollMs: number
  #refresh: NodeJS.Timeout | undefined
  #closed = false
  /** Another consumer has this one's instance id. */
  #fenced: Error | undefined

  constructor(parts: ConsumerDependencies, options: ConsumerOptions) {
    this.#parts = parts
    this.#options = options
    this.#lastPollMs = parts.clock.monotonicMs()
  }

  async start(): Promise<void> {
    await this.#lookForTopics()
    const { groupId, instanceId, sessionTimeoutMs = SESSION_TIMEOUT_MS, heartbeatMs, clientId } = this.#options
    this.#member = await this.#parts.join({
      groupId,
      protocolType: 'consumer',
      sessionTimeoutMs,
      rebalanceTimeoutMs: this.#options.pollIntervalMsMax ?? POLL_INTERVAL_MS_MAX,
      ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
      ...(clientId === undefined ? {} : { clientId }),
      ...(instanceId === undefined ? {} : { instanceId }),
      protocol: {
        protocols: () => [{ name: RANGE, metadata: encodeSubscription(this.#topics) }],
        assign: (_, members) => this.#assign(members),
        onRevoked: () => this.#inPoll(this.#options.rebalance?.onRevoked),
        // Without waiting: the first poll comes only after this returns.
        onJoined: (generation) => {
          this.#given = generation
          this.#parts.reader.wake()
        },
        onLost: (error) => {
          if (error instanceof BrokerError && error.code === 'fenced') this.#fenced = error
          return this.#inPoll(this.#options.rebalance?.onLost ?? this.#options.rebalance?.onRevoked)
        },
      },
    })
    this.#refresh = setInterval(() => void this.#watch(), REFRESH_MS).unref()
  }

  async poll(waitMsMax: number): Promise<readonly PartitionRecords[]> {
    if (this.#closed) throw new BrokerError('closed', 'the consumer is closed')
    const { clock } = this.#parts
    this.#lastPollMs = clock.monotonicMs()
    const endMs = this.#lastPollMs + waitMsMax
    for (;;) {
      await this.#settle()
      if (this.#fenced) throw this.#fenced
      const leftMs = Math.max(0, endMs - clock.monotonicMs())
      const records = await this.#parts.reader.poll(this.#given ? Math.min(leftMs, TAKE_OVER_AGAIN_MS) : leftMs)
      // What came while the group took its partitions away is not for this member any more.
      if (this.#line.length === 0 && !this.#given) return records
      if (clock.monotonicMs() >= endMs) {
        await this.#settle()
        return []
      }
    }
  }

  wake(): void {
    this.#parts.reader.wake()
  }

  assignment(): readonly TopicPartition[] {
    return this.#assigned
  }

  seek(positions: readonly PartitionOffset[]): void {
    const mine = new Set(this.#assigned.map(partitionKey))
    this.#parts.reader.seek(positions.filter((position) => mine.has(partitionKey(position))))
  }

  pause(partitions: readonly TopicPartition[]): void {
    this.#parts.reader.pause(partitions)
  }

  resume(partitions: readonly TopicPartition[]): void {
    this.#parts.reader.resume(partitions)
  }

  async commit(offsets: readonly CommittedOffset[]): Promise<void> {
    if (offsets.length === 0) return
    await this.#parts.home.commitOffsets({ groupId: this.#options.groupId, offsets, member: this.member() })
  }

  async committed(partitions: readonly TopicPartition[]): Promise<readonly PartitionOffset[]> {
    return this.#parts.home.groupOffsets({ groupId: this.#options.groupId, partitions })
  }

  member(): MemberGeneration {
    if (this.#fenced) throw this.#fenced
    if (!this.#generation)
      throw new BrokerError('unknown_member', `this consumer is not a member of '${this.#options.groupId}' now`)
    const { memberId, generation } = this.#generation
    const { instanceId } = this.#options
    return { memberId, generation, ...(instanceId === undefined ? {} : { instanceId }) }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    clearInterval(this.#refresh)
    const leaving = this.#member?.close()
    // Leaving asks for the partitions back, which is done here as in a poll.
    let hasLeft = false
    void leaving?.finally(() => {
      hasLeft = true
    })
    while (!hasLeft) {
      await this.#doLine()
      await Promise.race([leaving, this.#parts.clock.sleep(LEAVE_TURN_MS)])
    }
    this.#closed = true
    await this.#parts.reader.close()
    this.#parts.onClose()
  }

  /** Waits until a poll has given everything up. */
  #inPoll(listener: Listener | undefined): Promise<void> {
    this.#given = undefined
    return new Promise((resolve) => {
      this.#line.push(() => this.#giveUp(listener).finally(resolve))
      this.#parts.reader.wake()
    })
  }

  async #settle(): Promise<void> {
    await this.#doLine()
    if (this.#given) await this.#takeOver(this.#given)
  }

  async #doLine(): Promise<void> {
    for (let task = this.#line.shift(); task; task = this.#line.shift()) await task()
  }

  async #giveUp(listener: Listener | undefined): Promise<void> {
    const gone = this.#assigned
    try {
      if (gone.length > 0) await listener?.(gone)
    } finally {
      this.#parts.reader.drop(gone)
      this.#assigned = []
      this.#generation = undefined
    }
  }

  /** In a bad moment of the broker nothing changes, and a later turn tries again. */
  async #takeOver(generation: Generation): Promise<void> {
    const partitions = decodeAssignment(generation.assignment)
    let starts: readonly PartitionOffset[]
    try {
      starts = await this.#startingPoints(partitions)
    } catch (error) {
      if (!(error instanceof BrokerError) || !error.retriable) throw error
      this.#parts.logger.warn(
        { err: error, groupId: this.#options.groupId },
        'could not look where to begin: trying again',
      )
      return
    }
    // The group wanted it back meanwhile.
    if (this.#given !== generation) return
    this.#given = undefined
    this.#generation = generation
    this.#assigned = partitions
    this.#parts.reader.seek(starts)
    await this.#options.rebalance?.onAssigned?.(partitions)
  }

  async #startingPoints(partitions: readonly TopicPartition[]): Promise<readonly PartitionOffset[]> {
    if (partitions.length === 0) return []
    const committed = await this.#parts.home.groupOffsets({ groupId: this.#options.groupId, partitions, settled: true })
    const known = new Set(committed.map(partitionKey))
    const without = partitions.filter((partition) => !known.has(partitionKey(partition)))
    if (without.length === 0) return committed
    const at = this.#options.startAt ?? 'earliest'
    if (at === 'none') {
      throw new BrokerError(
        'invalid_offset',
        `group '${this.#options.groupId}' has no committed offset for ${without.map(partitionKey).join(', ')}`,
      )
    }
    const isolation = this.#options.isolation ?? 'read_committed'
    return [...committed, ...(await this.#parts.home.listOffsets({ partitions: without, at, isolation }))]
  }

  async #assign(members: readonly JoinedMember[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const topics = [...new Set(members.flatMap(({ metadata }) => decodeSubscription(metadata)))]
    const found = await this.#parts.home.metadata({ topics, fresh: true })
    return assignRanges(members, new Map(found.map(({ topic, partitions }) => [topic, partitions.length])))
  }

  /** A member that stays away from `poll` gives its place to others. */
  async #watch(): Promise<void> {
    const away = this.#parts.clock.monotonicMs() - this.#lastPollMs
    if (away > (this.#options.pollIntervalMsMax ?? POLL_INTERVAL_MS_MAX)) {
      this.#parts.logger.warn(
        { groupId: this.#options.groupId, awayMs: Math.round(away) },
        'the consumer was not polled for too long: its partitions go to others',
      )
    }
    try {
      if (await this.#lookForTopics()) this.#member?.rejoin('topics or partitions changed')
    } catch (error) {
      this.#parts.logger.debug({ err: error }, 'could not look for new topics')
    }
  }

  /** Whether what there is to read has changed. */
  async #lookForTopics(): Promise<boolean> {
    const { topics } = this.#options
    const isFilter = typeof topics === 'function'
    const isWanted = isFilter ? topics : (name: string) => topics.includes(name)
    const all = await this.#parts.home.metadata(isFilter ? { fresh: true } : { topics, fresh: true })
    const found = all.filter(({ topic, internal }) => !internal && isWanted(topic))
    const counts = JSON.stringify(found.map(({ topic, partitions }) => [topic, partitions.length]).sort())
    const changed = counts !== this.#partitionCounts
    this.#partitionCounts = counts
    this.#topics = isFilter ? found.map(({ topic }) => topic).sort() : topics
    return changed
  }
}
