import type { BrokerAddress } from '../../broker/home.ts'
import type { TaskMessage, TaskSpec } from '../tasks/task-spec.ts'

// What a thread and the one that started it say to each other. A slot is one start of one task.

export type ThreadData = {
  readonly address: BrokerAddress
  /** One number that the thread counts up as long as it is well. */
  readonly beat: SharedArrayBuffer
  /** Modules of plugins that it has beside the shipped ones, as URLs. */
  readonly plugins: readonly string[]
}

export type ToThread =
  | { readonly do: 'start'; readonly slot: number; readonly spec: TaskSpec; readonly counters: SharedArrayBuffer }
  | { readonly do: 'set-paused'; readonly slot: number; readonly paused: boolean }
  | { readonly do: 'stop'; readonly slot: number }

export type FromThread =
  | { readonly type: 'said'; readonly slot: number; readonly message: TaskMessage }
  | { readonly type: 'stopped'; readonly slot: number }
  /** A line of its log, as JSON. */
  | { readonly type: 'log'; readonly line: string }
