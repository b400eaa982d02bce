import type { Clock } from '../common/clock.ts'

/**
 * A change in a runtime of this process: what changed, but not how. `worker` and `registry` are names of the operator's
 * configuration. Subject null: the whole default context; `:.ctx:`: the whole context.
 */
export type RuntimeEvent =
  | { readonly worker: string; readonly connector: string }
  | { readonly registry: string; readonly subject: string | null }

/** Calls the listener once for each change. Returns a function that removes the listener. */
export type SubscribeToRuntimeEvents = (listener: (event: RuntimeEvent) => void) => () => void

/**
 * Events are delivered this long after the first one of a batch: a constant stream of changes is processed 5 times a
 * second.
 */
const BATCH_MS = 200

/** Delivers runtime events in batches without duplicates. */
export class RuntimeEventBus {
  readonly #clock: Clock
  readonly #deliver: (event: RuntimeEvent) => void
  readonly #batch = new Map<string, RuntimeEvent>()
  readonly #stopping = new AbortController()

  constructor(clock: Clock, deliver: (event: RuntimeEvent) => void) {
    this.#clock = clock
    this.#deliver = deliver
  }

  publish(event: RuntimeEvent): void {
    if (this.#stopping.signal.aborted) return
    const isFirst = this.#batch.size === 0
    this.#batch.set(JSON.stringify(event), event)
    if (!isFirst) return
    this.#clock.sleep(BATCH_MS, this.#stopping.signal).then(
      () => this.#deliverBatch(),
      () => undefined,
    )
  }

  stop(): void {
    this.#stopping.abort()
  }

  #deliverBatch(): void {
    const events = [...this.#batch.values()]
    this.#batch.clear()
    for (const event of events) this.#deliver(event)
  }
}
