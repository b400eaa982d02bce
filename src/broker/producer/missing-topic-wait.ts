import type { Clock } from '../../common/clock.ts'
import { BrokerError } from '../broker-error.ts'

/** How long records wait for a topic or a partition that the brokers do not know (`max.block.ms`). */
export class MissingTopicWait {
  readonly maxMs: number
  readonly #clock: Clock
  readonly #signal: AbortSignal | undefined

  constructor(maxMs: number, clock: Clock, signal: AbortSignal | undefined) {
    this.maxMs = maxMs
    this.#clock = clock
    this.#signal = signal
  }

  /** Whether the wait for a topic continues that has been missing since `sinceMs` of the monotonic clock. */
  continues(sinceMs: number): boolean {
    return this.#signal?.aborted !== true && this.#clock.monotonicMs() - sinceMs < this.maxMs
  }

  /** The error when the wait is over. */
  explain(error: BrokerError): BrokerError {
    if (this.maxMs === 0) return error
    const reason = this.#signal?.aborted
      ? 'the wait for it was ended'
      : `no broker knew it within ${this.maxMs} ms (max.block.ms)`
    return new BrokerError(error.code, `${error.message}: ${reason}`, { cause: error })
  }
}
