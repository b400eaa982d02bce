import type { Broker } from '../../broker/broker.ts'
import type { Clock } from '../../config/clock.ts'
import type { Catalog } from '../../plugins/catalog.ts'
import type { HostAccess, RawConfig, TaskLog } from '../../sdk/index.ts'
import type { TaskCounters } from './task-counters.ts'
import type { TaskMessage, TaskSpec } from './task-spec.ts'

/** What a task works with; made anew in every thread. */
export type WorkerTaskContext = {
  readonly spec: TaskSpec
  readonly broker: Broker
  /**
   * Opens another broker, for clients that have these keys of Kafka's clients for themselves; its caller closes it.
   * `overrides` are those of them that the connector wrote. Undefined when it would be the same.
   */
  readonly connect: (connection: RawConfig, overrides: RawConfig) => Promise<Broker | undefined>
  readonly plugins: Catalog
  /** What the connector may use. */
  readonly access: HostAccess
  readonly log: TaskLog
  readonly clock: Clock
  readonly counters: TaskCounters
  readonly report: (message: TaskMessage) => void
  /** Aborts when the task has to stop. */
  readonly signal: AbortSignal
}
