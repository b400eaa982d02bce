/** What a controller and its queue tell of themselves as it happens. */
export type ControllerMetrics = {
  /** A key was added that did not wait already. */
  added(): void
  /** A key comes back after its back-off. */
  retried(): void
  /** A key was given out after it had waited for so long. */
  dequeued(waitedMs: number): void
  reconciled(outcome: ReconcileOutcome, tookMs: number): void
  /** A pass ended in something that only a person can put right. */
  failedTerminally(): void
}

/** `panic`: an error of the operator itself. `timeout`: it took longer than a pass may. */
export type ReconcileOutcome = 'success' | 'requeue_after' | 'error' | 'panic' | 'timeout'

export const NO_METRICS: ControllerMetrics = {
  added: () => undefined,
  retried: () => undefined,
  dequeued: () => undefined,
  reconciled: () => undefined,
  failedTerminally: () => undefined,
}

/** How a queue is now. */
export type QueueState = {
  readonly waiting: number
  /** How long each of the passes that run has been running. */
  readonly workingMs: readonly number[]
}
