import { randomBytes } from 'node:crypto'
import type { Broker } from '../../broker/broker.ts'
import type { Clock } from '../../common/clock.ts'
import type { Logger } from '../../common/logging/logger.ts'
import type { RawConfig } from '../../sdk/index.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { ConnectorState } from '../stores/config-state.ts'
import type { ConfigStore } from '../stores/config-store.ts'
import type { StatusStore } from '../stores/status-store.ts'
import { fenceProducer, transactionalIdOf } from './producer-fencing.ts'
import { findObsoleteStatuses } from './work-plan.ts'

export type LeaderDutiesOptions = {
  readonly broker: Broker
  readonly groupId: string
  readonly logger: Logger
  readonly clock: Clock
  readonly configs: ConfigStore
  readonly statuses: StatusStore
  readonly isLeader: () => boolean
  readonly isSource: (config: RawConfig) => boolean
  readonly sessionKey: {
    /** Age at which the key is replaced, in ms; 0 means never. */
    readonly ttlMs: number
    readonly algorithm: string
    readonly bytes: number
  }
}

const KEY_CHECK_MS = 10_000

/** The duties of the group's leader: cleaning up, storing task configurations, fencing and rotating the session key. */
export class LeaderDuties {
  readonly #options: LeaderDutiesOptions
  readonly #fencing = new Map<string, Promise<void>>()

  constructor(options: LeaderDutiesOptions) {
    this.#options = options
  }

  /**
   * Called after each rebalance: deletes the records of deleted connectors and tasks, and rotates an expired session
   * key.
   */
  async cleanUp(): Promise<void> {
    const { configs, statuses } = this.#options
    await Promise.all(findObsoleteStatuses(configs.state, statuses.state).map((key) => statuses.delete(key)))
    for (const name of configs.state.deletedConnectorsWithRecords()) await configs.deleteRemainingRecords(name)
    await this.rotateSessionKey()
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

  /**
   * Ensures that no task of an earlier task generation can still write. Each source task requests it when it starts.
   */
  fenceZombieSourceTasks(name: string): Promise<void> {
    const fencing = this.#fencing.get(name) ?? this.#fence(name).finally(() => this.#fencing.delete(name))
    this.#fencing.set(name, fencing)
    return fencing
  }

  async #fence(name: string): Promise<void> {
    const { configs, broker, groupId } = this.#options
    await configs.readToEnd()
    const { pendingFencing, fencedTasks, tasks, taskGeneration } = this.#requireSource(name)
    if (!pendingFencing) return
    // A starting task fences its own predecessor, so nothing is left to fence if the connector had one task and has one
    // now.
    const olderTasks = fencedTasks === 1 && tasks.length === 1 ? 0 : (fencedTasks ?? 0)
    const ids = Array.from({ length: olderTasks }, (_, task) => transactionalIdOf(groupId, { connector: name, task }))
    await Promise.all(ids.map((id) => fenceProducer(broker, id)))
    await configs.readToEnd()
    if (this.#requireSource(name).taskGeneration !== taskGeneration) {
      throw new WorkerError(
        'rebalancing',
        'Fencing failed because new task configurations were generated for the connector',
      )
    }
    await configs.write([{ kind: 'fencing', connector: name, tasks: tasks.length }])
  }

  #requireSource(name: string): ConnectorState {
    const { configs, isLeader, isSource } = this.#options
    if (!isLeader()) throw new WorkerError('rebalancing', 'this worker is not the leader of its group')
    const connector = configs.state.connector(name)
    if (!connector) throw new WorkerError('connector_not_found', `Connector ${name} not found`)
    if (!isSource(connector.config)) {
      throw new WorkerError(
        'invalid_request',
        `Connector ${name} is not a source connector: only source connectors are fenced`,
      )
    }
    return connector
  }

  /** Rotates the session key when it expires, until `signal` aborts. */
  async runSessionKeyRotation(signal: AbortSignal): Promise<void> {
    const { clock, isLeader, logger } = this.#options
    while (!signal.aborted) {
      await clock.sleep(KEY_CHECK_MS, signal).catch(() => undefined)
      if (signal.aborted || !isLeader()) continue
      await this.rotateSessionKey().catch((error: unknown) => {
        logger.error({ err: error }, 'the session key could not be rotated; retrying')
      })
    }
  }

  async rotateSessionKey(): Promise<void> {
    const { configs, clock, sessionKey } = this.#options
    const { ttlMs, algorithm, bytes } = sessionKey
    const known = configs.state.session
    const isFresh = known && known.algorithm === algorithm && Buffer.from(known.key, 'base64').length === bytes
    if (isFresh && (ttlMs === 0 || clock.nowMs() - known.createdMs < ttlMs)) return
    const key = randomBytes(bytes).toString('base64')
    await configs.write([{ kind: 'session', session: { key, algorithm, createdMs: clock.nowMs() } }])
  }
}
