import type { Broker } from '../../../broker/broker.ts'
import { BrokerError } from '../../../broker/broker-error.ts'
import type { Clock } from '../../../common/clock.ts'
import { originalError } from '../../../common/errors.ts'
import type { Logger } from '../../../common/logging/logger.ts'
import { startSpan } from '../../../common/tracing.ts'
import type { Catalog } from '../../../plugins/plugin-catalog.ts'
import type { HostAccess } from '../../../sdk/index.ts'
import { taskKey } from '../../model/task-key.ts'
import { traceOf } from '../../tasks/error-trace.ts'
import type { WorkerTaskContext } from '../../tasks/task-context.ts'
import type { TaskCounters } from '../../tasks/task-counters.ts'
import type { TaskMessage, TaskSpec } from '../../tasks/task-spec.ts'
import { WorkerSinkTask } from '../../tasks/worker-sink-task.ts'
import { WorkerSourceTask } from '../../tasks/worker-source-task.ts'
import { GuardedBroker } from '../../topic-access/guarded-broker.ts'
import { TopicAccess } from '../../topic-access/topic-access.ts'
import type { TopicAccessPolicy } from '../../topic-access/topic-access-policy.ts'
import { currentTask, runAsTask } from '../current-task.ts'

export type TaskRunnerOptions = {
  readonly broker: Broker
  /** Default: all clients use `broker`. */
  readonly connect?: (...options: Parameters<WorkerTaskContext['connect']>) => Promise<Broker | undefined>
  /** What restricts the topics and groups of the connectors at the moment. */
  readonly topicPolicy: () => TopicAccessPolicy
  /** Resolves to the installed plugins, among which those of the task are loaded. */
  readonly loadPlugins: (spec: TaskSpec) => Promise<Catalog>
  readonly remote?: WorkerTaskContext['remote']
  /** The hosts and files that connectors may use. */
  readonly access: HostAccess
  readonly logger: Logger
  readonly clock: Clock
}

/** A task that runs in this process. */
export type LocalTask = {
  setPaused(paused: boolean): void
  /** Resolves when the task has released all its resources. */
  stop(): Promise<void>
}

/** Runs tasks in this process, and attributes uncaught errors to the task that caused them. */
export class TaskRunner {
  readonly #options: TaskRunnerOptions
  /** By task key: functions that fail the task immediately. */
  readonly #failByTask = new Map<string, (error: unknown) => void>()

  constructor(options: TaskRunnerOptions) {
    this.#options = options
  }

  start(spec: TaskSpec, counters: TaskCounters, sendMessage: (message: TaskMessage) => void): LocalTask {
    const { broker, connect, topicPolicy, loadPlugins, remote, access, logger, clock } = this.#options
    const key = taskKey(spec)
    const log = logger.child({ connector: spec.connector, task: spec.task })
    const stopping = new AbortController()
    let isOver = false
    const attributes = { 'weir.connector.name': spec.connector, 'weir.task.id': spec.task }
    const starting = startSpan('start task', { kind: 'internal', attributes, parent: spec.traceparent })
    // Messages after a stop request are dropped, because the task may already run elsewhere.
    const report = (message: TaskMessage) => {
      if (message.type === 'failed') starting?.end(new Error(message.trace))
      else if (message.type === 'running' || message.type === 'paused') starting?.end()
      if (!stopping.signal.aborted) sendMessage(message)
    }
    const fail = (error: unknown) => {
      if (stopping.signal.aborted) log.warn({ err: error }, 'the task failed while it stopped')
      else log.error({ err: error }, 'the task failed')
      const canBeFenced = spec.kind === 'sink' || spec.transactionalId !== undefined
      const isFenced = canBeFenced && error instanceof BrokerError && error.code === 'fenced'
      if (!isOver) report({ type: 'failed', trace: traceOf(error), ...(isFenced && { isFenced }) })
      isOver = true
      stopping.abort()
    }
    const topicAccess = new TopicAccess(spec.connector, topicPolicy)
    const context: Omit<WorkerTaskContext, 'plugins'> = {
      spec,
      broker: new GuardedBroker(broker, topicAccess),
      connect: async (...connection) => {
        const other = await connect?.(...connection)
        return other && new GuardedBroker(other, topicAccess)
      },
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
        const plugins = await loadPlugins(spec)
        if (stopping.signal.aborted) return
        const Task = spec.kind === 'source' ? WorkerSourceTask : WorkerSinkTask
        task = new Task({ ...context, plugins })
        if (isPaused !== undefined) task.setPaused(isPaused)
        await task.run()
      } catch (error) {
        fail(originalError(error))
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

  /** Fails the task that an uncaught error belongs to. Returns false when it belongs to none. */
  handleUncaught(error: unknown): boolean {
    const fail = this.#failByTask.get(currentTask() ?? '')
    fail?.(error)
    return fail !== undefined
  }
}
