import type { TaskId } from '../../clients/worker-client.ts'
import type { RawConfig } from '../../sdk/index.ts'
import type { TaskMetrics } from '../observability/worker-metrics.ts'
import type { StoredTargetState } from '../stores/config-codec.ts'
import type { PartitionLag, RunningTask } from '../tasks/task-spec.ts'

/** A task that is assigned to this worker. */
export type StartedTask = {
  readonly id: TaskId
  readonly config: RawConfig
  /** In ms since 1970. */
  readonly startedMs: number
  target: StoredTargetState
  /** Aborts when the task is stopped. */
  readonly stopping: AbortController
  /** What its start waits for, as the end of a sentence; undefined when it has started. */
  waitsFor: string | undefined
  /** Undefined when it could not be started, or was interrupted. */
  running: RunningTask | undefined
  /** Resolves when the running task has ended. Undefined until it is told to. */
  ending: Promise<void> | undefined
  failed: boolean
  isInterrupted: boolean
  /** Whether it has reported that it is running or paused. */
  hasStarted: boolean
  /** The lags that a sink reported last. */
  lags: readonly PartitionLag[]
}

export function newStartedTask(own: Pick<StartedTask, 'id' | 'config' | 'target' | 'startedMs'>): StartedTask {
  return {
    ...own,
    stopping: new AbortController(),
    waitsFor: undefined,
    running: undefined,
    ending: undefined,
    failed: false,
    isInterrupted: false,
    hasStarted: false,
    lags: [],
  }
}

/** Tells the task to end. Resolves when it has ended. */
export function endTask(task: StartedTask): Promise<void> {
  task.stopping.abort()
  task.ending ??= task.running?.stop()
  return task.ending ?? Promise.resolve()
}

export function stateOf({ failed, hasStarted, target }: StartedTask): TaskMetrics['state'] {
  if (failed) return 'failed'
  if (!hasStarted) return 'unassigned'
  return target === 'PAUSED' ? 'paused' : 'running'
}
