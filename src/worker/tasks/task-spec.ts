import type { ProducerIdentity } from '../../broker/broker.ts'
import type { Position, RawConfig } from '../../sdk/index.ts'
import type { TaskCounters } from './task-counters.ts'

/** Everything that a task needs to run, as plain data that can be posted to another thread. */
export type TaskSpec = {
  readonly connector: string
  readonly task: number
  readonly kind: 'source' | 'sink'
  /** The task configuration with its placeholders resolved. */
  readonly config: RawConfig
  /** Values of placeholders and other secrets in `config`, to be masked in output. */
  readonly secrets: readonly string[]
  readonly worker: TaskDefaults
  /** Whether the task starts paused. */
  readonly paused: boolean
  /** The offsets from which a source resumes. */
  readonly offsets: readonly SourceOffset[]
  /** Set for a source with exactly-once delivery; undefined for at-least-once delivery. */
  readonly transactionalId?: string
  /**
   * The identity with which its worker fenced the predecessors of the task before it read `offsets`. If another worker has done so since,
   * the offsets are outdated, and the task must not start.
   */
  readonly fencedAs?: ProducerIdentity
  /** The span that changed the configuration. */
  readonly traceparent?: string
}

/** What the plugins of a task depend on. */
export type PipelineSpec = Pick<TaskSpec, 'connector' | 'task' | 'kind' | 'config'> & {
  readonly worker: Pick<TaskDefaults, 'converters'>
}

/** Settings of the worker that apply to all its tasks. */
export type TaskDefaults = {
  /** The `group.id` of the worker. */
  readonly workerGroup: string
  /** The worker's converter settings, under the keys that connectors use. */
  readonly converters: RawConfig
  /** Settings of the tasks' Kafka clients: `producer.X`, `consumer.X`, `admin.X`. */
  readonly clients: RawConfig
  readonly offsetsTopic: string
  readonly commitIntervalMs: number
  readonly commitTimeoutMs: number
  readonly createTopics: boolean
  readonly trackTopics: boolean
}

export type SourceOffset = {
  /** The key as stored in the topic: an update must have the same bytes to replace it. */
  readonly key: Uint8Array
  readonly partition: Position | null
  readonly offset: Position
}

/** A message from a task to the worker that started it. */
export type TaskMessage =
  /** `retryTrace`: why the task retries something at the moment, as a readable text. */
  | { readonly type: 'running'; readonly retryTrace?: string }
  | { readonly type: 'paused' }
  /** The task has not started yet, for this reason, and is going to. */
  | { readonly type: 'waiting'; readonly reason: string }
  /**
   * The task failed and ended. `trace` is a readable text with the error and its causes. `isFenced`: another client has the
   * transactional id of the source, or the group instance id of the sink.
   */
  | { readonly type: 'failed'; readonly trace: string; readonly isFenced?: boolean }
  /**
   * The task ended through no fault of its own, for the given `reason`, and has to be restarted from its stored
   * offsets.
   */
  | { readonly type: 'interrupted'; readonly reason: string }
  /** The task reads or writes this topic. Repeated while it does. */
  | { readonly type: 'topic'; readonly topic: string }
  /** The lags of a sink that have changed since the last message, as far as it reports them. */
  | { readonly type: 'lags'; readonly lags: readonly PartitionLag[] }

/** How many records of a partition (`topic-number`) a sink has not accepted yet. */
export type PartitionLag = readonly [partition: string, records: number]

/** A started task. It runs until it fails or is stopped. */
export interface RunningTask {
  pause(): void
  resume(): void
  /** Resolves when the task has released all its resources. The caller applies a timeout. */
  stop(): Promise<void>
  /** Called when `stop` timed out. Nobody waits for the task any more; it is ended as soon as possible. */
  cancel(): void
  counters(): TaskCounters
}

/** Runs tasks. A failure of a task is reported as a message, never as a rejection. */
export interface TaskHost {
  start(spec: TaskSpec, report: (message: TaskMessage) => void): RunningTask
}
