import type { BrokerAddress } from '../../../broker/broker-address.ts'
import type { LogLimits } from '../../../config/log-rate-limiter.ts'
import type { ConnectorAccess } from '../../host-access/connector-access.ts'
import type { TaskCounters } from '../../tasks/task-counters.ts'
import type { TaskMessage, TaskSpec } from '../../tasks/task-spec.ts'
import type { ThreadDiagnosis } from '../thread-diagnosis.ts'

// Messages between the worker, the supervisor of a task process and the thread in it: the worker communicates with the
// supervisor, the supervisor with the thread that runs the tasks. A slot identifies one start of one task.

/** Why a task process or its thread ended. `what` is a predicate whose subject is the task. */
export type ThreadEnd = { readonly what: string; readonly diagnosis?: ThreadDiagnosis }

export type ThreadData = {
  readonly address: BrokerAddress
  /** A counter that the thread increments while it is responsive. */
  readonly beat: SharedArrayBuffer
  /** URLs of plugin modules, in addition to the plugins shipped with Weir. */
  readonly plugins: readonly string[]
  readonly log: LogLimits
  /** The connector classes that are allowed, and the hosts and files that connectors may use. */
  readonly access: ConnectorAccess
}

/** Commands that the supervisor forwards to its thread. */
export type TaskCommand =
  | { readonly do: 'start'; readonly slot: number; readonly spec: TaskSpec }
  | { readonly do: 'set-paused'; readonly slot: number; readonly paused: boolean }
  | { readonly do: 'stop'; readonly slot: number }

export type ThreadCommand = TaskCommand & { readonly counters?: SharedArrayBuffer }

export type ThreadMessage =
  | { readonly type: 'said'; readonly slot: number; readonly message: TaskMessage }
  | { readonly type: 'stopped'; readonly slot: number }
  /** A line of the thread's log, as JSON. */
  | { readonly type: 'log'; readonly line: string }
  /** A plugin replaced these built-ins, which have been restored. */
  | { readonly type: 'changed-built-ins'; readonly names: readonly string[] }

export type SupervisorOptions = {
  /** `'parent'`: the embedded broker is open in the worker, and is reached through the channel to it. */
  readonly address: BrokerAddress | 'parent'
  readonly plugins: readonly string[]
  readonly memoryMbMax: number
  readonly blockedMsMax: number
  readonly log: LogLimits
  /** The connector classes that are allowed, and the hosts and files that connectors may use. */
  readonly access: ConnectorAccess
}

export type SupervisorCommand =
  | TaskCommand
  | { readonly do: 'begin'; readonly options: SupervisorOptions }
  /** Heartbeat of the worker. */
  | { readonly do: 'pulse' }
  /** A response of the embedded broker in the worker. */
  | { readonly do: 'broker'; readonly message: unknown }

export type SupervisorMessage =
  | ThreadMessage
  /** Heartbeat of the supervisor, with the counters of the tasks that changed since the last one. */
  | { readonly type: 'pulse'; readonly counters: readonly (readonly [slot: number, counters: TaskCounters])[] }
  /** A request to the embedded broker in the worker. */
  | { readonly type: 'broker'; readonly message: unknown }
  /** The thread is unusable; the worker ends the process. */
  | { readonly type: 'ended'; readonly end: ThreadEnd }
