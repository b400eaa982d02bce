import type { Broker } from '../../../broker/broker.ts'
import type { Clock } from '../../../config/clock.ts'
import type { Logger } from '../../../config/logger.ts'
import type { Catalog } from '../../../plugins/catalog.ts'
import type { HostAccess } from '../../../sdk/index.ts'
import { taskKey } from '../../model/task-key.ts'
import { traceOf } from '../../tasks/error-trace.ts'
import type { WorkerTaskContext } from '../../tasks/task-context.ts'
import type { TaskCounters } from '../../tasks/task-counters.ts'
import type { TaskMessage, TaskSpec } from '../../tasks/task-spec.ts'
import { WorkerSinkTask } from '../../tasks/worker-sink-task.ts'
import { WorkerSourceTask } from '../../tasks/worker-source-task.ts'
import { currentTask, runAsTask } from '../current-task.ts'

export type TaskRunnerOptions = {
  readonly broker: Broker
  /** Absent: no client has a connection of its own. */
  readonly connect?: WorkerTaskContext['connect']
  readonly plugins: Catalog
  /** What connectors may use. */
  readonly access: HostAccess
  readonly logger: Logger
  readonly clock: Clock
}

/** A task that runs in this very thread. */
export type LocalTask = {
  setPaused(paused: boolean): void
  /** Resolves when the task has let go of everything. */
  stop(): Promise<void>
}

/** Runs tasks in this very thread, and knows whose fault it is when something throws out of band. */
export class TaskRunner {
  readonly #parts: TaskRunnerOptions
  /** By task key, what ends the task at once. */
  readonly #failing = new Map<string, (error: unknown) => void>()

  constructor(parts: TaskRunnerOptions) {
    this.#parts = parts
  }

  start(spec: TaskSpec, counters: TaskCounters, tell: (message: TaskMessage) => void): LocalTask {
    const { broker, connect = async () => undefined, plugins, access, logger, clock } = this.#parts
    const key = taskKey(spec)
    const log = logger.child({ connector: spec.connector, task: spec.task })
    const stopping = new AbortController()
    let isOver = false
    // What a task says after it was told to stop is of no use: it may be running elsewhere by then.
    const report = (message: TaskMessage) => {
      if (!stopping.signal.aborted) tell(message)
    }
    const fail = (error: unknown) => {
      if (stopping.signal.aborted) log.warn({ err: error }, 'the task did not end cleanly')
      else log.error({ err: error }, 'the task failed')
      if (!isOver) report({ type: 'failed', trace: traceOf(error) })
      isOver = true
      stopping.abort()
    }
    const parts = { spec, broker, connect, plugins, access, log, clock, counters, report, signal: stopping.signal }
    this.#failing.set(key, fail)
    const { ended, setPaused } = runAsTask(key, () => {
      try {
        const task = spec.kind === 'source' ? new WorkerSourceTask(parts) : new WorkerSinkTask(parts)
        return { ended: task.run().catch(fail), setPaused: (paused: boolean) => task.setPaused(paused) }
      } catch (error) {
        return { ended: Promise.resolve().then(() => fail(error)), setPaused: () => undefined }
      }
    })
    return {
      setPaused,
      stop: async () => {
        stopping.abort()
        await ended
        if (this.#failing.get(key) === fail) this.#failing.delete(key)
      },
    }
  }

  /** Something was thrown that nobody caught. Ends the task that it belongs to; false: it is nobody's. */
  handleUncaught(error: unknown): boolean {
    const fail = this.#failing.get(currentTask() ?? '')
    fail?.(error)
    return fail !== undefined
  }
}
