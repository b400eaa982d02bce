import type { TopicFilter } from '../../broker/broker.ts'
import { javaRegex } from '../../java-compat/java-regex.ts'
import type { RawConfig } from '../../sdk/index.ts'
import { ConfigError, parseConfig, z } from '../../sdk/index.ts'
import { commonKeys, sinkKeys, sourceKeys } from './connector-keys.ts'

const spec = z.object({
  ...commonKeys.pick({
    'errors.retry.timeout': true,
    'errors.retry.delay.max.ms': true,
    'errors.tolerance': true,
    'errors.log.enable': true,
    'errors.log.include.messages': true,
  }).shape,
  ...sourceKeys.pick({ 'transaction.boundary': true, 'transaction.boundary.interval.ms': true }).shape,
  ...sinkKeys.shape,
})

/** The common connector keys that are used while a task runs. */
export type TaskConfig = {
  readonly errors: ErrorConfig
  readonly deadLetters: DeadLetterConfig | undefined
  readonly topics: readonly string[] | TopicFilter
  readonly transactions: TransactionConfig
}

/** What ends a source's transactions. `intervalMs` is undefined when the worker's commit interval applies. */
export type TransactionConfig = {
  readonly boundary: TransactionBoundary
  readonly intervalMs: number | undefined
}

export type TransactionBoundary = 'poll' | 'interval' | 'connector'

export type ErrorConfig = {
  /** How long one step is retried, in ms; `Infinity` for no limit. */
  readonly retryTimeoutMs: number
  readonly retryDelayMsMax: number
  readonly tolerance: 'none' | 'all'
  readonly log: boolean
  readonly logRecords: boolean
}

export type DeadLetterConfig = {
  readonly topic: string
  readonly replicationFactor: number
  readonly contextHeaders: boolean
}

/** Longer durations have no exact number. */
const DURATION_MAX = Number.MAX_SAFE_INTEGER

/** Throws a `ConfigError`. */
export function parseTaskConfig(raw: RawConfig): TaskConfig {
  const config = parseConfig(spec, raw)
  const retryTimeoutMs = config['errors.retry.timeout']
  const deadLetterTopic = config['errors.deadletterqueue.topic.name']
  return {
    transactions: {
      boundary: config['transaction.boundary'],
      intervalMs: config['transaction.boundary.interval.ms'],
    },
    errors: {
      retryTimeoutMs: retryTimeoutMs < 0 || retryTimeoutMs > DURATION_MAX ? Number.POSITIVE_INFINITY : retryTimeoutMs,
      retryDelayMsMax: Math.min(config['errors.retry.delay.max.ms'], DURATION_MAX),
      tolerance: config['errors.tolerance'],
      log: config['errors.log.enable'],
      logRecords: config['errors.log.include.messages'],
    },
    deadLetters:
      deadLetterTopic === ''
        ? undefined
        : {
            topic: deadLetterTopic,
            replicationFactor: config['errors.deadletterqueue.topic.replication.factor'],
            contextHeaders: config['errors.deadletterqueue.context.headers.enable'],
          },
    topics: config['topics.regex'] === '' ? config.topics : topicFilter(config['topics.regex'], deadLetterTopic),
  }
}

/**
 * Throws a `ConfigError` when the expression matches the dead-letter topic: the task would read its dead letters
 * endlessly. Checked here because validation cannot match all expressions.
 */
function topicFilter(expression: string, deadLetterTopic: string): TopicFilter {
  const pattern = javaRegex(expression, { whole: true })
  if (deadLetterTopic !== '' && pattern.test(deadLetterTopic)) {
    throw new ConfigError([{ key: 'topics.regex', message: matchesDeadLetters(deadLetterTopic, expression) }])
  }
  return (topic) => pattern.test(topic)
}

export function includesDeadLetters(topic: string, topics: readonly string[]): string {
  return `The DLQ topic '${topic}' may not be included in the list of topics ('topics=[${topics.join(', ')}]') consumed by the connector`
}

export function matchesDeadLetters(topic: string, regex: string): string {
  return `The DLQ topic '${topic}' may not be matched by the regex for the topics ('topics.regex=${regex}') consumed by the connector`
}
