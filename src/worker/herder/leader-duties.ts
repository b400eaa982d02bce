import { retry } from '../../common/retry.ts'
import type { RawConfig } from '../../sdk/index.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { StatusKey } from '../stores/status-codec.ts'
import type { StatusChange, StatusStore } from '../stores/status-store.ts'
import { SessionKeyRotation, type SessionKeyRotationOptions } from './session-key-rotation.ts'
import { STATUS_RETRY } from './status-writer.ts'
import { findObsoleteStatuses, isObsoleteStatus } from './work-plan.ts'
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

  /** Throws a `WorkerError` (`rebalancing`) if another worker may have become the leader. */
  assertLeader(): void {
    if (!this.#options.isLeader()) throw new WorkerError('rebalancing', 'this worker is not the leader of its group')
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
      await configs.changes.inTurn(name, async () => {
        // Created again since then: its records are those of the new connector.
        if (configs.state.connector(name) === undefined) await configs.deleteRemainingRecords(name)
      })
    }
    await this.#sessionKey.rotate()
  }

  /** Deletes the status of a connector or task that no longer exists: its last owner may write it after the clean-up. */
  statusRead(change: StatusChange): void {
    const { clock, logger, configs, isLeader } = this.#options
    if (change.status === null || !isLeader() || !isObsoleteStatus(configs.state, change)) return
    const { connector } = change
    const deleteAll = async () => {
      const { statuses } = this.#options
      await Promise.all(this.#obsoleteStatuses(connector).map((key) => statuses.delete(key)))
    }
    retry(deleteAll, { ...STATUS_RETRY, clock }).catch((error: unknown) =>
      logger.error({ err: error, connector }, 'an obsolete status could not be deleted'),
    )
  }

  /** Empty on a follower. */
  #obsoleteStatuses(connector: string): readonly StatusKey[] {
    const { configs, statuses, isLeader } = this.#options
    return isLeader() ? findObsoleteStatuses(configs.state, statuses.state, [connector]) : []
  }

  /** Stores the task configurations that the worker with the connector generated. Rejects with a `WorkerError`. */
  async putTasks(name: string, tasks: readonly RawConfig[]): Promise<void> {
    const { configs } = this.#options
    await configs.changes.inTurn(name, async () => {
      this.assertLeader()
      const connector = configs.state.connector(name)
      if (!connector) throw new WorkerError('connector_not_found', `Connector ${name} not found`)
      if (connector.target === 'STOPPED' && tasks.length > 0) {
        throw new WorkerError(
          'invalid_request',
          `Cannot submit non-empty set of task configs for stopped connector ${name}`,
        )
      }
      await configs.putTasks(name, tasks)
    })
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
