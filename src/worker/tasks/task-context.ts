import type { Clock } from '../../common/clock.ts'
import type { Catalog } from '../../plugins/plugin-catalog.ts'
import type { HostAccess, RawConfig, TaskLog } from '../../sdk/index.ts'
import type { GuardedBroker } from '../topic-access/guarded-broker.ts'
import type { RemotePlugins } from './remote-step.ts'
import type { TaskCounters } from './task-counters.ts'
import type { TaskMessage, TaskSpec } from './task-spec.ts'

/** The dependencies of a task, created in the thread that runs it. */
export type WorkerTaskContext = {
  readonly spec: TaskSpec
  /** Checks each topic and group that the task uses. */
  readonly broker: GuardedBroker
  /**
   * Opens another broker, for clients whose connection settings (`connection`, as Kafka client keys) differ from the
   * worker's. The caller closes it. `overrides` are the keys among them that the connector configures. Resolves to
   * undefined when the connection would be the same.
   */
  readonly connect: (connection: RawConfig, overrides: RawConfig) => Promise<GuardedBroker | undefined>
  readonly plugins: Catalog
  /** Opens the plugins of the task that run in other processes; undefined when there are none. */
  readonly remote: RemotePlugins | undefined
  /** The hosts, files and classes that the connector may use. */
  readonly access: HostAccess
  readonly log: TaskLog
  readonly clock: Clock
  readonly counters: TaskCounters
  readonly report: (message: TaskMessage) => void
  /** Aborts when the task has to stop. */
  readonly signal: AbortSignal
}
