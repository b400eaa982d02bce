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
  /** Reports a write that got no response: it may still take effect until `ms` after now. */
  reportUnanswered(ms: number): void
}

/** Something that runs until it is stopped. */
export type Stoppable = { stop(): Promise<void> }

/** Used when there is only one operator, so no lease is needed. */
export const UNFENCED: Fence = {
  signal: new AbortController().signal,
  assertFor: () => undefined,
  reportUnanswered: () => undefined,
}

/** Sends a write that takes `ms` at most, unless this process may lose the lease in that time. */
export async function writeFenced<T>(fence: Fence, ms: number, write: () => Promise<T>): Promise<T> {
  fence.assertFor(ms)
  try {
    const result = await write()
    if (hasStatus(result) && !isAnswered(result)) fence.reportUnanswered(ms)
    return result
  } catch (error) {
    if (!hasStatus(error) || !isAnswered(error)) fence.reportUnanswered(ms)
    throw error
  }
}

type WithStatus = { readonly status: number }

function hasStatus(outcome: unknown): outcome is WithStatus {
  return typeof (outcome as Partial<WithStatus> | undefined)?.status === 'number'
}

/** A server or a proxy that gives up may answer before the write has ended. */
function isAnswered({ status }: WithStatus): boolean {
  return status > 0 && status !== 408 && status < 500
}
