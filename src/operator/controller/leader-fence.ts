/** This process does not lead, or may have lost the lease, so it must not write. */
export class NotLeaderError extends Error {
  constructor(message = 'another process may be the leader now') {
    super(message)
    this.name = 'NotLeading'
  }
}

/** Protects writes of a process that may lose the lease. */
export type Fence = {
  /** Aborts when this process stops leading; its reason is a `NotLeaderError`. */
  readonly signal: AbortSignal
  /**
   * Throws `NotLeaderError` unless this process certainly leads for this long: a request that is sent now ends before
   * another process can lead.
   */
  assertFor(ms: number): void
}

/** Something that runs until it is stopped. */
export type Stoppable = { stop(): Promise<void> }

/** Used when there is only one operator, so no lease is needed. */
export const UNFENCED: Fence = { signal: new AbortController().signal, assertFor: () => undefined }
