import type { BrokerAddress } from '../../../broker/broker-address.ts'
import type { LogLimits } from '../../../common/logging/log-rate-limiter.ts'
import type { ConnectorAccess } from '../../host-access/connector-access.ts'
import type { TaskCounters } from '../../tasks/task-counters.ts'
import type { TaskMessage, TaskSpec } from '../../tasks/task-spec.ts'
import type { PluginModules } from '../plugin-modules.ts'
import type { ThreadDiagnosis } from '../thread-diagnosis.ts'
import type { ProcessLoadReport } from './process-load.ts'

// Messages between the worker and the main thread of a task process (TaskProcess…), and between that thread and the
// thread that runs the tasks (TaskThread…). A `runId` identifies one start of one task.

/** Why a task process or its thread ended. `what` is a predicate whose subject is the task. */
export type TaskProcessEnd = { readonly what: string; readonly diagnosis?: ThreadDiagnosis }

export type TaskThreadData = {
  readonly address: BrokerAddress
  /** A counter that the thread increments regularly while it is responsive. */
  readonly heartbeat: SharedArrayBuffer
  readonly plugins: PluginModules
  readonly log: LogLimits
  /** The connector classes that are allowed, and the hosts and files that connectors may use. */
  readonly access: ConnectorAccess
}

/** A command that the main thread forwards to the task thread. */
export type TaskCommand =
  | { readonly do: 'start'; readonly runId: number; readonly spec: TaskSpec }
  | { readonly do: 'set-paused'; readonly runId: number; readonly paused: boolean }
  | { readonly do: 'stop'; readonly runId: number }

export type TaskThreadCommand = TaskCommand & { readonly counters?: SharedArrayBuffer }

export type TaskThreadMessage =
  | { readonly type: 'task-message'; readonly runId: number; readonly message: TaskMessage }
  | { readonly type: 'stopped'; readonly runId: number }
  /** A line of the thread's log, as JSON. */
  | { readonly type: 'log'; readonly line: string }
  /** A plugin replaced these built-ins, which have been restored. */
  | { readonly type: 'changed-built-ins'; readonly names: readonly string[] }

export type TaskProcessStart = {
  /** `'parent'`: the embedded broker is open in the worker, and is reached through the channel to it. */
  readonly address: BrokerAddress | 'parent'
  readonly plugins: PluginModules
  readonly memoryMbMax: number
  readonly blockedMsMax: number
  readonly log: LogLimits
  /** The connector classes that are allowed, and the hosts and files that connectors may use. */
  readonly access: ConnectorAccess
}

export type TaskProcessCommand =
  | TaskCommand
  | { readonly do: 'initialize'; readonly options: TaskProcessStart }
  /** Heartbeat of the worker. */
  | { readonly do: 'heartbeat' }
  /** A response of the embedded broker in the worker. */
  | { readonly do: 'broker'; readonly message: unknown }

export type TaskProcessMessage =
  | TaskThreadMessage
  /** Heartbeat of the task process, four times per second. */
  | { readonly type: 'heartbeat'; readonly load: ProcessLoadReport }
  /** The counters of the tasks whose counters have changed. */
  | { readonly type: 'counters'; readonly counters: readonly (readonly [runId: number, counters: TaskCounters])[] }
  /** A request to the embedded broker in the worker. */
  | { readonly type: 'broker'; readonly message: unknown }
  /** The thread is unusable; the worker ends the process. */
  | { readonly type: 'ended'; readonly end: TaskProcessEnd }

/** The messages about tasks and their thread, which the pool handles. */
export type TaskPoolMessage = Extract<
  TaskProcessMessage,
  { readonly type: 'task-message' | 'stopped' | 'heartbeat' | 'counters' }
>
