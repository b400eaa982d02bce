import type { ExpandedConnector, WorkerClient } from '../../clients/worker.ts'
import type { Clock } from '../../config/clock.ts'
import { messageOf } from '../../config/failure.ts'
import type { Logger } from '../../config/logger.ts'

export type WorkerObserverOptions = {
  readonly worker: WorkerClient
  readonly clock: Clock
  readonly logger: Logger
  readonly intervalMs: number
  /** Is told each connector whose configuration or state differs from the last look. */
  readonly onChange: (connector: string) => void
}

/** One look at all connectors of a worker, again and again: what changed there reaches its resource without a pass each. */
export class WorkerObserver {
  readonly #options: WorkerObserverOptions
  readonly #stopping = new AbortController()
  #seen = new Map<string, string>()
  #answers = true
  #seenAtMs: number
  #loop: Promise<void> = Promise.resolve()

  constructor(options: WorkerObserverOptions) {
    this.#options = options
    this.#seenAtMs = options.clock.monotonicMs()
  }

  /** How long ago all connectors were last seen. */
  get lagMs(): number {
    return this.#options.clock.monotonicMs() - this.#seenAtMs
  }

  start(): void {
    this.#loop = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#loop
  }

  async #run(): Promise<void> {
    const { clock, intervalMs } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#look()
      await clock.sleep(intervalMs, signal).catch(() => undefined)
    }
  }

  async #look(): Promise<void> {
    const { worker, logger } = this.#options
    try {
      this.#compare(await worker.list())
      if (!this.#answers) logger.info('the worker answers again')
      this.#answers = true
    } catch (error) {
      if (this.#answers) logger.warn({ reason: messageOf(error) }, 'the worker does not answer')
      this.#answers = false
    }
  }

  #compare(connectors: Readonly<Record<string, ExpandedConnector>>): void {
    const now = new Map(Object.entries(connectors).map(([name, connector]) => [name, JSON.stringify(connector)]))
    this.#seenAtMs = this.#options.clock.monotonicMs()
    const before = this.#seen
    this.#seen = now
    for (const name of new Set([...now.keys(), ...before.keys()])) {
      if (now.get(name) !== before.get(name)) this.#options.onChange(name)
    }
  }
}
