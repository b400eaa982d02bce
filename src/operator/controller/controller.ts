import { ClusterError } from '../../clients/kubernetes/cluster-error.ts'
import type { Clock } from '../../config/clock.ts'
import type { Logger } from '../../config/logger.ts'
import { type ControllerMetrics, NO_METRICS, type ReconcileOutcome } from './controller-metrics.ts'
import { NotLeaderError } from './fence.ts'
import { WorkQueue } from './work-queue.ts'

/** What becomes of a key after a pass: looked at again then, tried again with growing pauses, or left until it changes. */
export type Requeue = { readonly afterMs: number } | 'rate-limited' | 'none'

export type ControllerOptions<Key extends string> = {
  readonly name: string
  readonly clock: Clock
  readonly logger: Logger
  /** How many keys of one flow are reconciled at the same time. */
  readonly concurrency: number
  /** The flow of a key, such as the runtime that it is reconciled against. Default: all keys are one flow. */
  readonly flowOf?: (key: Key) => string
  /** One pass may take so long; then its signal aborts and it counts as failed. */
  readonly reconcileTimeoutMs?: number
  readonly metrics?: ControllerMetrics
  /** One pass over what the key names. Level-based: it is told which, never what happened. */
  readonly reconcile: (key: Key, signal: AbortSignal) => Promise<Requeue>
}

const RECONCILE_TIMEOUT_MS = 60_000

/**
 * Takes keys from its queue and reconciles them: several of each flow at a time, but never one key twice at once. A
 * reconcile that hangs occupies one place of its own flow only.
 */
export class Controller<Key extends string> {
  readonly queue: WorkQueue<Key>
  readonly #options: ControllerOptions<Key>
  readonly #stopping = new AbortController()
  readonly #running = new Set<Promise<void>>()
  #dispatching: Promise<void> = Promise.resolve()

  constructor(options: ControllerOptions<Key>) {
    this.#options = options
    const { clock, metrics = NO_METRICS, concurrency, flowOf } = options
    this.queue = new WorkQueue({ clock, metrics, flowConcurrency: concurrency, ...(flowOf && { flowOf }) })
  }

  start(): void {
    this.#dispatching = this.#dispatch()
  }

  /** Takes no more keys, and resolves when the passes that run have ended; they are asked to by their signal. */
  async stop(): Promise<void> {
    this.queue.shutDown()
    this.#stopping.abort(new Error('stopping'))
    await this.#dispatching
    await Promise.all(this.#running)
  }

  /** The queue hands out no more keys than may be worked on at once. */
  async #dispatch(): Promise<void> {
    for (let key = await this.queue.get(); key !== undefined; key = await this.queue.get()) {
      const running = this.#work(key).finally(() => this.#running.delete(running))
      this.#running.add(running)
    }
  }

  async #work(key: Key): Promise<void> {
    try {
      this.#schedule(key, await this.#pass(key))
    } finally {
      this.queue.done(key)
    }
  }

  async #pass(key: Key): Promise<Requeue> {
    const { reconcile, clock, logger, metrics = NO_METRICS, reconcileTimeoutMs = RECONCILE_TIMEOUT_MS } = this.#options
    const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(reconcileTimeoutMs)])
    const beganMs = clock.monotonicMs()
    const ended = (outcome: ReconcileOutcome): void => {
      const tookMs = clock.monotonicMs() - beganMs
      metrics.reconciled(tookMs > reconcileTimeoutMs ? 'timeout' : outcome, tookMs)
    }
    try {
      const requeue = await reconcile(key, signal)
      ended(requeue === 'rate-limited' ? 'error' : requeue === 'none' ? 'success' : 'requeue_after')
      return requeue
    } catch (error) {
      ended(error instanceof ClusterError || error instanceof NotLeaderError ? 'error' : 'panic')
      if (error instanceof NotLeaderError) logger.debug({ resource: key, reason: error.message }, 'left to the leader')
      else if (!this.#stopping.signal.aborted) logger.error({ err: error, resource: key }, 'reconcile failed')
      return 'rate-limited'
    }
  }

  #schedule(key: Key, requeue: Requeue): void {
    if (requeue === 'rate-limited') {
      this.queue.addRateLimited(key)
      return
    }
    this.queue.forget(key)
    if (requeue !== 'none') this.queue.addAfter(key, requeue.afterMs)
  }
}
