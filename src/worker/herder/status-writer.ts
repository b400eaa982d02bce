import { BrokerError } from '../../broker/broker-error.ts'
import type { Clock } from '../../common/clock.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { retry } from '../../common/retry.ts'
import type { ConfigState } from '../stores/config-state.ts'
import { type StatusSubject, type StoredStatus, toStatusKey } from '../stores/status-codec.ts'
import { isLate } from '../stores/status-state.ts'
import type { StatusChange, StatusStore } from '../stores/status-store.ts'

export type StatusWriterOptions = {
  readonly logger: Logger
  readonly clock: Clock
  readonly configs: Pick<ConfigState, 'connector'>
  readonly statuses: Pick<StatusStore, 'state' | 'put' | 'putSafe'>
}

/** How long a write to the status topic is repeated. */
export const STATUS_RETRY = {
  backoff: { firstMs: 250, maxMs: 10_000 },
  withinMs: Number.POSITIVE_INFINITY,
  retriable: isRetriable,
}

/** How long a worker whose config topic is behind the leader's waits before it writes a deleted status again. */
const RESTORE_MS = 1_000

/**
 * Writes the statuses of connectors and tasks, and retries until the topic accepts them, as Kafka Connect does: a status that is
 * lost while a broker is unavailable would let a failed task appear to be running for as long as it exists. Only the newest status
 * of a connector or task is retried.
 */
export class StatusWriter {
  readonly #options: StatusWriterOptions
  /** The newest status of each connector and task whose status is not stored yet. */
  readonly #pending = new Map<string, StoredStatus>()
  /** The newest status of each connector and task that this worker owns. */
  readonly #own = new Map<string, { readonly subject: StatusSubject; readonly status: StoredStatus }>()
  /** The connectors of which statuses were deleted that are about to be written again. */
  readonly #deleted = new Set<string>()
  /** The first attempts that are in progress. */
  readonly #attempts = new Set<Promise<void>>()

  constructor(options: StatusWriterOptions) {
    this.#options = options
  }

  /**
   * Resolves when every status that was put before this call is stored, or its first attempt has failed. Nothing that a rebalance
   * waits for may call it: the topic may not accept writes for as long as a broker does not respond.
   */
  async flush(): Promise<void> {
    await Promise.all(this.#attempts)
  }

  /** Statuses are stored in the order of the calls. */
  put(subject: StatusSubject, status: StoredStatus): void {
    this.#write(subject, status, () => this.#options.statuses.put(subject, status))
  }

  /** Like `put`, but does not overwrite a status that another worker wrote in a later generation of the group. */
  putSafe(subject: StatusSubject, status: StoredStatus): void {
    this.#write(subject, status, () => this.#options.statuses.putSafe(subject, status))
  }

  /**
   * Writes the status of a connector or a task again if a previous owner, which had not read it yet, has written that it is not assigned:
   * readers ignore that only until the topic is compacted to it. Also if the leader has deleted the status of an earlier connector or task
   * with this name, and the write was late.
   */
  restoreAfter({ status, ...subject }: StatusChange): void {
    if (status === null) {
      void this.#restoreDeleted(subject.connector)
      return
    }
    const own = this.#own.get(toStatusKey(subject))?.status
    if (own && own.worker_id !== status.worker_id && isLate(own, status)) this.put(subject, own)
  }

  /** Of all tasks: the deletion of a connector's status hides those of its tasks. */
  async #restoreDeleted(connector: string): Promise<void> {
    const own = () => [...this.#own.values()].filter(({ subject }) => subject.connector === connector)
    if (this.#deleted.has(connector) || own().length === 0) return
    this.#deleted.add(connector)
    await this.#options.clock.sleep(RESTORE_MS)
    this.#deleted.delete(connector)
    const { state } = this.#options.statuses
    for (const { subject, status } of own())
      if (this.#exists(subject) && state.of(subject) === undefined) this.putSafe(subject, status)
  }

  #write(subject: StatusSubject, status: StoredStatus, put: () => Promise<void>): void {
    const { clock, logger } = this.#options
    const key = toStatusKey(subject)
    const { state } = status
    const attempted = Promise.withResolvers<void>()
    let isRepeated = false
    this.#pending.set(key, status)
    if (state === 'UNASSIGNED' && status.trace === null) this.#own.delete(key)
    else this.#own.set(key, { subject, status })
    const attempt = async () => {
      if (!isRepeated || (this.#pending.get(key) === status && this.#exists(subject))) await put()
    }
    const onRetry = (error: unknown) => {
      if (!isRepeated) logger.warn({ err: error, ...subject, state }, 'a status could not be written; retrying')
      isRepeated = true
      attempted.resolve()
    }
    void retry(attempt, { ...STATUS_RETRY, clock, onRetry })
      .catch((error: unknown) => logger.error({ err: error, ...subject, state }, 'a status could not be written'))
      .finally(() => {
        if (this.#pending.get(key) === status) this.#pending.delete(key)
        attempted.resolve()
      })
    this.#attempts.add(attempted.promise)
    void attempted.promise.then(() => this.#attempts.delete(attempted.promise))
  }

  /** Whether the status is still wanted: the leader deletes those of deleted connectors and tasks. */
  #exists(subject: StatusSubject): boolean {
    const connector = this.#options.configs.connector(subject.connector)
    return connector !== undefined && (subject.kind === 'connector' || subject.task < connector.tasks.length)
  }
}

/** A right may be granted again. */
function isRetriable(error: unknown): boolean {
  return error instanceof BrokerError && (error.retriable || error.code === 'not_authorized')
}
