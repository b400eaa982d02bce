import { WorkerGroup, type WorkerGroupOptions } from '../membership/worker-group.ts'

/**
 * The worker's group for the parts that are created before the worker joins it. Until the first rebalance is over there is no
 * group, and the worker leads nothing.
 */
export class GroupReference {
  #group: WorkerGroup | undefined
  #workerId = ''

  readonly current = (): WorkerGroup | undefined => this.#group

  readonly isLeader = (): boolean => this.#group?.isLeader === true

  readonly haveTasksEnded = (connector: string): boolean => this.#group?.haveTasksEnded(connector) === true

  /** `host:port` of this worker as statuses name it; empty before it joins. */
  get workerId(): string {
    return this.#workerId
  }

  /** Resolves after the first rebalance. To be called once. */
  async join(options: WorkerGroupOptions): Promise<void> {
    this.#workerId = new URL(options.url).host
    this.#group = await WorkerGroup.join(options)
  }
}
