import type { Logger } from './logger.ts'
import { withTimeout } from './timeout.ts'

/** A program that runs: where it answers, and how it ends. `stop` resolves when everything it held is free. */
export type RunningProgram = { readonly url: string; stop(): Promise<void> }

/** A part may take so long to stop where nobody says otherwise; then the next one is stopped. */
const PART_STOP_MS = 10_000

type Part = {
  readonly name: string
  readonly stop: () => Promise<unknown> | unknown
  readonly stopMsMax: number
}

/** In this process, of all lifecycles. */
const stopping = new Set<Part>()

/** Names of the parts that were asked to stop and have not, for the log of a forced end. */
export function partsBeingStopped(): readonly string[] {
  return [...stopping].map(({ name }) => name)
}

/**
 * Things that are started in order and stopped in reverse. What fails to stop, or does not stop in time, is logged and
 * does not keep the others from stopping. Stopping twice is stopping once.
 */
export class Lifecycle {
  readonly #started: Part[] = []
  readonly #logger: Logger
  #stopping: Promise<void> | undefined

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Registers how to stop what was just started. What bounds its own stop may take `Infinity`. */
  onStop(name: string, stop: () => Promise<unknown> | unknown, stopMsMax: number = PART_STOP_MS): void {
    this.#started.push({ name, stop, stopMsMax })
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll()
    return this.#stopping
  }

  async #stopAll(): Promise<void> {
    for (const part of this.#started.splice(0).reverse()) {
      stopping.add(part)
      const { name, stopMsMax } = part
      const stopped = (async () => part.stop())()
        .catch((error: unknown) => this.#logger.error({ err: error, part: name }, 'could not stop cleanly'))
        .finally(() => stopping.delete(part))
      if (stopMsMax === Number.POSITIVE_INFINITY) await stopped
      else
        await withTimeout(stopped, stopMsMax, () =>
          this.#logger.error({ part: name, stopMsMax }, 'did not stop in time'),
        )
    }
  }
}

/** Runs `start`; when it fails half-way, what it registered is stopped before the failure goes on. */
export async function startAll<T>(logger: Logger, start: (life: Lifecycle) => Promise<T>): Promise<T> {
  const life = new Lifecycle(logger)
  try {
    return await start(life)
  } catch (error) {
    await life.stop()
    throw error
  }
}
