import { createHash } from 'node:crypto'
import type { Clock } from '../../common/clock.ts'
import { messageOf } from '../../common/errors.ts'
import { printExactJson } from '../../common/exact-json.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { PeriodicTask } from '../../common/periodic-task.ts'
import { CircuitOpenError } from './circuit-breaker.ts'

export type ListPollerOptions<T> = {
  /** Lists the objects of a runtime by name. */
  readonly list: () => Promise<ReadonlyMap<string, T>>
  readonly clock: Clock
  readonly logger: Logger
  readonly intervalMs: number
  /** Receives every list, and the names of the objects that were created, changed or deleted since the last one. */
  readonly onListed: (objects: ReadonlyMap<string, T>, changed: ReadonlySet<string>) => void
  /** Called when two consecutive lists failed, and when one succeeds again. */
  readonly onAvailabilityChange: () => void
}

/** Pause after a failed list. A single failure is not an outage. */
const RETRY_MS = 5_000
/** Consecutive failures that make an outage. */
const OUTAGE_FAILURES = 2

/**
 * Lists the objects of a runtime periodically and reports which have changed: one request for all objects instead of
 * one for each resource.
 */
export class ListPoller<T> {
  readonly #options: ListPollerOptions<T>
  readonly #polling: PeriodicTask
  /** Hashes of the objects: the objects may be large. */
  #lastListed = new Map<string, string>()
  #failures = 0
  #hasListed = false
  #listedAtMs: number

  constructor(options: ListPollerOptions<T>) {
    this.#options = options
    this.#polling = new PeriodicTask(options.clock)
    this.#listedAtMs = options.clock.monotonicMs()
  }

  /** Time since the last successful list, in milliseconds. */
  get lagMs(): number {
    return this.#options.clock.monotonicMs() - this.#listedAtMs
  }

  /** Whether the runtime was listed and does not have an outage: its changes are being reported. */
  get isAvailable(): boolean {
    return this.#hasListed && this.#failures < OUTAGE_FAILURES
  }

  start(): void {
    const { intervalMs } = this.#options
    this.#polling.start(async () => {
      await this.#poll()
      return this.#failures === 0 ? intervalMs : Math.min(intervalMs, RETRY_MS)
    })
  }

  stop(): Promise<void> {
    return this.#polling.stop()
  }

  async #poll(): Promise<void> {
    const { list } = this.#options
    let objects: ReadonlyMap<string, T>
    try {
      objects = await list()
    } catch (error) {
      this.#failed(error)
      return
    }
    this.#succeeded(objects)
  }

  #failed(error: unknown): void {
    const { logger, onAvailabilityChange } = this.#options
    // The circuit breaker made no call, and it enqueues the resources itself when the runtime responds again.
    this.#failures = error instanceof CircuitOpenError ? 0 : this.#failures + 1
    if (this.#failures !== OUTAGE_FAILURES || this.#polling.isStopped) return
    logger.warn({ reason: messageOf(error) }, 'the runtime does not respond')
    onAvailabilityChange()
  }

  #succeeded(objects: ReadonlyMap<string, T>): void {
    const { logger, onListed, onAvailabilityChange } = this.#options
    try {
      onListed(objects, this.#changedIn(objects))
    } catch (error) {
      // An error of the listener is a bug of the operator, not a failure of the runtime.
      logger.error({ err: error }, 'the handler of a list of runtime objects failed')
    }
    const wasUnavailable = this.#failures >= OUTAGE_FAILURES
    this.#failures = 0
    this.#hasListed = true
    if (!wasUnavailable) return
    logger.info('the runtime responds again')
    onAvailabilityChange()
  }

  #changedIn(objects: ReadonlyMap<string, T>): ReadonlySet<string> {
    const listed = new Map([...objects].map(([name, object]) => [name, hashOf(object)]))
    this.#listedAtMs = this.#options.clock.monotonicMs()
    const before = this.#lastListed
    this.#lastListed = listed
    return new Set([...listed.keys(), ...before.keys()].filter((name) => listed.get(name) !== before.get(name)))
  }
}

function hashOf(object: unknown): string {
  return createHash('sha256').update(printExactJson(object)).digest('base64')
}
