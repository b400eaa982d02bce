import type { RawConfig } from '../../sdk/index.ts'
import type { TaskCounters } from './task-counters.ts'

/** Everything a task needs to run, as plain data: it can be posted to another thread. */
export type TaskSpec = {
  readonly connector: string
  readonly task: number
  readonly kind: 'source' | 'sink'
  /** Of the task, placeholders resolved. */
  readonly config: RawConfig
  /** Values that stand for placeholders, and other secrets of it. */
  readonly secrets: readonly string[]
  readonly worker: TaskDefaults
  /** Whether it begins without working, until it is resumed. */
  readonly paused: boolean
  /** Where a source goes on. */
  readonly offsets: readonly SourceOffset[]
  /** A source's that writes exactly once. Undefined: at least once. */
  readonly transactionalId?: string
}

/** What the worker's settings say for all its tasks. */
export type TaskDefaults = {
  /** The group of workers that this one belongs to. */
  readonly workerGroup: string
  /** Settings of converters, under the keys that connectors use. */
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
  /** As it stands in the topic: rewriting it needs the same bytes. */
  readonly key: Uint8Array
  readonly partition: Readonly<Record<string, string | number | boolean | null>> | null
  readonly offset: Readonly<Record<string, string | number | boolean | null>>
}

/** What a task tells the worker that started it. */
export type TaskMessage =
  | { readonly type: 'running' }
  | { readonly type: 'paused' }
  /** `trace` is a text for people: what failed, and what caused it. The task has ended. */
  | { readonly type: 'failed'; readonly trace: string }
  /** It has ended through no fault of its own, as `reason` says, and has to be started again from where it is now. */
  | { readonly type: 'interrupted'; readonly reason: string }
  /** It reads or writes this topic from now on. */
  | { readonly type: 'topic'; readonly topic: string }

/** A task that was started. It goes on by itself until it fails or is stopped. */
export interface RunningTask {
  pause(): void
  resume(): void
  /** Resolves when the task has let go of everything. Its caller bounds the time and may walk away. */
  stop(): Promise<void>
  /** Its stop took too long: nobody waits any more, and what it still does should end as soon as it can. */
  cancel(): void
  counters(): TaskCounters
}

/** Where tasks run. Failures of the task come as messages, never as rejections. */
export interface TaskHost {
  start(spec: TaskSpec, report: (message: TaskMessage) => void): RunningTask
}
