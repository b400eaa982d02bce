import type { Clock } from '../config/clock.ts'

/**
 * What a runtime in this process tells: which of its things changed, never how. `worker` and `registry` are the names of
 * entries. Subject null: the whole default context; `:.ctx:`: all of that context.
 */
export type RuntimeEvent =
  | { readonly worker: string; readonly connector: string }
  | { readonly registry: string; readonly subject: string | null }

/** From now on every change is told, one call each. Returns how to end that. */
export type SubscribeToRuntimeEvents = (listener: (news: RuntimeEvent) => void) => () => void

/** Nothing is told sooner than so long after the first of it: what changes without end is passed over five times a second. */
const GATHER_MS = 200

/** Gathers what is told, so that a thing that changes a thousand times a second is looked at a few times. */
export class RuntimeEventBus {
  readonly #clock: Clock
  readonly #publish: (news: RuntimeEvent) => void
  readonly #gathered = new Map<string, RuntimeEvent>()
  readonly #stopping = new AbortController()

  constructor(clock: Clock, publish: (news: RuntimeEvent) => void) {
    this.#clock = clock
    this.#publish = publish
  }

  hear(news: RuntimeEvent): void {
    if (this.#stopping.signal.aborted) return
    const isFirst = this.#gathered.size === 0
    this.#gathered.set(JSON.stringify(news), news)
    if (isFirst) {
      this.#clock.sleep(GATHER_MS, this.#stopping.signal).then(
        () => this.#notify(),
        () => undefined,
      )
    }
  }

  stop(): void {
    this.#stopping.abort()
  }

  #notify(): void {
    const told = [...this.#gathered.values()]
    this.#gathered.clear()
    for (const news of told) this.#publish(news)
  }
}
