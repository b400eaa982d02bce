import { BrokerError } from '../../broker/broker-error.ts'
import type { Clock } from '../../common/clock.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { retry } from '../../common/retry.ts'
import type { ConfigState } from '../stores/config-state.ts'
import { type StoredStatus, toStatusKey } from '../stores/status-codec.ts'
import type { StatusStore, StatusSubject } from '../stores/status-store.ts'

export type StatusWriterOptions = {
  readonly logger: Logger
  readonly clock: Clock
  readonly configs: Pick<ConfigState, 'connector'>
  readonly statuses: Pick<StatusStore, 'put' | 'putSafe'>
}

const RETRY = { backoff: { firstMs: 250, maxMs: 10_000 }, withinMs: Number.POSITIVE_INFINITY }

/**
 * Writes the statuses of connectors and tasks, and retries until the topic accepts them, as Kafka Connect does: a status that is
 * lost while a broker is unavailable would let a failed task appear to be running for as long as it exists. Only the newest status
 * of a connector or task is retried.
 */
export class StatusWriter {
  readonly #options: StatusWriterOptions
  /** The newest status of each connector and task whose status is not stored yet. */
  readonly #pending = new Map<string, StoredStatus>()

  constructor(options: StatusWriterOptions) {
    this.#options = options
  }

  /** Resolves when the status is stored, or its first attempt has failed. Never rejects. */
  put(subject: StatusSubject, status: StoredStatus): Promise<void> {
    return this.#write(subject, status, () => this.#options.statuses.put(subject, status))
  }

  /** Like `put`, but does not overwrite a status that another worker wrote in a later generation of the group. */
  putSafe(subject: StatusSubject, status: StoredStatus): Promise<void> {
    return this.#write(subject, status, () => this.#options.statuses.putSafe(subject, status))
  }

  #write(subject: StatusSubject, status: StoredStatus, put: () => Promise<void>): Promise<void> {
    const { clock, logger } = this.#options
    const key = toStatusKey(subject)
    const { state } = status
    const attempted = Promise.withResolvers<void>()
    let isRepeated = false
    this.#pending.set(key, status)
    const attempt = async () => {
      if (!isRepeated || (this.#pending.get(key) === status && this.#exists(subject))) await put()
    }
    const onRetry = (error: unknown) => {
      if (!isRepeated) logger.warn({ err: error, ...subject, state }, 'a status could not be written; retrying')
      isRepeated = true
      attempted.resolve()
    }
    void retry(attempt, { ...RETRY, retriable: isRetriable, clock, onRetry })
      .catch((error: unknown) => logger.error({ err: error, ...subject, state }, 'a status could not be written'))
      .finally(() => {
        if (this.#pending.get(key) === status) this.#pending.delete(key)
        attempted.resolve()
      })
    return attempted.promise
  }

  /** Whether the status is still wanted: the leader deletes those of deleted connectors and tasks. */
  #exists(subject: StatusSubject): boolean {
    const connector = this.#options.configs.connector(subject.connector)
    return connector !== undefined && (subject.kind === 'connector' || subject.task < connector.tasks.length)
  }
}

function isRetriable(error: unknown): boolean {
  return error instanceof BrokerError && error.retriable
}
