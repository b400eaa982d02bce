import { ClusterError } from '../../clients/kubernetes/cluster-error.ts'
import type { Clock } from '../../common/clock.ts'
import { startDeadline } from '../../common/deadline.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { type ControllerMetrics, NO_METRICS, type ReconcileOutcome } from './controller-metrics.ts'
import { NotLeaderError } from './leader-fence.ts'
import type { WorkQueue } from './work-queue.ts'

/** When a key is reconciled again: after a delay, after its backoff, or only when it is added to the queue again. */
export type Requeue = { readonly afterMs: number } | 'rate-limited' | 'none'

export type ControllerOptions<Key extends string> = {
  readonly queue: WorkQueue<Key>
  readonly clock: Clock
  readonly logger: Logger
  /** After this time the signal of a reconcile aborts, and the reconcile counts as failed. */
  readonly reconcileTimeoutMs?: number
  readonly metrics?: ControllerMetrics
  /** Reconciles what the key names. Level-based: it receives the key, never the event that added it. */
  readonly reconcile: (key: Key, signal: AbortSignal) => Promise<Requeue>
}

const RECONCILE_TIMEOUT_MS = 60_000

/**
 * Takes keys from its queue and reconciles them: several keys of a flow at a time, but never the same key twice at
 * once. A reconcile that hangs occupies one worker of its own flow only.
 */
export class Controller<Key extends string> {
  readonly queue: WorkQueue<Key>
  readonly #options: ControllerOptions<Key>
  readonly #stopping = new AbortController()
  readonly #running = new Set<Promise<void>>()
  #dispatching: Promise<void> = Promise.resolve()

  constructor(options: ControllerOptions<Key>) {
    this.#options = options
    this.queue = options.queue
  }

  start(): void {
    this.#dispatching = this.#dispatch()
  }

  /** Takes no more keys, aborts the signals of running reconciles, and resolves when they have ended. */
  async stop(): Promise<void> {
    this.queue.shutDown()
    this.#stopping.abort(new Error('stopping'))
    await this.#dispatching
    await Promise.all(this.#running)
  }

  /** The queue limits how many keys are reconciled at the same time. */
  async #dispatch(): Promise<void> {
    for (let key = await this.queue.get(); key !== undefined; key = await this.queue.get()) {
      const running = this.#process(key).finally(() => this.#running.delete(running))
      this.#running.add(running)
    }
  }

  async #process(key: Key): Promise<void> {
    try {
      this.#requeue(key, await this.#reconcile(key))
    } finally {
      this.queue.done(key)
    }
  }

  async #reconcile(key: Key): Promise<Requeue> {
    const { reconcile, clock, logger, metrics = NO_METRICS, reconcileTimeoutMs = RECONCILE_TIMEOUT_MS } = this.#options
    const deadline = startDeadline(reconcileTimeoutMs, this.#stopping.signal)
    const startedMs = clock.monotonicMs()
    const record = (outcome: ReconcileOutcome): void => {
      const tookMs = clock.monotonicMs() - startedMs
      metrics.reconciled(tookMs > reconcileTimeoutMs ? 'timeout' : outcome, tookMs)
    }
    try {
      const requeue = await reconcile(key, deadline.signal)
      record(requeue === 'rate-limited' ? 'error' : requeue === 'none' ? 'success' : 'requeue_after')
      return requeue
    } catch (error) {
      record(error instanceof ClusterError || error instanceof NotLeaderError ? 'error' : 'panic')
      if (error instanceof NotLeaderError)
        logger.debug({ resource: key, reason: error.message }, 'not reconciled: this process does not lead')
      else if (!this.#stopping.signal.aborted) logger.error({ err: error, resource: key }, 'reconcile failed')
      return 'rate-limited'
    } finally {
      deadline.clear()
    }
  }

  #requeue(key: Key, requeue: Requeue): void {
    if (requeue === 'rate-limited') {
      this.queue.addRateLimited(key)
      return
    }
    this.queue.forget(key)
    if (requeue !== 'none') this.queue.addAfter(key, requeue.afterMs)
  }
}
