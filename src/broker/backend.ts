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
  TopicPartition,
} from './broker.ts'
import type { BrokerErrorCode } from './error.ts'

/**
 * What a home of the log answers: the calls of a Kafka cluster, as plain data. Requests and answers hold only what can
 * be posted to another thread, so a task in a worker thread uses the same client code over a `MessagePort`.
 *
 * Record batches travel as bytes in Kafka's format v2 (see `record-batch.ts`); a home stores and returns them without
 * looking at records, except to compact.
 *
 * A home finds coordinators and refreshes metadata itself; a failed call rejects with a `BrokerError`. Errors of one
 * partition stand in the answer (`error`) so that its neighbours are not lost.
 */
export interface BrokerBackend {
  clusterId(): Promise<string>

  /** Undefined topics: all. `fresh` bypasses what the home remembers. Unknown topics are left out of the answer. */
  metadata(request: {
    readonly topics?: readonly string[]
    readonly fresh?: boolean
  }): Promise<readonly TopicMetadata[]>
  /**
   * Another one for a topic that is made anew under a name that was deleted. Undefined where the broker has no ids, or no
   * such topic.
   */
  topicId(request: { readonly topic: string }): Promise<string | undefined>
  createTopic(request: NewTopic): Promise<boolean>
  deleteTopic(request: { readonly topic: string }): Promise<void>
  addPartitions(request: { readonly topic: string; readonly total: number }): Promise<void>
  topicConfigs(request: { readonly topic: string }): Promise<Readonly<Record<string, string>>>
  setTopicConfigs(request: {
    readonly topic: string
    readonly configs: Readonly<Record<string, string | null>>
  }): Promise<void>
  listOffsets(request: {
    readonly partitions: readonly TopicPartition[]
    readonly at: OffsetAt
    readonly isolation: Isolation
  }): Promise<readonly PartitionOffset[]>

  /** One batch a partition, all led by `node`; acks=all. `baseOffset` of each batch is the home's to set. */
  produce(request: {
    readonly node: number
    readonly batches: readonly (TopicPartition & { readonly bytes: Uint8Array })[]
    readonly transactionalId?: string
    readonly timeoutMs: number
  }): Promise<readonly ProduceResult[]>
  /** Waits up to `waitMsMax` for `bytesMin`, then answers for each partition asked; all led by `node`. */
  fetch(request: FetchRequest): Promise<readonly FetchedPartition[]>

  /** With a transactional id: fences older producers of it, aborts what they left open. */
  initProducer(request: {
    readonly transactionalId?: string
    readonly transactionTimeoutMs?: number
  }): Promise<ProducerIdentity>
  /** Whether a producer was made with this id, as long as the broker remembers it. Undefined where it cannot say. */
  hasTransactionalId(request: { readonly transactionalId: string }): Promise<boolean | undefined>
  addPartitionsToTransaction(request: Transaction & { readonly partitions: readonly TopicPartition[] }): Promise<void>
  commitOffsetsInTransaction(
    request: Transaction & {
      readonly groupId: string
      readonly offsets: readonly CommittedOffset[]
      readonly member?: MemberGeneration
    },
  ): Promise<void>
  endTransaction(request: Transaction & { readonly commit: boolean }): Promise<void>

  joinGroup(request: {
    readonly groupId: string
    readonly protocolType: string
    readonly protocols: readonly { readonly name: string; readonly metadata: Uint8Array }[]
    readonly sessionTimeoutMs: number
    readonly rebalanceTimeoutMs: number
    /** Empty on the first join. */
    readonly memberId: string
    /** Of a static member: joining without a member id takes the place of the one that has it now. */
    readonly instanceId?: InstanceId
    /** Absent: the name of this home's connections. */
    readonly clientId?: string
  }): Promise<JoinResult>
  /** Returns this member's assignment. The leader passes everybody's. */
  syncGroup(request: {
    readonly groupId: string
    readonly generation: number
    readonly memberId: string
    readonly instanceId?: InstanceId
    readonly assignments: readonly { readonly memberId: string; readonly assignment: Uint8Array }[]
  }): Promise<Uint8Array>
  /**
   * Rejects with `rebalance_in_progress`, `unknown_member` or `illegal_generation` when the member has to rejoin, with
   * `fenced` when another one has its instance id now.
   */
  heartbeat(request: { readonly groupId: string } & MemberGeneration): Promise<void>
  leaveGroup(request: {
    readonly groupId: string
    readonly memberId: string
    readonly instanceId?: InstanceId
  }): Promise<void>
  /** Without `member`: an administrator's commit, refused while the group has members. */
  commitOffsets(request: {
    readonly groupId: string
    readonly offsets: readonly CommittedOffset[]
    readonly member?: MemberGeneration
  }): Promise<void>
  /**
   * Without `partitions`: all that are committed. Partitions without a commit are left out. `settled`: rejects with
   * `concurrent_transaction` while a transaction brings offsets of these partitions, whose end nobody knows yet.
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

/** What a call of a home is asked with. */
export type BackendRequest<Call extends keyof BrokerBackend> = Parameters<BrokerBackend[Call]>[0]

export type TopicMetadata = {
  readonly topic: string
  readonly internal: boolean
  readonly partitions: readonly { readonly partition: number; readonly leader: number; readonly replicas: number }[]
}

/** Why one partition of a call failed; `openBroker`'s callers see it as a `BrokerError`. */
export type PartitionError = { readonly code: BrokerErrorCode; readonly message: string }

export type ProduceResult = TopicPartition & {
  readonly baseOffset: number
  readonly error?: PartitionError
  /** Places in the batch of the records that are to blame for the error, as far as the log says. */
  readonly refused?: readonly number[]
}

export type FetchRequest = {
  readonly node: number
  readonly partitions: readonly PartitionOffset[]
  readonly waitMsMax: number
  readonly bytesMin: number
  /** Of the whole answer; one batch larger than it still comes. */
  readonly bytesMax: number
  readonly isolation: Isolation
}

export type FetchedPartition = TopicPartition & {
  /** Whole record batches, one after the other; may begin before the asked offset and end in an incomplete batch. */
  readonly bytes: Uint8Array
  /** First offset that can't be read at the asked isolation. */
  readonly endOffset: number
  readonly startOffset: number
  /** Transactions to hide: batches of `producerId` from `firstOffset` up to its next control batch. */
  readonly aborted: readonly { readonly producerId: bigint; readonly firstOffset: number }[]
  readonly error?: PartitionError
}

export type ProducerIdentity = { readonly producerId: bigint; readonly epoch: number }
export type Transaction = ProducerIdentity & { readonly transactionalId: string }

export type JoinResult = {
  readonly generation: number
  readonly memberId: string
  /** Of a static member that took another one's place in a settled group: who led when the group was settled. */
  readonly leaderId: string
  readonly protocol: string
  /** Everybody, when this member leads; else empty. */
  readonly members: readonly JoinedMember[]
}
