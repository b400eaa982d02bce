/** Receives what a controller and its work queue do. */
export type ControllerMetrics = {
  /** A key was added that was not waiting. */
  added(): void
  /** A key was added with backoff. */
  retried(): void
  /** A key left the queue after waiting this long. */
  dequeued(waitedMs: number): void
  reconciled(outcome: ReconcileOutcome, tookMs: number): void
  /** A reconcile ended with a `TerminalError`. */
  failedTerminally(): void
}

/** `panic`: a bug of the operator. `timeout`: the reconcile exceeded its time limit. */
export type ReconcileOutcome = 'success' | 'requeue_after' | 'error' | 'panic' | 'timeout'

export const NO_METRICS: ControllerMetrics = {
  added: () => undefined,
  retried: () => undefined,
  dequeued: () => undefined,
  reconciled: () => undefined,
  failedTerminally: () => undefined,
}

/** The current state of a work queue. */
export type QueueState = {
  readonly waiting: number
  /** How long each running reconcile has been running. */
  readonly workingMs: readonly number[]
}
