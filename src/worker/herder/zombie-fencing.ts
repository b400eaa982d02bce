import type { Broker } from '../../broker/broker.ts'
import type { RawConfig } from '../../sdk/index.ts'
import type { ConnectorBrokers } from '../configuration/connector-brokers.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { ConnectorState } from '../stores/config-state.ts'
import type { ConfigStore } from '../stores/config-store.ts'
import { fenceProducer, transactionalIdOf } from './producer-fencing.ts'

export type ZombieFencingOptions = {
  readonly broker: Broker
  readonly brokers: Pick<ConnectorBrokers, 'run'>
  readonly groupId: string
  readonly configs: ConfigStore
  readonly isLeader: () => boolean
  readonly isSource: (config: RawConfig) => boolean
}

/**
 * Ensures that no source task of an earlier task generation can still write. Each exactly-once source task requests it
 * from the leader when it starts. Rejects with a `WorkerError`.
 */
export class ZombieFencing {
  readonly #options: ZombieFencingOptions
  readonly #fencing = new Map<string, Promise<void>>()

  constructor(options: ZombieFencingOptions) {
    this.#options = options
  }

  /** Fences the tasks of the earlier generation, if that has not been done. Concurrent calls share one fencing. */
  async fence(name: string): Promise<void> {
    const fencing = this.#fencing.get(name) ?? this.#fence(name).finally(() => this.#fencing.delete(name))
    this.#fencing.set(name, fencing)
    await fencing
    // The caller may be a task of a generation that was committed after the shared fencing had read the topic.
    if (this.#options.configs.state.connector(name)?.pendingFencing) await this.fence(name)
  }

  /**
   * Fences the tasks of a deleted connector. Must be done before its fencing record is deleted: without the record, a new connector
   * of this name would not fence a task that a worker without connection still runs.
   */
  async fenceDeleted(name: string): Promise<void> {
    const { broker, configs } = this.#options
    // Its configuration, which may have had a login of its own, is deleted.
    await this.#fenceTasks(broker, name, configs.state.fencedTasks(name) ?? 0)
  }

  async #fence(name: string): Promise<void> {
    const { brokers, configs } = this.#options
    await configs.readToEnd()
    const { config, pendingFencing, fencedTasks, tasks, taskGeneration } = this.#requireSource(name)
    if (!pendingFencing) return
    // A starting task fences its own predecessor, so nothing is left to fence if the connector had one task and has one
    // now.
    const olderTasks = fencedTasks === 1 && tasks.length === 1 ? 0 : (fencedTasks ?? 0)
    if (olderTasks > 0) await brokers.run('admin', config, (broker) => this.#fenceTasks(broker, name, olderTasks))
    await configs.readToEnd()
    if (this.#requireSource(name).taskGeneration !== taskGeneration) {
      throw new WorkerError(
        'rebalancing',
        'Fencing failed because new task configurations were generated for the connector',
      )
    }
    await configs.write([{ kind: 'fencing', connector: name, tasks: tasks.length }])
  }

  async #fenceTasks(broker: Broker, name: string, count: number): Promise<void> {
    const { groupId } = this.#options
    const ids = Array.from({ length: count }, (_, task) => transactionalIdOf(groupId, { connector: name, task }))
    await Promise.all(ids.map((id) => fenceProducer(broker, id)))
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
}
