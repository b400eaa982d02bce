import type { Logger } from './logging/logger.ts'
import { withTimeout } from './timeout.ts'

/** A running program: its URL, and how to stop it. `stop` resolves when all resources are released. */
export type RunningProgram = { readonly url: string; stop(): Promise<void> }

/** Default timeout of stopping one component; after it the next one is stopped. */
const PART_STOP_MS = 10_000

type Part = {
  readonly name: string
  readonly stop: () => Promise<unknown> | unknown
  readonly stopMsMax: number
}

/** Of all lifecycles in this process. Only the names: a component that never stops would keep all that its functions refer to. */
const stopping = new Set<Pick<Part, 'name'>>()

/** Names of the components that have not finished stopping, for the log of a forced exit. */
export function partsBeingStopped(): readonly string[] {
  return [...stopping].map(({ name }) => name)
}

/**
 * Components that are started in order and stopped in reverse order. A component that fails to stop or exceeds its
 * timeout is logged and does not prevent the others from stopping. `stop` is idempotent.
 */
export class Lifecycle {
  readonly #started: Part[] = []
  readonly #logger: Logger
  #stopping: Promise<void> | undefined

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /**
   * Registers how to stop a component that was just started. A component that limits its own stop time may pass
   * `Infinity`.
   */
  onStop(name: string, stop: () => Promise<unknown> | unknown, stopMsMax: number = PART_STOP_MS): void {
    this.#started.push({ name, stop, stopMsMax })
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll()
    return this.#stopping
  }

  async #stopAll(): Promise<void> {
    for (const part of this.#started.splice(0).reverse()) {
      const { name, stopMsMax } = part
      const entry = { name }
      stopping.add(entry)
      const stopped = (async () => part.stop())()
        .catch((error: unknown) => this.#logger.error({ err: error, part: name }, 'cannot stop a component'))
        .finally(() => stopping.delete(entry))
      if (stopMsMax === Number.POSITIVE_INFINITY) await stopped
      else
        await withTimeout(stopped, stopMsMax, () =>
          this.#logger.error({ part: name, stopMsMax }, 'a component did not stop in time'),
        )
    }
  }
}

/** Runs `start`; if it fails, stops what it has registered before the error is rethrown. */
export async function startAll<T>(logger: Logger, start: (lifecycle: Lifecycle) => Promise<T>): Promise<T> {
  const lifecycle = new Lifecycle(logger)
  try {
    return await start(lifecycle)
  } catch (error) {
    await lifecycle.stop()
    throw error
  }
}
