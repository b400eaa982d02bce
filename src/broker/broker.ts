import type { BrokerAddress } from './broker-address.ts'
import type { AccessRight, BrokerError, RightState } from './broker-error.ts'
import type { NewTopic, TopicConfigValues, TopicDescription } from './topic-description.ts'
import type { PartitionOffset, StartPoint, TopicPartition } from './topic-partition.ts'

export type { NewTopic, TopicDescription } from './topic-description.ts'
export type { PartitionOffset, StartPoint, TopicPartition } from './topic-partition.ts'

/**
 * The broker as Weir's programs use it. There are two backends: Kafka and the embedded broker. Everything behind this
 * interface is implemented once, on top of the calls in `backend.ts`.
 *
 * Every method may reject with a `BrokerError`. Offsets are numbers, so they are exact up to 2^53 records.
 */
export interface Broker {
  /**
   * The address that another thread of this process passes to `openBroker` to get a broker of its own on the same
   * backend.
   */
  address(): Promise<BrokerAddress>
  readonly topics: TopicAdmin
  readonly groups: GroupAdmin
  /** The cluster id: Kafka's own, or that of the data directory. */
  clusterId(): Promise<string>
  producer(options?: ProducerOptions): Promise<Producer>
  /** A producer id that no other producer has, or that of a transactional id in its next epoch. */
  newProducerIdentity(transactionalId?: string): Promise<ProducerIdentity>
  /**
   * Whether a producer with this transactional id exists or existed, as far as the broker remembers: Kafka
   * for `transactional.id.expiration.ms`, the embedded broker without limit. Undefined when the broker cannot tell.
   */
  hasTransactionalId(id: string): Promise<boolean | undefined>
  /** Whether this client has each of these rights, in their order. It changes nothing: brokers list the permitted operations. */
  checkRights(rights: readonly AccessRight[]): Promise<readonly RightState[]>
  /** Reads partitions without a consumer group. */
  reader(options?: PartitionReaderOptions): PartitionReader
  /** Reads topics as a member of a consumer group. */
  consumer(options: ConsumerOptions): Promise<Consumer>
  /** Joins a group with a custom protocol (leader election, work assignment). Resolves after the first join. */
  joinGroup(options: GroupMembershipOptions): Promise<GroupMembership>
  /** Closes everything that was opened through this broker, then the backend. Idempotent. */
  close(): Promise<void>
}

export type CommittedOffset = PartitionOffset & { readonly metadata?: string }
export type Header = readonly [key: string, value: Uint8Array | null]
export type Compression = 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd'

/**
 * A record to write. A null value is a tombstone. Without `partition`, the hash of the key decides (murmur2, as in Java
 * clients).
 */
export type NewRecord = {
  readonly topic: string
  readonly partition?: number
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly headers?: readonly Header[]
  readonly timestampMs?: number
}

/** A record as it is stored in the log. */
export type StoredRecord = {
  readonly offset: number
  readonly timestampMs: number
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly Header[]
}

/**
 * What one poll returned for one partition. `nextOffset` is the position of the next read: it may be beyond the last
 * record (compaction and transactions leave gaps) and may advance although `records` is empty. `endOffset` is the first
 * offset that cannot be read yet; the reader has caught up when `nextOffset >= endOffset`.
 */
export type PartitionRecords = TopicPartition & {
  readonly records: readonly StoredRecord[]
  readonly nextOffset: number
  readonly endOffset: number
}

// ── topics ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * `latest` is the end offset for `isolation`; a number selects the first record at or after that timestamp (ms since
 * the epoch).
 */
export type OffsetAt = 'earliest' | 'latest' | number

export interface TopicAdmin {
  /** Resolves with true if the topic was created, false if it already existed. */
  create(topic: NewTopic): Promise<boolean>
  list(): Promise<readonly string[]>
  /** Undefined if the topic does not exist. */
  describe(name: string): Promise<TopicDescription | undefined>
  /**
   * The topic id, which changes when a topic is deleted and recreated. Undefined if the topic does not exist or the
   * broker has no topic ids.
   */
  id(name: string): Promise<string | undefined>
  /** Effective values by name, defaults included. In Kafka, this needs the right to describe configs. */
  configs(name: string): Promise<Readonly<Record<string, string>>>
  /** The values that are set on the topic itself. All others are defaults of the broker. */
  ownConfigs(name: string): Promise<Readonly<Record<string, string>>>
  /** The values of some configs of many topics. */
  configValues(topics: readonly string[], names: readonly string[]): Promise<readonly TopicConfigValues[]>
  /** The partitions of all topics, or of those that exist of the named ones. */
  describeAll(names?: readonly string[]): Promise<readonly TopicDescription[]>
  /** The bytes of each partition on the disk of a broker: those of its largest replica. In Kafka, this needs the right to describe the cluster. */
  sizes(partitions: readonly TopicPartition[]): Promise<readonly (TopicPartition & { readonly bytes: number })[]>
  setConfigs(name: string, configs: Readonly<Record<string, string | null>>): Promise<void>
  addPartitions(name: string, total: number): Promise<void>
  /** Rejects with `topic_not_found` if the topic does not exist. */
  delete(name: string): Promise<void>
  offsets(name: string, at: OffsetAt, isolation?: Isolation): Promise<readonly PartitionOffset[]>
}

// ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Brokers accept the batches of a producer id only in its highest epoch so far. */
export type ProducerIdentity = { readonly producerId: bigint; readonly epoch: number }
export type ProducerOptions = {
  /** Makes the producer transactional and fences all older producers with the same id. */
  readonly transactionalId?: string
  readonly transactionTimeoutMs?: number
  /**
   * An earlier identity of the transactional id. Opening the producer rejects with `fenced` if another one has been opened since: what
   * was read after this identity was made is then outdated (KIP-360).
   */
  readonly successorOf?: ProducerIdentity
  /**
   * As soon as this producer has written to a partition, producers with the same id and a lower epoch no longer can. A
   * failed record makes it unusable; open a new one with a higher epoch if this process is still the owner.
   */
  readonly identity?: ProducerIdentity
  readonly compression?: Compression
  /** Maximum size of a batch of several records, in bytes before compression. Default 1,000,000. */
  readonly batchBytesMax?: number
  /** Maximum size of a record, in bytes before compression. Default: `batchBytesMax`. */
  readonly recordBytesMax?: number
  /** Maximum number of unacknowledged bytes before `send` blocks. Default 32 MiB. */
  readonly bufferBytesMax?: number
  /** Maximum time until a record is acknowledged or fails, retries included. Default 120,000 ms. */
  readonly deliveryTimeoutMs?: number
  /** Requests to one broker that wait for a response. Default, and at most, 5. */
  readonly inFlightMax?: number
  /** How long `send` waits for memory or metadata, and the limit of a call of a transaction. Default 60,000 ms. */
  readonly maxBlockMs?: number
  /** How long a record waits for a topic or a partition that the brokers do not know. Default: `maxBlockMs`. */
  readonly missingTopicMs?: number
  /** After how long the partitions of a topic are looked up again. Default: that of the broker, or 300,000 ms. */
  readonly metadataMaxAgeMs?: number
  /** Ends the waits for missing topics, and the retries of calls that have failed. */
  readonly signal?: AbortSignal
}

/** Where the records were stored, by their index in the call. */
export type SendResult = { readonly partitions: Int32Array; readonly offsets: Float64Array }

/** Idempotent, with acks=all. Calls may overlap: the records of one partition keep the order of the calls. */
export interface Producer {
  /**
   * Resolves when all records are stored. Rejects with the error of the first record that failed; the others may be
   * stored.
   *
   * With `onRejected`, a record that the broker rejects for its content (`record_too_large`, `invalid_record`) is
   * reported there with its index and does not fail the call. This does not apply to a transaction or to a producer
   * with a given identity, which such a record makes unusable.
   */
  send(records: readonly NewRecord[], onRejected?: (index: number, error: BrokerError) => void): Promise<SendResult>
  /** Transactions: call `begin`, any number of `send` and `sendOffsets`, then `commit` or `abort`. */
  begin(): void
  /**
   * Adds partitions to the transaction without sending records to them. In Kafka its end writes a marker to each of
   * them, which also ends an older transaction of this transactional id that its coordinator has forgotten there.
   */
  addPartitions(partitions: readonly TopicPartition[]): Promise<void>
  /**
   * Rejects with `illegal_generation` or `unknown_member` if the partitions belong to another member: abort the
   * transaction.
   */
  sendOffsets(groupId: string, offsets: readonly CommittedOffset[], member?: MemberGeneration): Promise<void>
  commit(): Promise<void>
  abort(): Promise<void>
  /** Waits for pending records. Aborts an open transaction. */
  close(): Promise<void>
}

// ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────────────

export type Isolation = 'read_committed' | 'read_uncommitted'

export type PartitionReaderOptions = {
  /** Default `read_committed`. */
  readonly isolation?: Isolation
  /**
   * Maximum number of bytes that one fetch from a node returns, over all partitions. Default 1 MiB. A single larger
   * batch is still returned. For each partition at most two fetches are buffered, and one poll decodes about 128 KiB of
   * records, also of a part of a batch; the rest is returned by the next poll.
   */
  readonly pollBytesMax?: number
  /** The bytes for which a broker waits, at most for `fetchWaitMsMax`. Defaults: 1 byte, 500 ms. */
  readonly fetchBytesMin?: number
  readonly fetchWaitMsMax?: number
  /** Maximum number of records that one poll returns, over all partitions. Default: unlimited. */
  readonly pollRecordsMax?: number
  /**
   * What happens at an offset that does not exist any more: continue at a start point, or reject. Default `earliest`.
   */
  readonly outOfRange?: StartPoint | 'error'
  /**
   * Whether the next fetch is also sent ahead of the next poll when the reader has reached the end of a partition. It delays
   * the return of the records before it. Default true.
   */
  readonly prefetchesAtEnd?: boolean
  /**
   * Whether `poll` waits for a topic that the brokers do not know instead of throwing `topic_not_found`: a broker that has
   * just started may not know any topic yet. Default false. A consumer always waits, as in Java clients.
   */
  readonly waitsForMissingTopics?: boolean
}

export interface PartitionReader {
  /** Adds these partitions, to be read from these offsets. A partition that is already read moves to its new offset. */
  seek(positions: readonly PartitionOffset[]): void
  drop(partitions: readonly TopicPartition[]): void
  pause(partitions: readonly TopicPartition[]): void
  resume(partitions: readonly TopicPartition[]): void
  /**
   * Waits up to `waitMsMax` for records or for a position to advance, then resolves with an empty list. Not reentrant.
   */
  poll(waitMsMax: number): Promise<readonly PartitionRecords[]>
  /** Makes a waiting `poll` return immediately. */
  wake(): void
  close(): Promise<void>
}

export type MemberGeneration = {
  readonly memberId: string
  readonly generation: number
  readonly instanceId?: InstanceId
}

/**
 * Makes a member static (KIP-345). A member that joins with an instance id in use takes over the assignment without a
 * rebalance: the previous holder is `fenced` and does not rejoin.
 */
export type InstanceId = string

export type TopicFilter = (topic: string) => boolean

export type ConsumerOptions = PartitionReaderOptions & {
  readonly groupId: string
  readonly instanceId?: InstanceId
  /** Shown in the description of the group. */
  readonly clientId?: string
  /** Topic names, or a filter; topics that match a filter are added as they are created. */
  readonly topics: readonly string[] | TopicFilter
  /** Where a partition without a committed offset starts. Default `earliest`; `none` rejects. */
  readonly startAt?: StartPoint | 'none'
  readonly sessionTimeoutMs?: number
  readonly heartbeatMs?: number
  /** Maximum time between two calls of `poll` before the member loses its partitions. Default 300,000 ms. */
  readonly pollIntervalMsMax?: number
  /** Interval of checks for new topics and partitions. Default: that of the broker, or 30,000 ms. */
  readonly metadataMaxAgeMs?: number
  /** Cancels the first join, which waits for all members: `consumer` then rejects with `closed`. */
  readonly signal?: AbortSignal
  readonly rebalance?: RebalanceListener
}

/** Called and awaited inside `poll` and `close` only, one at a time. */
export type RebalanceListener = {
  readonly onAssigned?: (partitions: readonly TopicPartition[]) => Promise<void> | void
  /** The last opportunity to commit the offsets of these partitions. */
  readonly onRevoked?: (partitions: readonly TopicPartition[]) => Promise<void> | void
  /** Another member may own the partitions already: do not commit. Default: `onRevoked`. */
  readonly onLost?: (partitions: readonly TopicPartition[]) => Promise<void> | void
}

/**
 * Positions advance as records are returned; only `commit` commits offsets. Once another consumer has joined with the
 * same instance id, every call rejects with `fenced`. When the group no longer admits the consumer, `poll` rejects with
 * the reason.
 */
export interface Consumer {
  readonly groupId: string
  poll(waitMsMax: number): Promise<readonly PartitionRecords[]>
  wake(): void
  assignment(): readonly TopicPartition[]
  seek(positions: readonly PartitionOffset[]): void
  pause(partitions: readonly TopicPartition[]): void
  resume(partitions: readonly TopicPartition[]): void
  /** Rejects with `illegal_generation` or `unknown_member` if the partitions belong to another member. */
  commit(offsets: readonly CommittedOffset[]): Promise<void>
  committed(partitions: readonly TopicPartition[]): Promise<readonly CommittedOffset[]>
  /** The current membership, for `sendOffsets`. */
  member(): MemberGeneration
  close(): Promise<void>
}

// ── groups ──────────────────────────────────────────────────────────────────────────────────────────────────────────

export type GroupDescription = {
  readonly groupId: string
  readonly state: 'empty' | 'rebalancing' | 'stable' | 'dead'
  readonly protocolType: string
  readonly protocol: string
  readonly members: readonly {
    readonly memberId: string
    readonly instanceId?: InstanceId
    readonly clientId: string
    readonly clientHost: string
    readonly metadata: Uint8Array
    readonly assignment: Uint8Array
  }[]
}

export interface GroupAdmin {
  list(): Promise<readonly { readonly groupId: string; readonly protocolType: string }[]>
  /** An unknown group has the state `dead` and no members. */
  describe(groupId: string): Promise<GroupDescription>
  offsets(groupId: string): Promise<readonly CommittedOffset[]>
  /** Rejects with `group_not_empty` while the group has members. */
  setOffsets(groupId: string, offsets: readonly CommittedOffset[]): Promise<void>
  deleteOffsets(groupId: string, partitions: readonly TopicPartition[]): Promise<void>
  delete(groupId: string): Promise<void>
}

export type GroupMembershipOptions = {
  readonly groupId: string
  readonly instanceId?: InstanceId
  /** Kafka's protocol type, for example `sr` or `connect`. */
  readonly protocolType: string
  readonly sessionTimeoutMs?: number
  readonly rebalanceTimeoutMs?: number
  readonly heartbeatMs?: number
  readonly clientId?: string
  /** Cancels the first join, which waits for all members: `joinGroup` then rejects with `closed`. */
  readonly signal?: AbortSignal
  readonly protocol: GroupProtocol
}

export type JoinedMember = {
  readonly memberId: string
  readonly instanceId?: InstanceId
  readonly metadata: Uint8Array
}

/** One generation of a group from the view of one member. */
export type Generation = {
  readonly generation: number
  readonly memberId: string
  /** For a static member that was replaced, this may still be the id of its predecessor. */
  readonly leaderId: string
  /** The protocol that the coordinator selected. */
  readonly protocol: string
  readonly assignment: Uint8Array
}

/** Callbacks of a group member. Called one at a time; `assign` is called on the group leader only. */
export type GroupProtocol = {
  /** Called before each join: the supported protocols with the metadata of this member, preferred one first. */
  readonly protocols: () => readonly { readonly name: string; readonly metadata: Uint8Array }[]
  readonly assign: (
    protocol: string,
    members: readonly JoinedMember[],
    self: { readonly memberId: string; readonly generation: number },
  ) => ReadonlyMap<string, Uint8Array> | Promise<ReadonlyMap<string, Uint8Array>>
  /**
   * Called before each rejoin and before leaving the group. A member without it continues its work while it rejoins, so that
   * `onLost` may be called then, too.
   */
  readonly onRevoked?: () => Promise<void> | void
  readonly onJoined: (generation: Generation) => Promise<void> | void
  /**
   * Called when the coordinator may have removed this member, at the latest when its session has timed out. It rejoins
   * automatically, except after `fenced`.
   */
  readonly onLost?: (error: Error) => Promise<void> | void
  /**
   * The member will not rejoin: another one has its instance id (`fenced`), or the group rejects it, for example because it may
   * no longer read the group (`not_authorized`). Without this callback, a member that is rejected tries again until it is admitted.
   */
  readonly onRejected?: (error: BrokerError) => Promise<void> | void
}

/** Sends heartbeats and rejoins automatically until it is closed. */
export interface GroupMembership {
  readonly memberId: string
  /** Time (ms, monotonic clock) until which the coordinator cannot have removed this member. */
  validUntilMs(): number
  /** Commits offsets of the group. Rejects with `unknown_member` while this is not a member of a generation. */
  commit(offsets: readonly CommittedOffset[]): Promise<void>
  /** Requests a rebalance; `onJoined` is called when it completes. */
  rejoin(reason: string): void
  /** Leaves the group, which triggers a rebalance. */
  close(): Promise<void>
}
