/**
 * What changed in a program; `name` null means everything of the kind. The change of a log is a new line about the connector
 * of this name.
 */
export type ObjectChange = {
  readonly kind: 'connector' | 'log' | 'subject' | 'resource'
  readonly name: string | null
}

/** Passes the changes of a program on to the open pages of its console. */
export class ChangeFeed {
  readonly #listeners = new Set<(change: ObjectChange) => void>()
  readonly #closing = new AbortController()

  /** Aborted when the program stops. */
  get closed(): AbortSignal {
    return this.#closing.signal
  }

  publish(change: ObjectChange): void {
    for (const listener of this.#listeners) listener(change)
  }

  /** Returns a function that removes the listener. */
  subscribe(listener: (change: ObjectChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Must be called before the server stops, which would wait for the open pages. */
  close(): void {
    this.#closing.abort()
  }
}
