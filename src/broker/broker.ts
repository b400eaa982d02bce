import type { BrokerAddress } from './broker-address.ts'
import type { BrokerError } from './error.ts'
import type { PartitionOffset, TopicPartition } from './topic-partition.ts'

export type { PartitionOffset, TopicPartition } from './topic-partition.ts'

/**
 * The log, as Weir's programs see it. Two homes stand behind it: Kafka and the embedded broker. Everything here is
 * written once, over the calls in `home.ts`; a home answers those calls and nothing else.
 *
 * Every method may reject with a `BrokerError`. Offsets are numbers: a log is exact up to 2^53 records.
 */
export interface Broker {
  /** What another thread of this process hands to `openBroker` to get a broker of its own on the same log. */
  address(): Promise<BrokerAddress>
  readonly topics: TopicAdmin
  readonly groups: GroupAdmin
  /** Identity of the log behind this broker; Kafka's cluster id. */
  clusterId(): Promise<string>
  producer(options?: ProducerOptions): Promise<Producer>
  /**
   * Whether a producer was made with this fencing or transactional id, as long as the broker remembers it: Kafka does for
   * `transactional.id.expiration.ms`, the embedded broker for ever. Undefined where the broker cannot say.
   */
  hasTransactionalId(id: string): Promise<boolean | undefined>
  /** Reads partitions without a group. */
  reader(options?: PartitionReaderOptions): PartitionReader
  /** Reads topics as a member of a consumer group. */
  consumer(options: ConsumerOptions): Promise<Consumer>
  /** Takes part in a group with a protocol of its own (elections, balancing of work). Returns after the first join. */
  joinGroup(options: GroupMembershipOptions): Promise<GroupMembership>
  /** Closes everything that was opened through this broker, then the connection. Safe to call twice. */
  close(): Promise<void>
}

export type CommittedOffset = PartitionOffset & { readonly metadata?: string }
export type Header = readonly [key: string, value: Uint8Array | null]
export type Compression = 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd'

/** A record to write. A null value is a tombstone. Without `partition` the key's hash (murmur2, as Java's) chooses. */
export type NewRecord = {
  readonly topic: string
  readonly partition?: number
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly headers?: readonly Header[]
  readonly timestampMs?: number
}

/** A record as it stands in the log. */
export type StoredRecord = {
  readonly offset: number
  readonly timestampMs: number
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly Header[]
}

/**
 * What one poll brought of one partition. `nextOffset` is where reading goes on: it may lie beyond the last record
 * (compaction and transactions leave gaps), and may move although `records` is empty. `endOffset` is the first offset
 * that can't be read yet; the reader has caught up when `nextOffset >= endOffset`.
 */
export type PartitionRecords = TopicPartition & {
  readonly records: readonly StoredRecord[]
  readonly nextOffset: number
  readonly endOffset: number
}

// ── topics ──────────────────────────────────────────────────────────────────────────────────────────────────────────

export type NewTopic = {
  readonly name: string
  /** Absent: the broker's default. */
  readonly partitions?: number
  readonly replicationFactor?: number
  /** Instead of `replicationFactor`: so many copies, or as many as the cluster has nodes where those are fewer. */
  readonly replicationFactorMax?: number
  readonly configs?: Readonly<Record<string, string>>
}
export type TopicDescription = {
  readonly name: string
  readonly internal: boolean
  readonly partitions: readonly { readonly partition: number; readonly leader: number; readonly replicas: number }[]
  /** Effective values by name, defaults included. */
  readonly configs: Readonly<Record<string, string>>
}
/** `latest` is the end for `isolation`; a number asks for the first record at or after that time (ms since 1970). */
export type OffsetAt = 'earliest' | 'latest' | number

export interface TopicAdmin {
  /** Answers whether it was made now: false when it was there already. */
  create(topic: NewTopic): Promise<boolean>
  list(): Promise<readonly string[]>
  /** Undefined when there is no such topic. */
  describe(name: string): Promise<TopicDescription | undefined>
  /** Another one for a topic that is made anew under the same name. Undefined where the broker has no ids, or no such topic. */
  id(name: string): Promise<string | undefined>
  setConfigs(name: string, configs: Readonly<Record<string, string | null>>): Promise<void>
  addPartitions(name: string, total: number): Promise<void>
  /** `topic_not_found` when it was not there. */
  delete(name: string): Promise<void>
  offsets(name: string, at: OffsetAt, isolation?: Isolation): Promise<readonly PartitionOffset[]>
}

// ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────────────

export type ProducerOptions = {
  /** Makes the producer transactional and fences every older producer of the same id. */
  readonly transactionalId?: string
  readonly transactionTimeoutMs?: number
  /**
   * Fences every older producer of the same id, without transactions: once this one has written to a partition, they
   * can't any more. A record that fails spoils such a producer for good; whoever still has the right opens another.
   */
  readonly fencingId?: string
  readonly compression?: Compression
  /** Largest record batch of several records, in bytes before compression. Default 1,000,000. */
  readonly batchBytesMax?: number
  /** Largest record, in bytes before compression. Default: `batchBytesMax`. */
  readonly recordBytesMax?: number
  /** How many bytes may wait for their acknowledgement before `send` waits. Default 32 MiB. */
  readonly bufferBytesMax?: number
  /** How long one record may be tried. Default 120,000 ms. */
  readonly deliveryTimeoutMs?: number
}

/** Where records went, by their index in the call. */
export type SendResult = { readonly partitions: Int32Array; readonly offsets: Float64Array }

/** Idempotent, acks=all. Calls may overlap: records of one partition keep the order of the calls. */
export interface Producer {
  /**
   * Resolves when every record is stored. Rejects with the first record's failure; the others may be stored. With
   * `refused`, a record that the log does not take for what it is (`record_too_large`, `invalid_record`) is told there,
   * by its index, and is no failure: but in a transaction, or with a fencing id, which it spoils.
   */
  send(records: readonly NewRecord[], refused?: (index: number, error: BrokerError) => void): Promise<SendResult>
  /** Transactions: `begin`, any number of `send` and `sendOffsets`, then `commit` or `abort`. */
  begin(): void
  /** `illegal_generation` or `unknown_member`: the partitions are another member's now; abort. */
  sendOffsets(groupId: string, offsets: readonly CommittedOffset[], member?: MemberGeneration): Promise<void>
  commit(): Promise<void>
  abort(): Promise<void>
  /** Waits for what was sent; an open transaction is aborted. */
  close(): Promise<void>
}

// ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────────────

export type Isolation = 'read_committed' | 'read_uncommitted'

export type PartitionReaderOptions = {
  /** Default `read_committed`. */
  readonly isolation?: Isolation
  /** Upper bound of what one poll brings, over all partitions. Default 1 MiB; one batch larger than it still comes. */
  readonly pollBytesMax?: number
  /** How many records one poll brings at most, over all partitions. Default: as many as are at hand. */
  readonly pollRecordsMax?: number
  /** Answer of an `offset_out_of_range`: go on from there, or reject. Default `earliest`. */
  readonly outOfRange?: 'earliest' | 'latest' | 'error'
}

export interface PartitionReader {
  /** Reads these partitions from these offsets, beside those already read; a repeated partition is moved. */
  seek(positions: readonly PartitionOffset[]): void
  drop(partitions: readonly TopicPartition[]): void
  pause(partitions: readonly TopicPartition[]): void
  resume(partitions: readonly TopicPartition[]): void
  /** Waits up to `waitMsMax` for records or for a position to move; then answers with nothing. One call at a time. */
  poll(waitMsMax: number): Promise<readonly PartitionRecords[]>
  /** Makes a waiting `poll` answer at once. */
  wake(): void
  close(): Promise<void>
}

export type MemberGeneration = {
  readonly memberId: string
  readonly generation: number
  readonly instanceId?: InstanceId
}

/**
 * Makes a member static (KIP-345). Whoever joins with the id of a member takes its place and its share at once, without
 * a round of the group: the other one is `fenced` from then on and does not come back by itself.
 */
export type InstanceId = string

export type TopicFilter = (topic: string) => boolean

export type ConsumerOptions = PartitionReaderOptions & {
  readonly groupId: string
  readonly instanceId?: InstanceId
  /** What its group shows of it. */
  readonly clientId?: string
  /** Names, or which names are meant; then new topics join as they appear. */
  readonly topics: readonly string[] | TopicFilter
  /** Where a partition without a committed offset begins. Default `earliest`; `none` rejects. */
  readonly startAt?: 'earliest' | 'latest' | 'none'
  readonly sessionTimeoutMs?: number
  readonly heartbeatMs?: number
  /** How long a member may stay away from `poll` before it loses its place. Default 300,000 ms. */
  readonly pollIntervalMsMax?: number
  readonly rebalance?: RebalanceListener
}

/** Called only from inside `poll` and `close`, one at a time, and awaited. */
export type RebalanceListener = {
  readonly onAssigned?: (partitions: readonly TopicPartition[]) => Promise<void> | void
  /** The last chance to commit these. */
  readonly onRevoked?: (partitions: readonly TopicPartition[]) => Promise<void> | void
  /** Somebody else may have them already: don't commit. Default: `revoked`. */
  readonly onLost?: (partitions: readonly TopicPartition[]) => Promise<void> | void
}

/**
 * Positions move as records are handed out; nothing is committed but by `commit`. Once another consumer took this one's
 * instance id, every call to the group rejects with `fenced`.
 */
export interface Consumer {
  poll(waitMsMax: number): Promise<readonly PartitionRecords[]>
  wake(): void
  assignment(): readonly TopicPartition[]
  seek(positions: readonly PartitionOffset[]): void
  pause(partitions: readonly TopicPartition[]): void
  resume(partitions: readonly TopicPartition[]): void
  /** `illegal_generation` or `unknown_member`: the partitions are another member's now. */
  commit(offsets: readonly CommittedOffset[]): Promise<void>
  committed(partitions: readonly TopicPartition[]): Promise<readonly PartitionOffset[]>
  /** This membership, for `sendOffsets`. */
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
  /** State `dead` and no members for a group nobody knows. */
  describe(groupId: string): Promise<GroupDescription>
  offsets(groupId: string): Promise<readonly CommittedOffset[]>
  /** Only while the group has no members: else `group_not_empty`. */
  setOffsets(groupId: string, offsets: readonly CommittedOffset[]): Promise<void>
  deleteOffsets(groupId: string, partitions: readonly TopicPartition[]): Promise<void>
  delete(groupId: string): Promise<void>
}

export type GroupMembershipOptions = {
  readonly groupId: string
  readonly instanceId?: InstanceId
  /** Kafka's protocol type: `sr`, `connect`. */
  readonly protocolType: string
  readonly sessionTimeoutMs?: number
  readonly rebalanceTimeoutMs?: number
  readonly heartbeatMs?: number
  readonly clientId?: string
  readonly protocol: GroupProtocol
}

export type JoinedMember = {
  readonly memberId: string
  readonly instanceId?: InstanceId
  readonly metadata: Uint8Array
}

/** One generation of a group, as one member sees it. */
export type Generation = {
  readonly generation: number
  readonly memberId: string
  /** May be the predecessor of a static member that took its place since. */
  readonly leaderId: string
  /** Name of the protocol the group agreed on. */
  readonly protocol: string
  readonly assignment: Uint8Array
}

/** The member's side of the protocol. Called one at a time; `assign` only on the group's leader. */
export type GroupProtocol = {
  /** Asked before each join, best first: what this member can do and wants to say about itself. */
  readonly protocols: () => readonly { readonly name: string; readonly metadata: Uint8Array }[]
  readonly assign: (
    protocol: string,
    members: readonly JoinedMember[],
    self: { readonly memberId: string; readonly generation: number },
  ) => ReadonlyMap<string, Uint8Array> | Promise<ReadonlyMap<string, Uint8Array>>
  /** Before every rejoin and before leaving: the generation that was is over. */
  readonly onRevoked?: () => Promise<void> | void
  readonly onJoined: (generation: Generation) => Promise<void> | void
  /** Dropped from the group. The member joins again by itself, unless it was `fenced`: then it is out for good. */
  readonly onLost?: (error: Error) => Promise<void> | void
}

/** Heartbeats and rejoins by itself until it leaves. */
export interface GroupMembership {
  readonly memberId: string
  /** Until when (ms, monotonic clock `performance.now()`) the group can't have given this place to another member. */
  validUntilMs(): number
  /** Keeps offsets with the group, whatever they mean to it. `unknown_member` while this is no member of a generation. */
  commit(offsets: readonly CommittedOffset[]): Promise<void>
  /** Asks for a new round; `joined` is called at its end. */
  rejoin(reason: string): void
  /** Leaves the group, so that its place is free at once. */
  close(): Promise<void>
}
