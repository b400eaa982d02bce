/**
 * Carries out the changes of one connector one after the other, so that each of them decides on what the one before has written. Without
 * it, tasks that a connector generates while it is stopped would be stored after its stop.
 */
export class ConnectorChanges {
  /** The last change of each connector. */
  readonly #last = new Map<string, Promise<void>>()
  /** Called before each change, which fails with its error. */
  readonly #prepare: () => Promise<void>

  constructor(prepare: () => Promise<void> = async () => undefined) {
    this.#prepare = prepare
  }

  /** Calls `change` after the earlier changes of the connector, whether they succeeded or not. */
  async inTurn<Result>(connector: string, change: () => Promise<Result>): Promise<Result> {
    const done = (this.#last.get(connector) ?? Promise.resolve()).then(this.#prepare).then(change)
    const settled = done.then(
      () => undefined,
      () => undefined,
    )
    this.#last.set(connector, settled)
    await settled
    if (this.#last.get(connector) === settled) this.#last.delete(connector)
    return done
  }
}
