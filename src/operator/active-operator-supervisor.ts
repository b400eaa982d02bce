import type { ActiveOperator } from './active-operator.ts'
import type { QueueState } from './controller/controller-metrics.ts'
import type { Fence, Stoppable } from './controller/leader-fence.ts'
import type { Priority } from './controller/priority-queue.ts'
import type { OperatorState } from './operator-metrics.ts'
import type { ResourceKey, ResourceKind } from './resources/resource.ts'
import type { RuntimesConfig } from './runtimes.ts'

type StartActiveOperator = (runtimesConfig: RuntimesConfig, fence: Fence) => ActiveOperator

/**
 * Runs the active operator while this process leads, and restarts it when the configuration of the runtimes changes.
 */
export class ActiveOperatorSupervisor {
  readonly #start: StartActiveOperator
  #runtimesConfig: RuntimesConfig
  #fence: Fence | undefined
  #active: ActiveOperator | undefined
  #changing: Promise<void> = Promise.resolve()

  constructor(runtimesConfig: RuntimesConfig, start: StartActiveOperator) {
    this.#runtimesConfig = runtimesConfig
    this.#start = start
  }

  get isActive(): boolean {
    return this.#active !== undefined
  }

  /** Called when this process becomes the leader. The result stops the operator when it is no longer the leader. */
  start(fence: Fence): Stoppable {
    this.#fence = fence
    this.#active = this.#start(this.#runtimesConfig, fence)
    return { stop: () => this.#stop() }
  }

  reconfigure(runtimesConfig: RuntimesConfig): void {
    this.#runtimesConfig = runtimesConfig
    this.#changing = this.#changing.then(async () => {
      if (this.#fence === undefined) return
      await this.#active?.stop()
      if (this.#fence !== undefined) this.#active = this.#start(this.#runtimesConfig, this.#fence)
    })
  }

  /** Has no effect while this process does not lead: a new leader enqueues every resource when it starts. */
  enqueue(keys: readonly ResourceKey[], priority: Priority): void {
    for (const key of keys) this.#active?.enqueue(key, priority)
  }

  queue(kind: ResourceKind): QueueState | undefined {
    return this.#active?.queue(kind)
  }

  pollLags(): ReturnType<OperatorState['pollLags']> {
    return this.#active?.pollLags() ?? []
  }

  async #stop(): Promise<void> {
    this.#fence = undefined
    await this.#changing
    await this.#active?.stop()
    this.#active = undefined
  }
}
