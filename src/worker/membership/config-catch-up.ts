import { type Clock, WAIT_ENDED } from '../../common/clock.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { retry } from '../../common/retry.ts'

export type ConfigCatchUpOptions = {
  readonly logger: Logger
  readonly clock: Clock
  /** The offset up to which this worker has read the config topic. */
  readonly configOffset: () => number
  /** Reads the config topic to its end. */
  readonly readConfigs: () => Promise<void>
}

/** How long a worker that could not read the config topic waits before it tries again. */
const BACKOFF = { firstMs: 250, maxMs: 2_000 }

/** Reads the configurations to which an assignment belongs. */
export class ConfigCatchUp {
  readonly #options: ConfigCatchUpOptions
  #isDone = false
  #repeating = new AbortController()
  #isClosed = false

  constructor(options: ConfigCatchUpOptions) {
    this.#options = options
  }

  /** Whether the worker has read as far as the last rebalance requires. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** Begins a rebalance that requires what precedes this offset. */
  require(offset: number): void {
    this.stop()
    this.#isDone = offset <= this.#options.configOffset()
  }

  /** A failure is only logged: no rebalance waits longer for a topic that cannot be read. */
  async attempt(): Promise<void> {
    this.stop()
    try {
      await this.#options.readConfigs()
      this.#isDone = true
    } catch (error) {
      this.#isDone = false
      this.#options.logger.warn(
        { err: error },
        'the config topic could not be read to its end: this worker starts no work on outdated configurations, and retries',
      )
    }
  }

  /** Repeats the attempt until it succeeds, and then calls `onDone`. */
  async repeat(onDone: () => Promise<void>): Promise<void> {
    if (this.#isClosed) return
    this.stop()
    const { clock, logger, readConfigs } = this.#options
    this.#repeating = new AbortController()
    const { signal } = this.#repeating
    const options = { backoff: BACKOFF, withinMs: Number.POSITIVE_INFINITY, retriable: () => true, signal, clock }
    try {
      await retry(readConfigs, options)
      if (signal.aborted) return
      this.#isDone = true
      await onDone()
    } catch (error) {
      if (!signal.aborted) logger.error({ err: error }, 'the work of the last rebalance could not be started')
    }
  }

  /** Ends the repetition. */
  stop(): void {
    this.#repeating.abort(WAIT_ENDED)
  }

  close(): void {
    this.#isClosed = true
    this.stop()
  }
}
