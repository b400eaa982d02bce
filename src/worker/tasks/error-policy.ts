import type { Clock } from '../../common/clock.ts'
import { messageOf } from '../../common/errors.ts'
import type { TaskLog } from '../../sdk/index.ts'
import type { ErrorConfig } from '../configuration/task-config.ts'
import type { TaskCounters } from './task-counters.ts'

/** The stage in which a record failed, named as in Kafka Connect. */
export type Stage =
  | 'TRANSFORMATION'
  | 'KEY_CONVERTER'
  | 'VALUE_CONVERTER'
  | 'HEADER_CONVERTER'
  | 'TASK_PUT'
  | 'TASK_POLL'
  | 'KAFKA_PRODUCE'
  | 'KAFKA_CONSUME'

/** A record that failed and is not retried any more. */
export type RecordFailure = {
  readonly stage: Stage
  /** The plugin that failed. */
  readonly className: string
  readonly error: unknown
  /** The position of the record, included in every log line. */
  readonly position: object
  /** The content of the record, evaluated only when `errors.log.include.messages` is set. */
  readonly content: () => object
}

export type ErrorPolicyOptions = {
  readonly config: ErrorConfig
  readonly counters: TaskCounters
  readonly log: TaskLog
  readonly clock: Clock
  /** Aborts when the task ends. */
  readonly signal: AbortSignal
  readonly random?: () => number
}

const RETRY_DELAY_MS_MIN = 300

/** How one task handles failed records: it retries, skips or fails. */
export class ErrorPolicy {
  readonly #config: ErrorConfig
  readonly #counters: TaskCounters
  readonly #log: TaskLog
  readonly #clock: Clock
  readonly #signal: AbortSignal
  readonly #random: () => number

  constructor(options: ErrorPolicyOptions) {
    this.#config = options.config
    this.#counters = options.counters
    this.#log = options.log
    this.#clock = options.clock
    this.#signal = options.signal
    this.#random = options.random ?? Math.random
  }

  /** Whether failed records are skipped. */
  get isTolerant(): boolean {
    return this.#config.tolerance !== 'none'
  }

  /**
   * Retries a failed step while its error is retriable and `errors.retry.timeout` has not passed. The last attempt is
   * made at that time, as in Kafka Connect.
   */
  async retry<T>(failed: unknown, step: () => T | Promise<T>): Promise<T> {
    let error = failed
    const endMs = this.#clock.monotonicMs() + this.#config.retryTimeoutMs
    for (let attempt = 0; ; attempt++) {
      const leftMs = endMs - this.#clock.monotonicMs()
      if (!isRetriable(error) || leftMs <= 0) throw error
      this.#counters.retries += 1
      await this.#clock.sleep(Math.min(this.delayMs(attempt), leftMs), this.#signal)
      try {
        return await step()
      } catch (repeated) {
        error = repeated
      }
    }
  }

  /** Counts the retries of steps that are retried elsewhere. */
  countRetries(count: number): void {
    this.#counters.retries += count
  }

  /** Counts and logs an error of the plugin that is retried. Returns the delay that it requests, or else `delayMs`. */
  delayAfterMs(error: unknown, attempt: number, message: string): number {
    const { retryAfterMs } = error as { retryAfterMs?: unknown }
    const waitMs = typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? retryAfterMs : this.delayMs(attempt)
    this.#log.warn({ err: error, waitMs }, message)
    this.#counters.retries += 1
    return waitMs
  }

  /** Whether the limit in an error of the plugin, if it has one, permits another retry after this number of retries. */
  hasRetriesLeft(error: unknown, retries: number): boolean {
    const { retriesMax } = error as { retriesMax?: unknown }
    return typeof retriesMax !== 'number' || retries < retriesMax
  }

  /** Delay in ms. Doubles from 300 ms; once that exceeds `errors.retry.delay.max.ms`, random between both. */
  delayMs(attempt: number): number {
    const doubled = RETRY_DELAY_MS_MIN * 2 ** Math.min(attempt, 30)
    const max = this.#config.retryDelayMsMax
    if (doubled <= max) return doubled
    return max <= RETRY_DELAY_MS_MIN
      ? max
      : Math.round(RETRY_DELAY_MS_MIN + this.#random() * (max - RETRY_DELAY_MS_MIN))
  }

  /** Counts and logs a failed record that is to be skipped. Throws when `errors.tolerance` is `none`. */
  tolerate(failure: RecordFailure): void {
    // A record that was interrupted by the end of the task did not fail: it is processed after the restart.
    this.#signal.throwIfAborted()
    this.#counters.errors += 1
    this.#counters.lastErrorMs = this.#clock.nowMs()
    if (this.#config.log) {
      const { stage, className, error, position, content } = failure
      this.#counters.errorsLogged += 1
      const record = this.#config.logRecords ? { record: content() } : {}
      this.#log.error({ err: error, stage, className, ...position, ...record }, 'a record failed')
    }
    if (!this.isTolerant) {
      const message = `${messageOf(failure.error)}${placeOf(failure.position)}`
      throw new Error(`Tolerance exceeded in error handler: ${message}`, { cause: failure.error })
    }
    this.#counters.skipped += 1
  }
}

/** Where the record of a sink is, so that somebody can skip it. */
function placeOf(position: object): string {
  const { topic, partition, offset } = position as Readonly<Record<string, unknown>>
  return offset === undefined ? '' : ` (${topic}, partition ${partition}, offset ${offset})`
}

/** Identified by the error's code, because a plugin may bundle a copy of the SDK with other classes. */
export function isRetriable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, retriable } = error as { code?: unknown; retriable?: unknown }
  return code === 'retriable' || retriable === true
}
