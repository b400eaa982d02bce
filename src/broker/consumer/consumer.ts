import type { Clock } from '../../common/clock.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { retry } from '../../common/retry.ts'
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
} from '../broker.ts'
import type { BrokerBackend } from '../broker-backend.ts'
import { BrokerError, isMissing, isTransient } from '../broker-error.ts'
import type { ClientDefaults } from '../client-settings.ts'
import { startOffsetAt, topicPartitionKey } from '../topic-partition.ts'
import { assignRanges, decodeAssignment, decodeSubscription, encodeSubscription, RANGE } from './consumer-protocol.ts'
import type { LogReader } from './log-reader.ts'

const POLL_INTERVAL_MS_MAX = 300_000
const SESSION_TIMEOUT_MS = 45_000
/** Interval of checks for new topics and partitions. Shorter than in Java clients, because a sink should not miss them for long. */
const METADATA_MAX_AGE_MS = 30_000
const MISSING_CHECK_MS = 1_000
/** Each check is a request. */
const METADATA_MAX_AGE_MS_MIN = 10
const LEAVE_POLL_MS = 5
/** A constant reason: without one, every abort creates an error with a stack. */
const CLOSING = new Error('the consumer is closed')

type Listener = (partitions: readonly TopicPartition[]) => Promise<void> | void

export type ConsumerDependencies = {
  readonly backend: BrokerBackend
  readonly clock: Clock
  readonly logger: Logger
  readonly defaults: ClientDefaults
  readonly join: Broker['joinGroup']
  /** `onMissingTopic` is called while brokers do not know a topic that is read. */
  readonly openReader: (onMissingTopic: () => void) => LogReader
  readonly onClose: () => void
}

export async function createConsumer(parts: ConsumerDependencies, options: ConsumerOptions): Promise<Consumer> {
  const consumer = new GroupConsumer(parts, options)
  try {
    await consumer.start()
  } catch (error) {
    await consumer.closeReader()
    throw error
  }
  return consumer
}

/**
 * A member of a consumer group and a reader of its assigned partitions. Rebalance callbacks run inside `poll`: the
 * callbacks of the membership queue them until the next call. `log-reader.ts` handles an offset that is out of range.
 */
class GroupConsumer implements Consumer {
  readonly #parts: ConsumerDependencies
  readonly #options: ConsumerOptions
  readonly #reader: LogReader
  #member: GroupMembership | undefined
  #generation: Generation | undefined
  #assigned: readonly TopicPartition[] = []
  #topics: readonly string[] = []
  #partitionCounts = ''
  #missingTopics = ''
  #missingCheckMs = Number.NEGATIVE_INFINITY
  /** Revocations that `poll` has not carried out yet. */
  #revocations: (() => Promise<void>)[] = []
  /** An assignment that `poll` has not taken over yet. */
  #pendingAssignment: Generation | undefined
  #lastPollMs: number
  readonly #closing = new AbortController()
  #closed = false
  /** Set when the group no longer admits this consumer, for example because another one has joined with the same instance id. */
  #rejection: Error | undefined

  constructor(parts: ConsumerDependencies, options: ConsumerOptions) {
    this.#parts = parts
    this.#options = options
    this.#reader = parts.openReader(() => this.#checkMissingTopic())
    this.#lastPollMs = parts.clock.monotonicMs()
  }

  get groupId(): string {
    return this.#options.groupId
  }

  closeReader(): Promise<void> {
    return this.#reader.close()
  }

  async start(): Promise<void> {
    await this.#findTopics()
    const { groupId, instanceId, sessionTimeoutMs = SESSION_TIMEOUT_MS, heartbeatMs, clientId, signal } = this.#options
    this.#member = await this.#parts.join({
      groupId,
      protocolType: 'consumer',
      sessionTimeoutMs,
      rebalanceTimeoutMs: this.#options.pollIntervalMsMax ?? POLL_INTERVAL_MS_MAX,
      ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
      ...(clientId === undefined ? {} : { clientId }),
      ...(instanceId === undefined ? {} : { instanceId }),
      ...(signal === undefined ? {} : { signal }),
      protocol: {
        protocols: () => [{ name: RANGE, metadata: encodeSubscription(this.#topics) }],
        assign: (_, members) => this.#assign(members),
        onRevoked: () => this.#queueRevocation(this.#options.rebalance?.onRevoked),
        // Not awaited: the first poll happens only after this returns.
        onJoined: (generation) => {
          this.#pendingAssignment = generation
          this.#reader.wake()
        },
        onLost: () => this.#queueRevocation(this.#options.rebalance?.onLost ?? this.#options.rebalance?.onRevoked),
        onRejected: (error) => {
          this.#rejection = error
          this.#reader.wake()
        },
      },
    })
    void this.#checkPeriodically()
  }

  async poll(waitMsMax: number): Promise<readonly PartitionRecords[]> {
    if (this.#closed) throw new BrokerError('closed', 'the consumer is closed')
    const { clock } = this.#parts
    this.#lastPollMs = clock.monotonicMs()
    const endMs = this.#lastPollMs + waitMsMax
    for (;;) {
      await this.#rebalance()
      if (this.#rejection) throw this.#rejection
      const leftMs = Math.max(0, endMs - clock.monotonicMs())
      const retryMs = this.#parts.defaults.retryBackoff.firstMs
      const waitMs = this.#pendingAssignment ? Math.min(leftMs, retryMs) : leftMs
      const records = await this.#reader.poll(waitMs)
      // Records that arrive during a revocation do not belong to this member any more.
      if (this.#revocations.length === 0 && !this.#pendingAssignment) return records
      if (clock.monotonicMs() >= endMs) {
        await this.#rebalance()
        return []
      }
    }
  }

  wake(): void {
    this.#reader.wake()
  }

  assignment(): readonly TopicPartition[] {
    return this.#assigned
  }

  seek(positions: readonly PartitionOffset[]): void {
    const assigned = new Set(this.#assigned.map(topicPartitionKey))
    this.#reader.seek(positions.filter((position) => assigned.has(topicPartitionKey(position))))
  }

  pause(partitions: readonly TopicPartition[]): void {
    this.#reader.pause(partitions)
  }

  resume(partitions: readonly TopicPartition[]): void {
    this.#reader.resume(partitions)
  }

  async commit(offsets: readonly CommittedOffset[]): Promise<void> {
    if (offsets.length === 0) return
    await this.#parts.backend.commitOffsets({ groupId: this.#options.groupId, offsets, member: this.member() })
  }

  async committed(partitions: readonly TopicPartition[]): Promise<readonly CommittedOffset[]> {
    return this.#parts.backend.groupOffsets({ groupId: this.#options.groupId, partitions })
  }

  member(): MemberGeneration {
    if (this.#rejection) throw this.#rejection
    if (!this.#generation)
      throw new BrokerError(
        'unknown_member',
        `this consumer is currently not a member of group '${this.#options.groupId}'`,
      )
    const { memberId, generation } = this.#generation
    const { instanceId } = this.#options
    return { memberId, generation, ...(instanceId === undefined ? {} : { instanceId }) }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closing.abort(CLOSING)
    const leaving = this.#member?.close()
    // Leaving revokes the partitions, which is carried out here as in `poll`.
    let hasLeft = false
    void leaving?.finally(() => {
      hasLeft = true
    })
    while (!hasLeft) {
      await this.#runRevocations()
      await Promise.race([leaving, this.#parts.clock.sleep(LEAVE_POLL_MS)])
    }
    this.#closed = true
    await this.#reader.close()
    this.#parts.onClose()
  }

  /** Resolves when `poll` has carried out the revocation. */
  #queueRevocation(listener: Listener | undefined): Promise<void> {
    this.#pendingAssignment = undefined
    return new Promise((resolve) => {
      this.#revocations.push(() => this.#revoke(listener).finally(resolve))
      this.#reader.wake()
    })
  }

  async #rebalance(): Promise<void> {
    await this.#runRevocations()
    if (this.#pendingAssignment) await this.#acceptAssignment(this.#pendingAssignment)
  }

  async #runRevocations(): Promise<void> {
    for (let task = this.#revocations.shift(); task; task = this.#revocations.shift()) await task()
  }

  async #revoke(listener: Listener | undefined): Promise<void> {
    const revoked = this.#assigned
    try {
      if (revoked.length > 0) await listener?.(revoked)
    } finally {
      this.#reader.drop(revoked)
      this.#assigned = []
      this.#generation = undefined
    }
  }

  /** A transient error changes nothing; the next poll retries. */
  async #acceptAssignment(generation: Generation): Promise<void> {
    const partitions = decodeAssignment(generation.assignment)
    let starts: readonly PartitionOffset[]
    try {
      starts = await this.#startOffsets(partitions)
    } catch (error) {
      if (!isTransient(error) && !isMissing(error)) throw error
      this.#parts.logger.warn(
        { err: error, groupId: this.#options.groupId },
        'cannot read the committed offsets of the assignment, retrying',
      )
      return
    }
    // The assignment was revoked in the meantime.
    if (this.#pendingAssignment !== generation) return
    this.#pendingAssignment = undefined
    this.#generation = generation
    this.#assigned = partitions
    this.#reader.seek(starts)
    await this.#options.rebalance?.onAssigned?.(partitions)
  }

  async #startOffsets(partitions: readonly TopicPartition[]): Promise<readonly PartitionOffset[]> {
    if (partitions.length === 0) return []
    const committed = await this.#parts.backend.groupOffsets({
      groupId: this.#options.groupId,
      partitions,
      settled: true,
    })
    const known = new Set(committed.map(topicPartitionKey))
    const without = partitions.filter((partition) => !known.has(topicPartitionKey(partition)))
    if (without.length === 0) return committed
    const start = this.#options.startAt ?? 'earliest'
    if (start === 'none') {
      throw new BrokerError(
        'invalid_offset',
        `group '${this.#options.groupId}' has no committed offset for ${without.map(topicPartitionKey).join(', ')}`,
      )
    }
    const isolation = this.#options.isolation ?? 'read_committed'
    const at = startOffsetAt(start, this.#parts.clock.nowMs())
    return [...committed, ...(await this.#parts.backend.listOffsets({ partitions: without, at, isolation }))]
  }

  async #assign(members: readonly JoinedMember[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const topics = [...new Set(members.flatMap(({ metadata }) => decodeSubscription(metadata)))]
    const found = await this.#parts.backend.metadata({ topics, fresh: true })
    return assignRanges(members, new Map(found.map(({ topic, partitions }) => [topic, partitions.length])))
  }

  async #checkPeriodically(): Promise<void> {
    const { clock, defaults } = this.#parts
    const everyMs = this.#options.metadataMaxAgeMs ?? defaults.metadataMaxAgeMs ?? METADATA_MAX_AGE_MS
    const { signal } = this.#closing
    for (;;) {
      await clock.sleep(Math.max(METADATA_MAX_AGE_MS_MIN, everyMs), signal).catch(() => undefined)
      if (signal.aborted) return
      await this.#checkProgress()
    }
  }

  /** Logs a warning if the consumer is not polled, and rejoins when topics or partitions changed. */
  async #checkProgress(): Promise<void> {
    const idleMs = this.#parts.clock.monotonicMs() - this.#lastPollMs
    if (idleMs > (this.#options.pollIntervalMsMax ?? POLL_INTERVAL_MS_MAX)) {
      this.#parts.logger.warn(
        { groupId: this.#options.groupId, idleMs: Math.round(idleMs) },
        'the consumer exceeded the maximum poll interval: the group reassigns its partitions',
      )
    }
    try {
      if (await this.#refreshTopics()) this.#member?.rejoin('topics or partitions changed')
    } catch (error) {
      this.#parts.logger.debug({ err: error }, 'cannot check for new topics')
    }
  }

  /**
   * A deleted topic leaves the assignment at once. If it were recreated before the next regular check, its records would be read
   * from the old offset.
   */
  #checkMissingTopic(): void {
    const nowMs = this.#parts.clock.monotonicMs()
    if (nowMs - this.#missingCheckMs < MISSING_CHECK_MS) return
    this.#missingCheckMs = nowMs
    void this.#checkProgress()
  }

  /** Waits until brokers answer, as the consumer of Java does in `poll`. */
  async #findTopics(): Promise<void> {
    const { clock, defaults } = this.#parts
    const { signal } = this.#options
    const limits = { backoff: defaults.retryBackoff, withinMs: Number.POSITIVE_INFINITY }
    await retry(() => this.#refreshTopics(), { ...limits, retriable: isTransient, clock, ...(signal && { signal }) })
  }

  /** Whether the set of topics or their partition counts changed. */
  async #refreshTopics(): Promise<boolean> {
    const { topics } = this.#options
    const isFilter = typeof topics === 'function'
    const isWanted = isFilter ? topics : (name: string) => topics.includes(name)
    const all = await this.#parts.backend.metadata(isFilter ? { fresh: true } : { topics, fresh: true })
    const found = all.filter(({ topic, internal }) => !internal && isWanted(topic))
    const counts = JSON.stringify(found.map(({ topic, partitions }) => [topic, partitions.length]).sort())
    const changed = counts !== this.#partitionCounts
    this.#partitionCounts = counts
    this.#topics = isFilter ? found.map(({ topic }) => topic).sort() : topics
    if (!isFilter) this.#warnOfMissingTopics(topics.filter((name) => !all.some(({ topic }) => topic === name)))
    return changed
  }

  /** Logs one warning for each set of missing topics. */
  #warnOfMissingTopics(topics: readonly string[]): void {
    const missing = topics.join(', ')
    if (missing !== '' && missing !== this.#missingTopics)
      this.#parts.logger.warn(
        { groupId: this.#options.groupId, topics },
        'topics do not exist, or this client may not describe them: the consumer waits for them',
      )
    this.#missingTopics = missing
  }
}
