import type { RawConfig } from '../../sdk/index.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { StatusStore } from '../stores/status-store.ts'
import { SessionKeyRotation, type SessionKeyRotationOptions } from './session-key-rotation.ts'
import { findObsoleteStatuses } from './work-plan.ts'
import { ZombieFencing, type ZombieFencingOptions } from './zombie-fencing.ts'

export type LeaderDutiesOptions = ZombieFencingOptions & SessionKeyRotationOptions & { readonly statuses: StatusStore }

/** The duties of the group's leader: cleaning up, storing task configurations, fencing and rotating the session key. */
export class LeaderDuties {
  readonly #options: LeaderDutiesOptions
  readonly #zombieFencing: ZombieFencing
  readonly #sessionKey: SessionKeyRotation

  constructor(options: LeaderDutiesOptions) {
    this.#options = options
    this.#zombieFencing = new ZombieFencing(options)
    this.#sessionKey = new SessionKeyRotation(options)
  }

  /**
   * Called after each rebalance: deletes the records of deleted connectors and tasks, and rotates an expired session
   * key.
   */
  async cleanUp(): Promise<void> {
    const { configs, statuses } = this.#options
    await Promise.all(findObsoleteStatuses(configs.state, statuses.state).map((key) => statuses.delete(key)))
    for (const name of configs.state.deletedConnectorsWithRecords()) {
      await this.#zombieFencing.fenceDeleted(name)
      await configs.deleteRemainingRecords(name)
    }
    await this.#sessionKey.rotate()
  }

  /** Stores the task configurations that the worker with the connector generated. Rejects with a `WorkerError`. */
  async putTasks(name: string, tasks: readonly RawConfig[]): Promise<void> {
    const { configs, isLeader } = this.#options
    if (!isLeader()) throw new WorkerError('rebalancing', 'this worker is not the leader of its group')
    const connector = configs.state.connector(name)
    if (!connector) throw new WorkerError('connector_not_found', `Connector ${name} not found`)
    if (connector.target === 'STOPPED' && tasks.length > 0) {
      throw new WorkerError(
        'invalid_request',
        `Cannot submit non-empty set of task configs for stopped connector ${name}`,
      )
    }
    await configs.putTasks(name, tasks)
  }

  /** Ensures that no source task of an earlier task generation can still write; see `ZombieFencing`. */
  fenceZombieSourceTasks(name: string): Promise<void> {
    return this.#zombieFencing.fence(name)
  }

  /** Rotates the session key when it expires, until `signal` aborts. */
  runSessionKeyRotation(signal: AbortSignal): Promise<void> {
    return this.#sessionKey.run(signal)
  }
}
