import { BrokerError, type BrokerErrorCode } from '../broker-error.ts'

/**
 * Kafka error codes that callers distinguish; all others map to `unavailable`. Which codes may be retried is defined in
 * `broker-error.ts`.
 */
const KAFKA_ERRORS: Readonly<Record<number, readonly [name: string, code: BrokerErrorCode]>> = {
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
  32: ['INVALID_TIMESTAMP', 'invalid_record'],
  33: ['UNSUPPORTED_SASL_MECHANISM', 'not_authenticated'],
  34: ['ILLEGAL_SASL_STATE', 'not_authenticated'],
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
  58: ['SASL_AUTHENTICATION_FAILED', 'not_authenticated'],
  59: ['UNKNOWN_PRODUCER_ID', 'sequence_lost'],
  68: ['NON_EMPTY_GROUP', 'group_not_empty'],
  69: ['GROUP_ID_NOT_FOUND', 'group_not_found'],
  74: ['FENCED_LEADER_EPOCH', 'not_leader'],
  75: ['UNKNOWN_LEADER_EPOCH', 'not_leader'],
  76: ['UNSUPPORTED_COMPRESSION_TYPE', 'unsupported'],
  79: ['MEMBER_ID_REQUIRED', 'unknown_member'],
  82: ['FENCED_INSTANCE_ID', 'fenced'],
  86: ['GROUP_SUBSCRIBED_TO_TOPIC', 'group_not_empty'],
  87: ['INVALID_RECORD', 'invalid_record'],
  88: ['UNSTABLE_OFFSET_COMMIT', 'concurrent_transaction'],
  89: ['THROTTLING_QUOTA_EXCEEDED', 'unavailable'],
  90: ['PRODUCER_FENCED', 'fenced'],
  100: ['UNKNOWN_TOPIC_ID', 'topic_not_found'],
  120: ['TRANSACTION_ABORTABLE', 'invalid_transaction'],
  129: ['REBOOTSTRAP_REQUIRED', 'unavailable'],
}

export const UNKNOWN_TOPIC_OR_PARTITION = 3
export const LEADER_NOT_AVAILABLE = 5
export const TOPIC_ALREADY_EXISTS = 36
export const INVALID_REPLICATION_FACTOR = 38
export const MEMBER_ID_REQUIRED = 79

/** The name and the code of an error in a response. `ResponseErrors` converts it with the right that is missing. */
export function kafkaError(number: number): { readonly name: string; readonly code: BrokerErrorCode } {
  const [name, code] = KAFKA_ERRORS[number] ?? [`error ${number}`, 'unavailable']
  return { name, code }
}

/** Converts an error of the protocol, the login or the socket. An unknown error counts as `unavailable`. */
export function toBrokerError(error: unknown, where: string): BrokerError {
  if (error instanceof BrokerError) return error
  const { message = String(error), code } = error as ClientError
  if (typeof code === 'number' && code !== 0) {
    const known = kafkaError(code)
    return new BrokerError(known.code, `${where}: ${known.name}`, { cause: error })
  }
  const certificateError = typeof code === 'string' ? CERTIFICATE_ERRORS.find(([codes]) => codes.test(code)) : undefined
  if (certificateError)
    return new BrokerError('not_authenticated', `${where}: ${certificateError[1](message)}`, { cause: error })
  return new BrokerError('unavailable', `${where}: ${stripNodeText(message)}`, { cause: error })
}

/**
 * A server closes the connection when the protocol does not match. On the first connection, the message points to that
 * possibility, because a restart looks the same.
 */
export function suggestProtocolMismatch(error: unknown, protocol: string): unknown {
  if (!(error instanceof BrokerError)) return error
  const { code = '' } = (error.cause ?? {}) as ClientError
  if (!CONNECTION_CLOSED_CODES.has(code)) return error
  const message = `${error.message}; is security.protocol=${protocol} what the server expects?`
  return new BrokerError(error.code, message, { cause: error.cause })
}

/** Also the response of Kafka to an unexpected login, and the error of `node:tls` for a response that is not TLS. */
const CONNECTION_CLOSED_CODES: ReadonlySet<string | number> = new Set([
  'ECONNRESET',
  34,
  'ERR_SSL_WRONG_VERSION_NUMBER',
])

type ClientError = { readonly message?: string; readonly code?: number | string }

/** TLS certificate errors by the codes of `node:tls`, with the remedy. */
const CERTIFICATE_ERRORS: readonly (readonly [codes: RegExp, sentence: (message: string) => string])[] = [
  [
    /ALERT/,
    (message) =>
      `the server rejected this client's certificate (${/alert [a-z ]+/.exec(message)?.[0] ?? stripNodeText(message)}): expected one that it trusts in ssl.keystore.location`,
  ],
  [/ALTNAME/, (message) => `${stripNodeText(message)}: expected a name that is in the server's certificate`],
  [
    /CERT|SIGNATURE|CRL|CA$/,
    (message) =>
      `the server's certificate is not trusted (${stripNodeText(message)}): expected its CA in ssl.truststore.location`,
  ],
]

/** Removes the advice for browsers and the like that Node adds. */
function stripNodeText(message: string): string {
  return message.replace(/; if the root CA is installed locally.*/, '')
}
