import type { PartitionOffset, TopicPartition } from './topic-partition.ts'

/**
 * Error codes of broker calls. The set is closed: callers switch on it. `retriable` tells whether the same call may
 * succeed later without any intervention.
 */
export type BrokerErrorCode =
  // The request is invalid, or the caller is no longer entitled to make it.
  | 'topic_not_found'
  | 'topic_exists'
  | 'invalid_topic'
  | 'invalid_config'
  | 'invalid_request'
  | 'invalid_offset'
  | 'record_too_large'
  | 'invalid_record'
  | 'offset_out_of_range'
  | 'corrupt_batch'
  | 'log_truncated'
  | 'unsupported'
  | 'not_authenticated'
  | 'not_authorized'
  | 'group_not_found'
  | 'group_not_empty'
  | 'inconsistent_group'
  | 'unknown_member'
  | 'illegal_generation'
  | 'rebalance_in_progress'
  | 'fenced'
  | 'sequence_lost'
  | 'invalid_transaction'
  | 'closed'
  // The data directory of the embedded broker.
  | 'data_locked'
  | 'data_newer'
  | 'data_corrupt'
  // Transient conditions.
  | 'disk_full'
  | 'unavailable'
  | 'timeout'
  | 'not_leader'
  | 'coordinator_moved'
  | 'concurrent_transaction'
  | 'transaction_open'

/** The operations that Kafka's ACLs permit. */
export type KafkaOperation =
  | 'READ'
  | 'WRITE'
  | 'CREATE'
  | 'DELETE'
  | 'ALTER'
  | 'DESCRIBE'
  | 'DESCRIBE_CONFIGS'
  | 'ALTER_CONFIGS'
  | 'IDEMPOTENT_WRITE'

/** What a client needs the permission for: one ACL of Kafka. */
export type AccessRight = {
  readonly operation: KafkaOperation
  readonly resourceType: 'topic' | 'group' | 'transactional id' | 'cluster'
  /** Undefined for the cluster. */
  readonly resourceName?: string | undefined
}

/** What brokers say of a right: `unknown` where they do not tell this client, or tell nobody. */
export type RightState = 'granted' | 'missing' | 'unknown'

/** For example `WRITE on topic orders`. */
export function formatRight({ operation, resourceType, resourceName }: AccessRight): string {
  const name = resourceName === undefined ? '' : ` ${resourceName}`
  // Kafka accepts either of two rights.
  if (operation === 'CREATE' && resourceType === 'topic') return `CREATE on cluster or topic${name}`
  if (operation === 'IDEMPOTENT_WRITE') return 'IDEMPOTENT_WRITE on cluster or WRITE on a topic'
  return `${operation} on ${resourceType}${name}`
}

/** An error as plain data, as backends report it and as it is posted to other threads. */
export type BrokerErrorData = {
  readonly code: BrokerErrorCode
  readonly message: string
  /** The missing right, if the code is `not_authorized` and it is known. */
  readonly right?: AccessRight | undefined
}

const RETRIABLE: ReadonlySet<BrokerErrorCode> = new Set([
  'disk_full',
  'unavailable',
  'timeout',
  'not_leader',
  'coordinator_moved',
  'concurrent_transaction',
  'transaction_open',
  'rebalance_in_progress',
])

/** `message` states what is wrong, where (topic, partition, group, path) and the remedy. */
export class BrokerError extends Error {
  readonly code: BrokerErrorCode
  readonly retriable: boolean
  /** The right that this client lacks, for `not_authorized`. An error that explains another one has the right of its cause. */
  readonly right: AccessRight | undefined

  constructor(
    code: BrokerErrorCode,
    message: string,
    options?: ErrorOptions & { readonly right?: AccessRight | undefined },
  ) {
    super(message, options)
    this.name = 'BrokerError'
    this.code = code
    this.right = options?.right ?? (options?.cause instanceof BrokerError ? options.cause.right : undefined)
    this.retriable = RETRIABLE.has(code)
  }

  static of({ code, message, right }: BrokerErrorData): BrokerError {
    return new BrokerError(code, message, { right })
  }
}

/**
 * Stored bytes that cannot be read: no later record of the partition is read until someone decides to skip them.
 * `offset` is that of the first unreadable record batch.
 */
export class UnreadableBatchError extends BrokerError {
  readonly topic: string
  readonly partition: number
  readonly offset: number

  constructor(at: PartitionOffset, cause: BrokerError) {
    const { topic, partition, offset } = at
    super(
      cause.code,
      `the record batch at offset ${offset} of ${topic}-${partition} cannot be read: ${cause.message}`,
      {
        cause,
      },
    )
    this.name = 'UnreadableBatchError'
    this.topic = topic
    this.partition = partition
    this.offset = offset
  }
}

/** A `read_committed` reader cannot pass open transactions in these partitions. */
export class OpenTransactionError extends BrokerError {
  readonly partitions: readonly TopicPartition[]

  constructor(message: string, partitions: readonly TopicPartition[]) {
    super('transaction_open', message)
    this.name = 'OpenTransactionError'
    this.partitions = partitions
  }
}

export function isDenied(error: unknown): error is BrokerError {
  return error instanceof BrokerError && error.code === 'not_authorized'
}

/** The right that this client lacks, if that is why the call failed. */
export function missingRight(error: unknown): AccessRight | undefined {
  return error instanceof BrokerError ? error.right : undefined
}

/** The same call may succeed later without any intervention. */
export function isTransient(error: unknown): error is BrokerError {
  return error instanceof BrokerError && error.retriable
}

/** The same call fails until somebody changes the rights of this client, or its settings. */
export function isRejection(error: unknown): error is BrokerError {
  return error instanceof BrokerError && REJECTIONS.has(error.code)
}

const REJECTIONS: ReadonlySet<BrokerErrorCode> = new Set([
  'not_authorized',
  'inconsistent_group',
  'invalid_config',
  'invalid_request',
  'unsupported',
])

/** Brokers do not know the topic or the partition, perhaps not yet. */
export function isMissing(error: unknown): error is BrokerError {
  return error instanceof BrokerError && error.code === 'topic_not_found'
}
