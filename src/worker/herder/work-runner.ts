import type { TaskId } from '../../clients/worker-client.ts'
import { messageOf } from '../../common/errors.ts'
import { settleAll } from '../../common/settle-all.ts'
import type { RunState } from '../../common/state-glossary.ts'
import { withTimeout } from '../../common/timeout.ts'
import type { RawConfig } from '../../sdk/index.ts'
import {
  type ConnectorPlugin,
  findAnyConnector,
  findConnector,
  missingConnector,
} from '../configuration/connector-plugin.ts'
import { taskKey } from '../model/task-key.ts'
import type { ConnectorMetrics, TaskMetrics, WorkerMetrics } from '../observability/worker-metrics.ts'
import type { PluginHost } from '../plugin-host.ts'
import type { StoredTargetState } from '../stores/config-codec.ts'
import type { ConnectorState } from '../stores/config-state.ts'
import type { ConfigStore } from '../stores/config-store.ts'
import type { StatusChange, StatusStore } from '../stores/status-store.ts'
import { traceOf } from '../tasks/error-trace.ts'
import type { RunningTask, TaskMessage } from '../tasks/task-spec.ts'
import { FencedTasks, type FencedTasksOptions } from './fenced-tasks.ts'
import { endTask, newStartedTask, type StartedTask, stateOf } from './started-task.ts'
import { StatusWriter } from './status-writer.ts'
import { TaskConfigUpdater } from './task-config-updater.ts'
import { TaskStarter, type TaskStarterOptions } from './task-starter.ts'
import { isConfiguredTask, isStop, type StartedWork, type WorkStep } from './work-plan.ts'

export type WorkRunnerOptions = TaskStarterOptions &
  Pick<FencedTasksOptions, 'sessionTimeoutMs'> & {
    readonly plugins: PluginHost
    readonly configs: ConfigStore
    readonly statuses: StatusStore
    /** `host:port` of this worker, for statuses. */
    readonly workerId: () => string
    readonly generation: () => number
    /** Stores the task configurations of a connector, directly or through the leader. */
    readonly putTasks: (connector: string, tasks: readonly RawConfig[]) => Promise<void>
    readonly stopTimeoutMs: number
    /** Called when a task lost its process because of another task; it stays interrupted until `restartInterrupted`. */
    readonly onInterrupted: () => void
  }

type StartedConnector = {
  readonly config: RawConfig
  target: StoredTargetState
  targetRevision: number
  failed: boolean
  /** Aborts the generation of task configurations for the current configuration. */
  generation: AbortController
}

/**
 * Starts and stops connectors and tasks on this worker and writes their statuses, as Kafka Connect's `Worker` class
 * does. Calls must not overlap.
 */
export class WorkRunner implements StartedWork {
  readonly connectors = new Map<string, StartedConnector>()
  readonly tasks = new Map<string, StartedTask>()
  readonly #options: WorkRunnerOptions
  /** Counters since the start of this worker. */
  readonly starts = { connectorAttempts: 0, connectorFailures: 0, taskAttempts: 0, taskFailures: 0 }
  readonly #taskConfigs: TaskConfigUpdater
  readonly #statuses: StatusWriter
  readonly #starter: TaskStarter
  readonly #fenced: FencedTasks
  /** While this worker has lost its work: the last generation in which it was assigned. */
  #lostIn: number | undefined

  constructor(options: WorkRunnerOptions) {
    const { plugins, configs, statuses, resolver, clock, logger, putTasks } = options
    this.#options = options
    this.#statuses = new StatusWriter({ logger, clock, configs: configs.state, statuses })
    this.#taskConfigs = new TaskConfigUpdater({ plugins, configs, resolver, clock, logger, putTasks })
    const isWanted = (task: StartedTask) => this.#isWanted(task)
    this.#fenced = new FencedTasks({
      ...options,
      putWaiting: (id, reason) => this.#putWaiting(id, reason),
      isWanted,
      restart: (task, reason) => this.#markInterrupted(task, reason),
    })
    this.#starter = new TaskStarter({
      ...options,
      isWanted,
      isConfigured: ({ id, config }) => isConfiguredTask(configs.state, id, config),
      traceparentOf: (connector) => configs.traceparentOf(connector),
      report: (task, message) => this.#handleMessage(task.id, message),
    })
  }

  workerMetrics(): WorkerMetrics {
    const connectors = [...this.connectors].map(([name, { config, target, failed }]): ConnectorMetrics => {
      const plugin = findConnector(this.#options.plugins.catalog, config)
      const state = failed ? 'failed' : RUN_STATES[target].toLowerCase()
      const className = config['connector.class'] ?? ''
      return { name, kind: plugin?.kind ?? 'unknown', version: plugin?.version ?? '', className, state }
    })
    return { connectors, tasks: this.tasks.size, starts: this.starts }
  }

  taskMetrics(): readonly TaskMetrics[] {
    return [...this.tasks.values()].map((task) => {
      const { id, config, running } = task
      const kind = this.#kindOf(config) ?? 'unknown'
      return { ...id, kind, state: stateOf(task), ...(running && { counters: running.counters() }) }
    })
  }

  /** Connectors that run on this worker, themselves or with a task. */
  connectorNames(): readonly string[] {
    const ofTasks = [...this.tasks.values()].map(({ id }) => id.connector)
    return [...new Set([...this.connectors.keys(), ...ofTasks])]
  }

  /** Runs all stops concurrently, then all other steps. Tries every step, then rejects with the first failure. */
  async execute(steps: readonly WorkStep[]): Promise<void> {
    await settleAll(steps.filter(isStop).map((step) => this.#executeStep(step)))
    const isSource = (step: WorkStep) => step.do === 'start-task' && this.#kindOf(step.config) === 'source'
    // Sinks do not need the offsets topic, which may be unavailable. Fenced tasks read their offsets after fencing, so that other
    // tasks do not wait for open transactions.
    const reading = !this.#options.fence && steps.some(isSource) ? this.#options.offsets.refresh() : undefined
    const start = async (step: WorkStep) => {
      if (step.do === 'start-task' && isSource(step)) {
        await reading?.catch((error: unknown) => {
          this.#putWaiting(step.id, `the task cannot start yet: ${messageOf(error)}`)
          throw error
        })
      }
      await this.#executeStep(step)
    }
    await settleAll(steps.filter((step) => !isStop(step)).map(start))
  }

  /** Writes a status again that a previous owner has overwritten. */
  statusRead(change: StatusChange): void {
    this.#statuses.restoreAfter(change)
  }

  /** Resolves when the statuses of all earlier calls are stored, or could not be written. */
  storeStatuses(): Promise<void> {
    return this.#statuses.flush()
  }

  /**
   * Ends all tasks immediately, also while steps are in progress, and starts none until `stopAll`: other workers may start them
   * now.
   */
  halt(): void {
    this.#lostIn ??= this.#options.generation()
    for (const task of this.tasks.values()) void endTask(task)
  }

  async stopAll(): Promise<void> {
    try {
      await Promise.all([...this.tasks.values()].map(({ id }) => this.stopTask(id)))
      await Promise.all([...this.connectors.keys()].map((name) => this.stopConnector(name)))
    } finally {
      this.#lostIn = undefined
    }
  }

  async startConnector(connector: ConnectorState): Promise<void> {
    const { name, config, target, targetRevision } = connector
    const generation = new AbortController()
    this.connectors.set(name, { config, target, targetRevision, failed: false, generation })
    this.starts.connectorAttempts += 1
    this.#applyTarget(connector)
    if (this.connectors.get(name)?.failed) this.starts.connectorFailures += 1
  }

  async stopConnector(name: string, next: RunState = 'UNASSIGNED'): Promise<void> {
    const started = this.connectors.get(name)
    if (!started) return
    started.generation.abort()
    this.connectors.delete(name)
    this.#options.resolver.release({ connector: name })
    this.#putConnectorSafe(name, next, null, null)
  }

  /** Starts a task with the offsets that were last read and the current values of its placeholders. */
  async startTask(id: TaskId, config: RawConfig, target: StoredTargetState): Promise<void> {
    const kind = this.#kindOf(config)
    const task = newStartedTask({ id, config, target, startedMs: this.#options.clock.nowMs() })
    this.tasks.set(taskKey(id), task)
    this.starts.taskAttempts += 1
    if (kind === undefined) {
      this.#handleMessage(id, {
        type: 'failed',
        trace: missingConnector(this.#options.plugins.catalog, config).message,
      })
      return
    }
    this.#runInBackground(this.#starter.reportSlowStart(task))
    if (kind === 'source' && this.#options.fence) this.#runInBackground(this.#starter.startFenced(task))
    // A config provider may take long, and other tasks must not wait for it.
    else if (this.#options.resolver.hasPlaceholders(config)) this.#runInBackground(this.#starter.start(task, kind))
    else await this.#starter.start(task, kind)
  }

  #kindOf(config: RawConfig): 'source' | 'sink' | undefined {
    return findAnyConnector(this.#options.plugins.catalog, config)?.kind
  }

  #isWanted(task: StartedTask): boolean {
    return this.#lostIn === undefined && this.tasks.get(taskKey(task.id)) === task
  }

  /** Restarts the interrupted tasks from their current offsets. */
  async restartInterrupted(): Promise<void> {
    const interrupted = [...this.tasks.values()].filter(({ isInterrupted }) => isInterrupted)
    await this.execute(interrupted.map(({ id, config, target }) => ({ do: 'start-task', id, config, target })))
  }

  async stopTask(id: TaskId, next: RunState = 'UNASSIGNED'): Promise<void> {
    const task = this.tasks.get(taskKey(id))
    if (!task) return
    this.tasks.delete(taskKey(id))
    this.#fenced.forget(id)
    const ended = endTask(task)
    if (task.running) await this.#stopWithTimeout(id, task.running, ended)
    this.#options.resolver.release(id)
    this.#putTaskSafe(id, next, null, null)
  }

  async #executeStep(step: WorkStep): Promise<void> {
    switch (step.do) {
      case 'stop-connector':
        return this.stopConnector(step.connector)
      case 'start-connector':
        return this.startConnector(step.connector)
      case 'set-connector':
        return this.#setConnector(step.connector)
      case 'start-task':
        return this.startTask(step.id, step.config, step.target)
      case 'set-task':
        return this.#setTask(step.id, step.target)
      case 'stop-task':
        return this.stopTask(step.id)
    }
  }

  async #setConnector(connector: ConnectorState): Promise<void> {
    const started = this.connectors.get(connector.name)
    if (!started) return
    started.target = connector.target
    started.targetRevision = connector.targetRevision
    // A failed connector stays failed until it is restarted, unless it is stopped.
    if (started.failed && connector.target !== 'STOPPED') return
    started.generation.abort()
    started.generation = new AbortController()
    this.#applyTarget(connector)
  }

  #setTask(id: TaskId, target: StoredTargetState): void {
    const task = this.tasks.get(taskKey(id))
    if (!task) return
    task.target = target
    // A failed task stays failed until it is restarted.
    if (task.failed) return
    if (target === 'PAUSED') task.running?.pause()
    else task.running?.resume()
  }

  #applyTarget(connector: ConnectorState): void {
    const { name, config, target } = connector
    const plugin = findConnector(this.#options.plugins.catalog, config)
    try {
      if (plugin === undefined) throw missingConnector(this.#options.plugins.catalog, config)
      this.#putConnector(name, RUN_STATES[target], plugin.version)
    } catch (error) {
      this.#connectorFailed(name, plugin, error)
      return
    }
    if (target === 'STARTED') this.#runInBackground(this.#generateTasks(name, plugin))
  }

  #connectorFailed(name: string, plugin: ConnectorPlugin | undefined, error: unknown): void {
    this.#options.logger.error({ err: error, connector: name }, 'the connector failed')
    const started = this.connectors.get(name)
    if (started) started.failed = true
    this.#putConnectorSafe(name, 'FAILED', traceOf(error), plugin?.version ?? null)
  }

  async #generateTasks(name: string, plugin: ConnectorPlugin): Promise<void> {
    const signal = this.connectors.get(name)?.generation.signal
    if (!signal) return
    const onWaiting = (reason: string | null) => {
      if (!signal.aborted) this.#putConnector(name, 'RUNNING', plugin.version, reason)
    }
    try {
      await this.#taskConfigs.run(name, plugin, { signal, onWaiting })
    } catch (error) {
      if (!signal.aborted) this.#connectorFailed(name, plugin, error)
    }
  }

  #handleMessage(id: TaskId, message: TaskMessage): void {
    const task = this.tasks.get(taskKey(id))
    // A stopped task may have a new owner.
    if (task === undefined) return
    const version = findConnector(this.#options.plugins.catalog, task.config)?.version ?? null
    switch (message.type) {
      case 'running':
      case 'paused':
        task.hasStarted = true
        this.#statuses.put(
          { kind: 'task', ...id },
          message.type === 'running'
            ? this.#status('RUNNING', message.retryTrace ?? null, version)
            : this.#status('PAUSED', null, version),
        )
        break
      case 'waiting':
        this.#putWaiting(id, message.reason)
        break
      case 'failed':
        if (message.isFenced && this.#fenced.restart(task)) break
        if (!task.hasStarted) this.starts.taskFailures += 1
        task.failed = true
        this.#putTaskSafe(id, 'FAILED', message.trace, version)
        break
      case 'interrupted':
        this.#markInterrupted(task, message.reason)
        break
      case 'lags':
        task.lags = message.lags
        break
      case 'topic':
        this.#recordTopic(id, message.topic)
    }
  }

  #recordTopic(id: TaskId, topic: string): void {
    const { statuses, clock } = this.#options
    if (statuses.state.hasTopic(id.connector, topic)) return
    this.#runInBackground(statuses.putTopic({ name: topic, ...id, discoverTimestamp: clock.nowMs() }))
  }

  #markInterrupted(task: StartedTask, reason: string): void {
    this.#options.logger.warn({ ...task.id, reason }, 'the task was interrupted and is restarted')
    task.running = undefined
    task.isInterrupted = true
    this.#options.onInterrupted()
  }

  async #stopWithTimeout(id: TaskId, running: RunningTask, ended: Promise<void>): Promise<void> {
    const { stopTimeoutMs, logger } = this.#options
    await withTimeout(ended, stopTimeoutMs, () => {
      logger.error({ ...id, stopTimeoutMs }, 'the task did not stop in time and is cancelled')
      running.cancel()
    })
  }

  #putConnector(name: string, state: RunState, version: string | null, reason: string | null = null): void {
    this.#statuses.put({ kind: 'connector', connector: name }, this.#status(state, reason, version))
  }

  #putConnectorSafe(name: string, state: RunState, trace: string | null, version: string | null): void {
    this.#statuses.putSafe({ kind: 'connector', connector: name }, this.#status(state, trace, version))
  }

  #putTaskSafe(id: TaskId, state: RunState, trace: string | null, version: string | null): void {
    this.#statuses.putSafe({ kind: 'task', ...id }, this.#status(state, trace, version))
  }

  /** A reason is stored once, because the start is retried every second. */
  #putWaiting(id: TaskId, reason: string): void {
    const known = this.#options.statuses.state.task(id.connector, id.task)
    if (known?.state !== 'UNASSIGNED' || known.trace !== this.#options.resolver.mask(reason))
      this.#putTaskSafe(id, 'UNASSIGNED', reason, null)
  }

  #status(state: RunState, trace: string | null, version: string | null) {
    const maskedTrace = trace === null ? null : this.#options.resolver.mask(trace)
    return {
      state,
      trace: maskedTrace,
      worker_id: this.#options.workerId(),
      // This worker may have joined again, and a status of its new generation would hide those of the workers that have the work now.
      generation: this.#lostIn ?? this.#options.generation(),
      version,
    }
  }

  #runInBackground(job: Promise<void>): void {
    job.catch((error: unknown) => this.#options.logger.error({ err: error }, 'work in the background failed'))
  }
}

const RUN_STATES: Readonly<Record<StoredTargetState, RunState>> = {
  STARTED: 'RUNNING',
  PAUSED: 'PAUSED',
  STOPPED: 'STOPPED',
}
