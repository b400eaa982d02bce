import type { Logger } from './logger.ts'

/** A program that runs: where it answers, and how it ends. `stop` resolves when everything it held is free. */
export type Running = { readonly url: string; stop(): Promise<void> }

/**
 * Things that are started in order and stopped in reverse. Whatever fails to stop is logged and does not keep the others
 * from stopping. Stopping twice is stopping once.
 */
export class Lifecycle {
  readonly #started: { readonly name: string; readonly stop: () => Promise<unknown> | unknown }[] = []
  readonly #logger: Logger
  #stopping: Promise<void> | undefined

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Registers how to stop what was just started. */
  onStop(name: string, stop: () => Promise<unknown> | unknown): void {
    this.#started.push({ name, stop })
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll()
    return this.#stopping
  }

  async #stopAll(): Promise<void> {
    for (const { name, stop } of this.#started.splice(0).reverse()) {
      try {
        await stop()
      } catch (error) {
        this.#logger.error({ err: error, part: name }, 'could not stop cleanly')
      }
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
