import type { Clock } from '../../config/clock.ts'
import { messageOf } from '../../config/errors.ts'
import type { TaskLog } from '../../sdk/index.ts'
import type { ErrorConfig } from '../configuration/task-config.ts'
import type { TaskCounters } from './task-counters.ts'

/** Where on its way a record failed; Kafka Connect's words. */
export type Stage =
  | 'TRANSFORMATION'
  | 'KEY_CONVERTER'
  | 'VALUE_CONVERTER'
  | 'HEADER_CONVERTER'
  | 'TASK_PUT'
  | 'TASK_POLL'
  | 'KAFKA_PRODUCE'
  | 'KAFKA_CONSUME'

/** One record that failed for good. */
export type RecordFailure = {
  readonly stage: Stage
  /** The plugin that was at work. */
  readonly className: string
  readonly error: unknown
  /** Where the record stands; every log line tells it. */
  readonly place: object
  /** What the record says; asked for when log lines may tell that, too. */
  readonly content: () => object
}

const RETRY_DELAY_MS_MIN = 300

/** How one task deals with records that fail: tries again, steps over them, or gives up. */
export class ErrorPolicy {
  readonly #config: ErrorConfig
  readonly #counters: TaskCounters
  readonly #log: TaskLog
  readonly #clock: Clock
  readonly #signal: AbortSignal
  readonly #random: () => number

  constructor(parts: {
    readonly config: ErrorConfig
    readonly counters: TaskCounters
    readonly log: TaskLog
    readonly clock: Clock
    readonly signal: AbortSignal
    readonly random?: () => number
  }) {
    this.#config = parts.config
    this.#counters = parts.counters
    this.#log = parts.log
    this.#clock = parts.clock
    this.#signal = parts.signal
    this.#random = parts.random ?? Math.random
  }

  /** Runs a step that failed again, as long as it fails in a way that may heal and the time for it is not over. */
  async retry<T>(failed: unknown, step: () => T | Promise<T>): Promise<T> {
    let error = failed
    const endMs = this.#clock.monotonicMs() + this.#config.retryTimeoutMs
    for (let attempt = 0; ; attempt++) {
      const waitMs = this.delayMs(attempt)
      if (!isRetriable(error) || this.#clock.monotonicMs() + waitMs > endMs) throw error
      this.#counters.retries += 1
      await this.#clock.sleep(waitMs, this.#signal)
      try {
        return await step()
      } catch (again) {
        error = again
      }
    }
  }

  /** What the plugin asked for with its error, else what `delayMs` says. */
  delayAfterMs(error: unknown, attempt: number): number {
    const { retryAfterMs } = error as { retryAfterMs?: unknown }
    return typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? retryAfterMs : this.delayMs(attempt)
  }

  /** Doubles from 300 ms up to the longest allowed, and is random from there on. */
  delayMs(attempt: number): number {
    const doubled = RETRY_DELAY_MS_MIN * 2 ** Math.min(attempt, 30)
    const max = this.#config.retryDelayMsMax
    if (doubled <= max) return doubled
    return max <= RETRY_DELAY_MS_MIN
      ? max
      : Math.round(RETRY_DELAY_MS_MIN + this.#random() * (max - RETRY_DELAY_MS_MIN))
  }

  /** Counts and logs a record that is lost to the task. Throws when none may be. */
  tolerate(failure: RecordFailure): void {
    // What was cut short by the end of the task has not failed: it comes again.
    this.#signal.throwIfAborted()
    this.#counters.errors += 1
    this.#counters.lastErrorMs = this.#clock.nowMs()
    if (this.#config.log) {
      const { stage, className, error, place, content } = failure
      this.#counters.errorsLogged += 1
      const record = this.#config.logRecords ? { record: content() } : {}
      this.#log.error({ err: error, stage, className, ...place, ...record }, 'a record failed')
    }
    if (this.#config.tolerance === 'none') {
      throw new Error(`Tolerance exceeded in error handler: ${messageOf(failure.error)}`, { cause: failure.error })
    }
    this.#counters.skipped += 1
  }
}

/** Plugins may bring an SDK of their own, so its errors are told by their code. */
export function isRetriable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, retriable } = error as { code?: unknown; retriable?: unknown }
  return code === 'retriable' || retriable === true
}
