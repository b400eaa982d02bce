import type { Broker } from '../../../broker/broker.ts'
import type { Clock } from '../../../common/clock.ts'
import type { Logger } from '../../../common/logging/logger.ts'
import type { Catalog, PluginKind } from '../../../plugins/plugin-catalog.ts'
import type { HostAccess } from '../../../sdk/index.ts'
import { taskKey } from '../../model/task-key.ts'
import { traceOf } from '../../tasks/error-trace.ts'
import { taskPlugins } from '../../tasks/pipeline-plugins.ts'
import type { WorkerTaskContext } from '../../tasks/task-context.ts'
import type { TaskCounters } from '../../tasks/task-counters.ts'
import type { TaskMessage, TaskSpec } from '../../tasks/task-spec.ts'
import { WorkerSinkTask } from '../../tasks/worker-sink-task.ts'
import { WorkerSourceTask } from '../../tasks/worker-source-task.ts'
import { currentTask, runAsTask } from '../current-task.ts'

export type TaskRunnerOptions = {
  readonly broker: Broker
  /** Default: all clients use `broker`. */
  readonly connect?: WorkerTaskContext['connect']
  readonly plugins: Catalog
  /** Called for each plugin of a task before it is looked up in `plugins`. */
  readonly loadPlugin?: (kind: PluginKind, name: string, version: string | undefined) => Promise<void>
  readonly remote?: WorkerTaskContext['remote']
  /** The hosts and files that connectors may use. */
  readonly access: HostAccess
  readonly logger: Logger
  readonly clock: Clock
}

/** A task that runs in this thread. */
export type LocalTask = {
  setPaused(paused: boolean): void
  /** Resolves when the task has released all its resources. */
  stop(): Promise<void>
}

/** Runs tasks in this thread, and attributes uncaught errors to the task that caused them. */
export class TaskRunner {
  readonly #options: TaskRunnerOptions
  /** By task key: functions that fail the task immediately. */
  readonly #failByTask = new Map<string, (error: unknown) => void>()

  constructor(options: TaskRunnerOptions) {
    this.#options = options
  }

  start(spec: TaskSpec, counters: TaskCounters, sendMessage: (message: TaskMessage) => void): LocalTask {
    const { broker, connect = async () => undefined, plugins, remote, access, logger, clock } = this.#options
    const key = taskKey(spec)
    const log = logger.child({ connector: spec.connector, task: spec.task })
    const stopping = new AbortController()
    let isOver = false
    // Messages after a stop request are dropped, because the task may already run elsewhere.
    const report = (message: TaskMessage) => {
      if (!stopping.signal.aborted) sendMessage(message)
    }
    const fail = (error: unknown) => {
      if (stopping.signal.aborted) log.warn({ err: error }, 'the task failed while it stopped')
      else log.error({ err: error }, 'the task failed')
      if (!isOver) report({ type: 'failed', trace: traceOf(error) })
      isOver = true
      stopping.abort()
    }
    const context: WorkerTaskContext = {
      spec,
      broker,
      connect,
      plugins,
      remote,
      access,
      log,
      clock,
      counters,
      report,
      signal: stopping.signal,
    }
    this.#failByTask.set(key, fail)
    let task: WorkerSourceTask | WorkerSinkTask | undefined
    let isPaused: boolean | undefined
    const ended = runAsTask(key, async () => {
      try {
        await this.#loadPlugins(spec)
        if (stopping.signal.aborted) return
        task = spec.kind === 'source' ? new WorkerSourceTask(context) : new WorkerSinkTask(context)
        if (isPaused !== undefined) task.setPaused(isPaused)
        await task.run()
      } catch (error) {
        fail(error)
      }
    })
    return {
      setPaused: (paused) => {
        isPaused = paused
        task?.setPaused(paused)
      },
      stop: async () => {
        stopping.abort()
        await ended
        if (this.#failByTask.get(key) === fail) this.#failByTask.delete(key)
      },
    }
  }

  async #loadPlugins({ kind, config, worker }: TaskSpec): Promise<void> {
    const { loadPlugin } = this.#options
    if (loadPlugin === undefined) return
    const plugins = taskPlugins(kind, config, worker.converters)
    await Promise.all(plugins.map((plugin) => loadPlugin(plugin.kind, plugin.className, plugin.version)))
  }

  /** Fails the task that an uncaught error belongs to. Returns false when it belongs to none. */
  handleUncaught(error: unknown): boolean {
    const fail = this.#failByTask.get(currentTask() ?? '')
    fail?.(error)
    return fail !== undefined
  }
}
