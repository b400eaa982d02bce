import type { Logger } from '../../common/logging/logger.ts'
import type { ResourceChange } from './cluster.ts'

/**
 * Listeners for changes of resources. The error of a listener is logged and affects neither the others nor the caller.
 */
export class ChangeListeners {
  readonly #logger: Logger
  readonly #listeners = new Set<(change: ResourceChange) => void>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Returns a function that removes the listener. */
  add(listener: (change: ResourceChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  notify(change: ResourceChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (error) {
        this.#logger.error({ err: error, resource: change.key }, 'a listener for resource changes failed')
      }
    }
  }
}
