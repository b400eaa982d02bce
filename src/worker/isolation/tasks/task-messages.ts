import type { BrokerAddress } from '../../../broker/broker-address.ts'
import type { LogLimits } from '../../../config/log-rate-limiter.ts'
import type { ConnectorAccess } from '../../host-access/connector-access.ts'
import type { TaskCounters } from '../../tasks/task-counters.ts'
import type { TaskMessage, TaskSpec } from '../../tasks/task-spec.ts'
import type { ThreadDiagnosis } from '../thread-diagnosis.ts'

// What the worker, a task process and the thread in it send to each other: the worker talks to the supervisor of a task
// process, the supervisor to the thread that runs the tasks. A slot is one start of one task.

/** Why a task process or its thread ended: the end of a sentence that begins with the task. */
export type ThreadEnd = { readonly what: string; readonly diagnosis?: ThreadDiagnosis }

export type ThreadData = {
  readonly address: BrokerAddress
  /** One number that the thread counts up as long as it is well. */
  readonly beat: SharedArrayBuffer
  /** Modules of plugins that it has beside the shipped ones, as URLs. */
  readonly plugins: readonly string[]
  readonly log: LogLimits
  /** What connectors may be and may use. */
  readonly access: ConnectorAccess
}

/** Commands that the supervisor passes on to its thread. */
export type TaskCommand =
  | { readonly do: 'start'; readonly slot: number; readonly spec: TaskSpec }
  | { readonly do: 'set-paused'; readonly slot: number; readonly paused: boolean }
  | { readonly do: 'stop'; readonly slot: number }

export type ThreadCommand = TaskCommand & { readonly counters?: SharedArrayBuffer }

export type ThreadMessage =
  | { readonly type: 'said'; readonly slot: number; readonly message: TaskMessage }
  | { readonly type: 'stopped'; readonly slot: number }
  /** A line of its log, as JSON. */
  | { readonly type: 'log'; readonly line: string }
  /** A plugin replaced these built-ins; they are as before again. */
  | { readonly type: 'changed-built-ins'; readonly names: readonly string[] }

export type SupervisorOptions = {
  /** `'parent'`: over the channel to the worker, which has the log open. */
  readonly address: BrokerAddress | 'parent'
  readonly plugins: readonly string[]
  readonly memoryMbMax: number
  readonly blockedMsMax: number
  readonly log: LogLimits
  /** What connectors may be and may use. */
  readonly access: ConnectorAccess
}

export type SupervisorCommand =
  | TaskCommand
  | { readonly do: 'begin'; readonly options: SupervisorOptions }
  /** The worker is alive. */
  | { readonly do: 'pulse' }
  /** An answer of the log that the worker has open. */
  | { readonly do: 'broker'; readonly message: unknown }

export type SupervisorMessage =
  | ThreadMessage
  /** The supervisor is alive. Counters of the tasks that counted since the last one. */
  | { readonly type: 'pulse'; readonly counters: readonly (readonly [slot: number, counters: TaskCounters])[] }
  /** A request for the log that the worker has open. */
  | { readonly type: 'broker'; readonly message: unknown }
  /** The thread is of no use any more; the worker ends the process. */
  | { readonly type: 'ended'; readonly end: ThreadEnd }
