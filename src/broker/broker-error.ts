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

  constructor(code: BrokerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'BrokerError'
    this.code = code
    this.retriable = RETRIABLE.has(code)
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

/** Brokers do not know the topic or the partition, perhaps not yet. */
export function isMissing(error: unknown): error is BrokerError {
  return error instanceof BrokerError && error.code === 'topic_not_found'
}
