import type { BrokerAddress } from '../../../broker/broker-address.ts'
import type { LogLimits } from '../../../common/logging/log-rate-limiter.ts'
import type { ConnectorAccess } from '../../host-access/connector-access.ts'
import type { TaskCounters } from '../../tasks/task-counters.ts'
import type { TaskMessage, TaskSpec } from '../../tasks/task-spec.ts'
import type { TopicAccessPolicy } from '../../topic-access/topic-access-policy.ts'
import type { ProcessLoadReport } from '../isolated-process.ts'
import type { PluginModules } from '../plugin-modules.ts'

// Messages between the worker and a task process. A `runId` identifies one start of one task.

export type TaskCommand =
  | { readonly do: 'start'; readonly runId: number; readonly spec: TaskSpec }
  | { readonly do: 'set-paused'; readonly runId: number; readonly paused: boolean }
  | { readonly do: 'stop'; readonly runId: number }

/** The policy that applies from now on to all tasks of the process. */
export type TopicPolicyCommand = { readonly do: 'set-topic-policy'; readonly policy: TopicAccessPolicy }

export type TaskProcessStart = {
  /** `'parent'`: the embedded broker is open in the worker, and is reached through the channel to it. */
  readonly address: BrokerAddress | 'parent'
  readonly plugins: PluginModules
  readonly log: LogLimits
  /** The connector classes that are allowed, and the hosts and files that connectors may use. */
  readonly access: ConnectorAccess
  readonly topicPolicy: TopicAccessPolicy
}

export type TaskProcessCommand =
  | TaskCommand
  | { readonly do: 'initialize'; readonly options: TaskProcessStart }
  | TopicPolicyCommand
  /** Heartbeat of the worker. */
  | { readonly do: 'heartbeat' }
  /** A response of the embedded broker in the worker. */
  | { readonly do: 'broker'; readonly message: unknown }

export type TaskProcessMessage =
  | { readonly type: 'task-message'; readonly runId: number; readonly message: TaskMessage }
  | { readonly type: 'stopped'; readonly runId: number }
  /** The counters of the tasks whose counters have changed. */
  | { readonly type: 'counters'; readonly counters: readonly (readonly [runId: number, counters: TaskCounters])[] }
  /** A line of the log, as JSON. */
  | { readonly type: 'log'; readonly line: string }
  /** A request to the embedded broker in the worker. */
  | { readonly type: 'broker'; readonly message: unknown }

/** The messages about a process and its tasks, which the pool handles. */
export type TaskPoolMessage =
  | Exclude<TaskProcessMessage, { readonly type: 'log' | 'broker' }>
  | { readonly type: 'heartbeat'; readonly load: ProcessLoadReport }
