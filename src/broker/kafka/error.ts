import { BrokerError, type BrokerErrorCode } from '../error.ts'
import type { PartitionError } from '../home.ts'

/** Kafka's error numbers, as far as they mean something to callers; every other one is `unavailable` or a refusal. */
const CODES: Readonly<Record<number, readonly [name: string, code: BrokerErrorCode]>> = {
  1: ['OFFSET_OUT_OF_RANGE', 'offset_out_of_range'],
  2: ['CORRUPT_MESSAGE', 'corrupt_batch'],
  3: ['UNKNOWN_TOPIC_OR_PARTITION', 'topic_not_found'],
  5: ['LEADER_NOT_AVAILABLE', 'not_leader'],
  6: ['NOT_LEADER_OR_FOLLOWER', 'not_leader'],
  7: ['REQUEST_TIMED_OUT', 'timeout'],
  8: ['BROKER_NOT_AVAILABLE', 'unavailable'],
  9: ['REPLICA_NOT_AVAILABLE', 'not_leader'],
  10: ['MESSAGE_TOO_LARGE', 'record_too_large'],
  13: ['NETWORK_EXCEPTION', 'unavailable'],
  14: ['COORDINATOR_LOAD_IN_PROGRESS', 'coordinator_moved'],
  15: ['COORDINATOR_NOT_AVAILABLE', 'coordinator_moved'],
  16: ['NOT_COORDINATOR', 'coordinator_moved'],
  17: ['INVALID_TOPIC_EXCEPTION', 'invalid_topic'],
  18: ['RECORD_LIST_TOO_LARGE', 'record_too_large'],
  19: ['NOT_ENOUGH_REPLICAS', 'unavailable'],
  20: ['NOT_ENOUGH_REPLICAS_AFTER_APPEND', 'unavailable'],
  22: ['ILLEGAL_GENERATION', 'illegal_generation'],
  23: ['INCONSISTENT_GROUP_PROTOCOL', 'inconsistent_group'],
  24: ['INVALID_GROUP_ID', 'invalid_request'],
  25: ['UNKNOWN_MEMBER_ID', 'unknown_member'],
  26: ['INVALID_SESSION_TIMEOUT', 'invalid_request'],
  27: ['REBALANCE_IN_PROGRESS', 'rebalance_in_progress'],
  29: ['TOPIC_AUTHORIZATION_FAILED', 'not_authorized'],
  30: ['GROUP_AUTHORIZATION_FAILED', 'not_authorized'],
  31: ['CLUSTER_AUTHORIZATION_FAILED', 'not_authorized'],
  35: ['UNSUPPORTED_VERSION', 'unsupported'],
  36: ['TOPIC_ALREADY_EXISTS', 'topic_exists'],
  37: ['INVALID_PARTITIONS', 'invalid_config'],
  38: ['INVALID_REPLICATION_FACTOR', 'invalid_config'],
  39: ['INVALID_REPLICA_ASSIGNMENT', 'invalid_config'],
  40: ['INVALID_CONFIG', 'invalid_config'],
  41: ['NOT_CONTROLLER', 'not_leader'],
  42: ['INVALID_REQUEST', 'invalid_request'],
  44: ['POLICY_VIOLATION', 'invalid_config'],
  45: ['OUT_OF_ORDER_SEQUENCE_NUMBER', 'sequence_lost'],
  47: ['INVALID_PRODUCER_EPOCH', 'fenced'],
  48: ['INVALID_TXN_STATE', 'invalid_transaction'],
  49: ['INVALID_PRODUCER_ID_MAPPING', 'invalid_transaction'],
  50: ['INVALID_TRANSACTION_TIMEOUT', 'invalid_config'],
  51: ['CONCURRENT_TRANSACTIONS', 'concurrent_transaction'],
  52: ['TRANSACTION_COORDINATOR_FENCED', 'coordinator_moved'],
  53: ['TRANSACTIONAL_ID_AUTHORIZATION_FAILED', 'not_authorized'],
  56: ['KAFKA_STORAGE_ERROR', 'unavailable'],
  59: ['UNKNOWN_PRODUCER_ID', 'sequence_lost'],
  68: ['NON_EMPTY_GROUP', 'group_not_empty'],
  69: ['GROUP_ID_NOT_FOUND', 'group_not_found'],
  74: ['FENCED_LEADER_EPOCH', 'not_leader'],
  75: ['UNKNOWN_LEADER_EPOCH', 'not_leader'],
  76: ['UNSUPPORTED_COMPRESSION_TYPE', 'unsupported'],
  79: ['MEMBER_ID_REQUIRED', 'unknown_member'],
  82: ['FENCED_INSTANCE_ID', 'fenced'],
  86: ['GROUP_SUBSCRIBED_TO_TOPIC', 'group_not_empty'],
  87: ['INVALID_RECORD', 'invalid_request'],
  89: ['THROTTLING_QUOTA_EXCEEDED', 'unavailable'],
  90: ['PRODUCER_FENCED', 'fenced'],
  100: ['UNKNOWN_TOPIC_ID', 'topic_not_found'],
  120: ['TRANSACTION_ABORTABLE', 'invalid_transaction'],
}

export const MEMBER_ID_REQUIRED = 79
export const TOPIC_ALREADY_EXISTS = 36

/** What an error number of the wire means; undefined for 0. `where` says of what. */
export function partitionError(number: number, where: string): PartitionError | undefined {
  if (number === 0) return undefined
  const [name, code] = CODES[number] ?? [`error ${number}`, 'unavailable']
  return { code, message: `${where}: ${name}` }
}

/** Throws when the number is an error. `detail` is what the broker said beside it. */
export function check(number: number, where: string, detail?: string | null): void {
  const error = partitionError(number, where)
  if (error) throw new BrokerError(error.code, detail ? `${error.message}: ${detail}` : error.message)
}

/** A failure of kafkajs or of the socket. What can't be told is a bad moment: the broker could not be asked. */
export function toBrokerError(error: unknown, where: string): BrokerError {
  if (error instanceof BrokerError) return error
  const { name = '', message = String(error), code } = error as { name?: string; message?: string; code?: number }
  if (name === 'KafkaJSProtocolError' && typeof code === 'number') {
    const known = partitionError(code, where)
    if (known) return new BrokerError(known.code, known.message, { cause: error })
  }
  return new BrokerError(CAUSES[name] ?? 'unavailable', `${where}: ${message}`, { cause: error })
}

const CAUSES: Readonly<Record<string, BrokerErrorCode>> = {
  KafkaJSSASLAuthenticationError: 'not_authenticated',
  KafkaJSRequestTimeoutError: 'timeout',
  KafkaJSNotImplemented: 'unsupported',
  KafkaJSUnsupportedMagicByteInMessageSet: 'unsupported',
  KafkaJSServerDoesNotSupportApiKey: 'unsupported',
}
