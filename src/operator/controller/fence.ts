/** Who acts must be sure to be the only one. This process is not, or not any more. */
export class NotLeaderError extends Error {
  constructor(message = 'another process may lead by now') {
    super(message)
    this.name = 'NotLeading'
  }
}

/** What stands between one who acts and what he changes elsewhere. */
export type Fence = {
  /** Aborts when everything has to stop where it is; its reason is a `NotLeaderError`. */
  readonly signal: AbortSignal
  /** Throws `NotLeaderError` unless nobody else can lead for so long: what is sent now will have ended by then. */
  assertFor(ms: number): void
}

/** What a leader does, until it is stopped. */
export type Stoppable = { stop(): Promise<void> }

/** Of one who is alone by his nature. */
export const UNFENCED: Fence = { signal: new AbortController().signal, assertFor: () => undefined }
