import type {
  CommittedOffset,
  GroupDescription,
  InstanceId,
  Isolation,
  JoinedMember,
  MemberGeneration,
  NewTopic,
  OffsetAt,
  PartitionOffset,
  ProducerIdentity,
  TopicPartition,
} from './broker.ts'
import type { AccessRight, BrokerErrorData, RightState } from './broker-error.ts'
import type { TopicConfigValues } from './topic-description.ts'

/**
 * The port to a broker: the requests of a Kafka cluster as plain data. Requests and responses hold only what can be
 * posted to another thread, so that a task in a worker thread runs the same client code over a `MessagePort`.
 *
 * Record batches are passed as bytes in Kafka's format v2 (see `record-batch.ts`). A backend stores and returns them
 * without decoding the records, except for compaction.
 *
 * A backend finds coordinators and refreshes its metadata itself. A failed call rejects with a `BrokerError`. The error
 * of a single partition is part of the response (`error`), so that the other partitions still succeed.
 */
export interface BrokerBackend {
  clusterId(): Promise<string>

  /** Whether this client has each of these rights, in their order. Changes nothing. */
  checkRights(request: { readonly rights: readonly AccessRight[] }): Promise<readonly RightState[]>

  /**
   * Without `topics`: all topics that this client may describe. `fresh` bypasses cached metadata. Unknown topics are
   * omitted; one that this client may not describe rejects with `not_authorized`, because it may exist.
   */
  metadata(request: {
    readonly topics?: readonly string[]
    readonly fresh?: boolean
  }): Promise<readonly TopicMetadata[]>
  /**
   * The topic id, which changes when a topic is deleted and recreated. Undefined if the topic does not exist or the
   * broker has no topic ids.
   */
  topicId(request: { readonly topic: string }): Promise<string | undefined>
  createTopic(request: NewTopic): Promise<boolean>
  deleteTopic(request: { readonly topic: string }): Promise<void>
  addPartitions(request: { readonly topic: string; readonly total: number }): Promise<void>
  /** Effective values, or with `isOwn` only those that are set on the topic itself. */
  topicConfigs(request: { readonly topic: string; readonly isOwn?: boolean }): Promise<Readonly<Record<string, string>>>
  /** The values of these configs of many topics. */
  topicConfigValues(request: {
    readonly topics: readonly string[]
    readonly names: readonly string[]
  }): Promise<readonly TopicConfigValues[]>
  /** The bytes of partitions on the disks of the brokers, for each replica. */
  replicaSizes(request: { readonly partitions: readonly TopicPartition[] }): Promise<readonly ReplicaSize[]>
  setTopicConfigs(request: {
    readonly topic: string
    readonly configs: Readonly<Record<string, string | null>>
  }): Promise<void>
  /** `leader`: node of the partition in current metadata, so that the backend does not look for it. */
  listOffsets(request: {
    readonly partitions: readonly (TopicPartition & { readonly leader?: number })[]
    readonly at: OffsetAt
    readonly isolation: Isolation
  }): Promise<readonly PartitionOffset[]>

  /** One batch per partition, all led by `node`, with acks=all. The backend sets the `baseOffset` of each batch. */
  produce(request: {
    readonly node: number
    readonly batches: readonly (TopicPartition & { readonly bytes: Uint8Array })[]
    readonly transactionalId?: string
    /** How long the broker may take to replicate the records. */
    readonly timeoutMs: number
  }): Promise<readonly ProduceResult[]>
  /**
   * Waits up to `waitMsMax` for at least `bytesMin`, then responds for each requested partition; all are led by `node`.
   */
  fetch(request: FetchRequest): Promise<readonly FetchedPartition[]>

  /**
   * With a transactional id: fences older producers with the same id and aborts their open transactions. With `successorOf`, rejects with
   * `fenced` if that is no longer the identity of the transactional id. May be repeated.
   */
  initProducer(request: {
    readonly transactionalId?: string
    readonly transactionTimeoutMs?: number
    readonly successorOf?: ProducerIdentity
  }): Promise<ProducerIdentity>
  /** Whether a producer with this id is known to the coordinator. Undefined when the broker cannot tell. */
  hasTransactionalId(request: { readonly transactionalId: string }): Promise<boolean | undefined>
  addPartitionsToTransaction(request: Transaction & { readonly partitions: readonly TopicPartition[] }): Promise<void>
  commitOffsetsInTransaction(
    request: Transaction & {
      readonly groupId: string
      readonly offsets: readonly CommittedOffset[]
      readonly member?: MemberGeneration
    },
  ): Promise<void>
  /**
   * Resolves with the identity that the producer has from then on. Its epoch is a new one (KIP-890), unless the broker lacks
   * that: a request of this transaction that arrives late has then no effect on the next one. May be repeated.
   */
  endTransaction(request: Transaction & { readonly commit: boolean }): Promise<ProducerIdentity>

  joinGroup(request: {
    readonly groupId: string
    readonly protocolType: string
    readonly protocols: readonly { readonly name: string; readonly metadata: Uint8Array }[]
    readonly sessionTimeoutMs: number
    readonly rebalanceTimeoutMs: number
    /** Empty on the first join. */
    readonly memberId: string
    /** For a static member: a join without a member id replaces the current holder of the instance id. */
    readonly instanceId?: InstanceId
    /** Default: the client id of this backend. */
    readonly clientId?: string
  }): Promise<JoinResult>
  /** Resolves with the assignment of this member. The leader passes the assignments of all members. */
  syncGroup(request: {
    readonly groupId: string
    readonly generation: number
    readonly memberId: string
    readonly instanceId?: InstanceId
    readonly assignments: readonly { readonly memberId: string; readonly assignment: Uint8Array }[]
  }): Promise<Uint8Array>
  /**
   * Rejects with `rebalance_in_progress`, `unknown_member` or `illegal_generation` if the member has to rejoin, and
   * with `fenced` if another member has taken its instance id.
   */
  heartbeat(request: { readonly groupId: string } & MemberGeneration): Promise<void>
  leaveGroup(request: {
    readonly groupId: string
    readonly memberId: string
    readonly instanceId?: InstanceId
  }): Promise<void>
  /** Without `member`: an administrative commit, rejected while the group has members. */
  commitOffsets(request: {
    readonly groupId: string
    readonly offsets: readonly CommittedOffset[]
    readonly member?: MemberGeneration
  }): Promise<void>
  /**
   * Without `partitions`: all committed offsets. Partitions without a committed offset are omitted. With `settled`,
   * rejects with `concurrent_transaction` while an open transaction includes offsets of these partitions (KIP-447).
   */
  groupOffsets(request: {
    readonly groupId: string
    readonly partitions?: readonly TopicPartition[]
    readonly settled?: boolean
  }): Promise<readonly CommittedOffset[]>
  listGroups(): Promise<readonly { readonly groupId: string; readonly protocolType: string }[]>
  describeGroup(request: { readonly groupId: string }): Promise<GroupDescription>
  deleteGroupOffsets(request: {
    readonly groupId: string
    readonly partitions: readonly TopicPartition[]
  }): Promise<void>
  deleteGroup(request: { readonly groupId: string }): Promise<void>

  close(): Promise<void>
}

/** The request type of a backend call. */
export type BackendRequest<Call extends keyof BrokerBackend> = Parameters<BrokerBackend[Call]>[0]

export type TopicMetadata = {
  readonly topic: string
  readonly internal: boolean
  readonly partitions: readonly { readonly partition: number; readonly leader: number; readonly replicas: number }[]
}

export type ReplicaSize = TopicPartition & { readonly bytes: number }

/** The error of one partition; the callers of `openBroker` get it as a `BrokerError`. */
export type PartitionError = BrokerErrorData

export type ProduceResult = TopicPartition & {
  readonly baseOffset: number
  readonly error?: PartitionError
  /** Indexes in the batch of the records that caused the error, if the broker reports them. */
  readonly rejectedRecords?: readonly number[]
}

export type FetchRequest = {
  readonly node: number
  readonly partitions: readonly PartitionOffset[]
  readonly waitMsMax: number
  readonly bytesMin: number
  /** For the whole response; a single larger batch is still returned. */
  readonly bytesMax: number
  readonly isolation: Isolation
}

export type FetchedPartition = TopicPartition & {
  /** Consecutive record batches. The first may begin before the requested offset, the last may be incomplete. */
  readonly bytes: Uint8Array
  /** First offset that cannot be read at the requested isolation level. */
  readonly endOffset: number
  readonly startOffset: number
  /** Aborted transactions: batches of `producerId` from `firstOffset` up to its next control batch are to be hidden. */
  readonly aborted: readonly { readonly producerId: bigint; readonly firstOffset: number }[]
  readonly error?: PartitionError
}

export type Transaction = ProducerIdentity & { readonly transactionalId: string }

export type JoinResult = {
  readonly generation: number
  readonly memberId: string
  /** For a static member that replaced another in a stable group: the leader at the time of the last rebalance. */
  readonly leaderId: string
  readonly protocol: string
  /** All members if this member is the leader, else empty. */
  readonly members: readonly JoinedMember[]
}
