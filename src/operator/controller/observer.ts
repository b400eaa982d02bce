import type { Clock } from '../../config/clock.ts'
import { messageOf } from '../../config/errors.ts'
import type { Logger } from '../../config/logger.ts'
import { PeriodicTask } from '../../config/periodic.ts'
import { CircuitOpenError } from './circuit-breaker.ts'

export type ObserverOptions<Thing> = {
  /** Everything that a runtime has, by name. */
  readonly list: () => Promise<ReadonlyMap<string, Thing>>
  readonly clock: Clock
  readonly logger: Logger
  readonly intervalMs: number
  /** Is shown everything after each look, and what differs from the last one: what came, changed or went. */
  readonly onListed: (things: ReadonlyMap<string, Thing>, changed: ReadonlySet<string>) => void
  /** The runtime did not answer twice in a row, or does again. */
  readonly onAvailabilityChange: () => void
}

/** A look that failed is followed by the next one so soon: one answer that is late is no outage. */
const RETRY_MS = 5_000
/** Failed looks in a row that make an outage. */
const FAILURES = 2

/** One look at all that a runtime has, again and again: what changed there reaches its resource without a pass each. */
export class Observer<Thing> {
  readonly #options: ObserverOptions<Thing>
  readonly #rounds: PeriodicTask
  #seen = new Map<string, string>()
  #failures = 0
  #isObserved = false
  #seenAtMs: number

  constructor(options: ObserverOptions<Thing>) {
    this.#options = options
    this.#rounds = new PeriodicTask(options.clock)
    this.#seenAtMs = options.clock.monotonicMs()
  }

  /** How long ago all was last seen. */
  get lagMs(): number {
    return this.#options.clock.monotonicMs() - this.#seenAtMs
  }

  /** Whether what changes there is told. */
  get isObserved(): boolean {
    return this.#isObserved && this.#failures < FAILURES
  }

  start(): void {
    const { intervalMs } = this.#options
    this.#rounds.start(async () => {
      await this.#look()
      return this.#failures === 0 ? intervalMs : Math.min(intervalMs, RETRY_MS)
    })
  }

  stop(): Promise<void> {
    return this.#rounds.stop()
  }

  async #look(): Promise<void> {
    const { list, logger, onAvailabilityChange, onListed } = this.#options
    try {
      const things = await list()
      onListed(things, this.#changedIn(things))
      const wasAway = this.#failures >= FAILURES
      this.#failures = 0
      this.#isObserved = true
      if (!wasAway) return
      logger.info('it answers again')
    } catch (error) {
      // Nobody was asked: whoever said so tells of the end, and nobody is woken for it twice.
      this.#failures = error instanceof CircuitOpenError ? 0 : this.#failures + 1
      if (this.#failures !== FAILURES || this.#rounds.isStopped) return
      logger.warn({ reason: messageOf(error) }, 'it does not answer')
    }
    onAvailabilityChange()
  }

  #changedIn(things: ReadonlyMap<string, Thing>): ReadonlySet<string> {
    const now = new Map([...things].map(([name, thing]) => [name, JSON.stringify(thing)]))
    this.#seenAtMs = this.#options.clock.monotonicMs()
    const before = this.#seen
    this.#seen = now
    return new Set([...now.keys(), ...before.keys()].filter((name) => now.get(name) !== before.get(name)))
  }
}
