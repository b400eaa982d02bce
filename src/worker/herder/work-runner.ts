import { BrokerError } from '../../broker/error.ts'
import type { RunState, TaskId } from '../../clients/worker.ts'
import type { Clock } from '../../config/clock.ts'
import type { Logger } from '../../config/logger.ts'
import { retry } from '../../config/retry.ts'
import { withTimeout } from '../../config/timeout.ts'
import type { RawConfig } from '../../sdk/index.ts'
import type { ConfigResolver } from '../configuration/config-resolver.ts'
import {
  type ConnectorPlugin,
  findAnyConnector,
  findConnector,
  missingConnector,
} from '../configuration/connector-plugin.ts'
import type { LiteralSecrets } from '../configuration/literal-secrets.ts'
import { taskKey } from '../model/task-key.ts'
import type { ConnectorMetrics, TaskMetrics, WorkerMetrics } from '../observability/worker-metrics.ts'
import type { PluginHost } from '../plugin-host.ts'
import type { StoredTargetState } from '../stores/config-codec.ts'
import type { ConnectorState } from '../stores/config-state.ts'
import type { ConfigStore } from '../stores/config-store.ts'
import type { OffsetStore } from '../stores/offset-store.ts'
import type { StatusStore } from '../stores/status-store.ts'
import { traceOf } from '../tasks/error-trace.ts'
import type { RunningTask, TaskDefaults, TaskHost, TaskMessage } from '../tasks/task-spec.ts'
import { transactionalIdOf } from './producer-fencing.ts'
import { RETRY_UNTIL_DONE, TaskConfigGenerator } from './task-config-generator.ts'
import type { StartedWork, WorkStep } from './work-plan.ts'

export type WorkRunnerOptions = {
  readonly plugins: PluginHost
  readonly logger: Logger
  readonly clock: Clock
  readonly host: TaskHost
  readonly resolver: ConfigResolver
  readonly literals: LiteralSecrets
  readonly configs: ConfigStore
  readonly statuses: StatusStore
  readonly offsets: OffsetStore
  readonly defaults: TaskDefaults
  /** `host:port` of this worker, for statuses. */
  readonly workerId: () => string
  readonly generation: () => number
  /** Stores the task configurations of a connector, directly or through the leader. */
  readonly putTasks: (connector: string, tasks: readonly RawConfig[]) => Promise<void>
  /** Fences every older producer of this source task; undefined: sources deliver at least once. */
  readonly fence: ((id: TaskId) => Promise<void>) | undefined
  readonly stopTimeoutMs: number
  /** Called when a task lost its thread because of another task; it stays interrupted until `restartInterrupted`. */
  readonly onInterrupted: () => void
}

export type StartedTask = {
  readonly id: TaskId
  readonly config: RawConfig
  target: StoredTargetState
  /** Undefined when it could not be started, or was interrupted. */
  running: RunningTask | undefined
  failed: boolean
  isInterrupted: boolean
  /** Whether it has reported that it is running or paused. */
  hasStarted: boolean
}

type StartedConnector = {
  readonly config: RawConfig
  target: StoredTargetState
  failed: boolean
  /** Aborts the generation of task configurations for the current configuration. */
  work: AbortController
}

/**
 * Starts and stops connectors and tasks on this worker and writes their statuses, as Kafka Connect's `Worker` class
 * does. Calls must not overlap.
 */
export class WorkRunner implements StartedWork {
  readonly connectors = new Map<string, StartedConnector>()
  readonly tasks = new Map<string, StartedTask>()
  readonly #parts: WorkRunnerOptions
  /** Counters since the start of this worker. */
  readonly starts = { connectorAttempts: 0, connectorFailures: 0, taskAttempts: 0, taskFailures: 0 }
  readonly #taskMaking: TaskConfigGenerator

  constructor(parts: WorkRunnerOptions) {
    this.#parts = parts
    this.#taskMaking = new TaskConfigGenerator(parts)
  }

  workerMetrics(): WorkerMetrics {
    const connectors = [...this.connectors].map(([name, { config, target, failed }]): ConnectorMetrics => {
      const plugin = findConnector(this.#parts.plugins.catalog, config)
      const state = failed ? 'failed' : RUN_STATES[target].toLowerCase()
      const className = config['connector.class'] ?? ''
      return { name, kind: plugin?.kind ?? 'unknown', version: plugin?.version ?? '', className, state }
    })
    return { connectors, tasks: this.tasks.size, starts: this.starts }
  }

  taskMetrics(): readonly TaskMetrics[] {
    return [...this.tasks.values()].map((task) => {
      const { id, config, running } = task
      const kind = findAnyConnector(this.#parts.plugins.catalog, config)?.kind ?? 'unknown'
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
    const isStop = (step: WorkStep) => step.do === 'stop-task' || step.do === 'stop-connector'
    await all(steps.filter(isStop).map((step) => this.#carryOut(step)))
    if (steps.some((step) => step.do === 'start-task')) await this.#readOffsets()
    await all(steps.filter((step) => !isStop(step)).map((step) => this.#carryOut(step)))
  }

  /** Fenced tasks read their offsets after fencing, so that other tasks do not wait for open transactions. */
  async #readOffsets(): Promise<void> {
    if (!this.#parts.fence) await this.#parts.offsets.refresh()
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.tasks.values()].map(({ id }) => this.stopTask(id)))
    await Promise.all([...this.connectors.keys()].map((name) => this.stopConnector(name)))
  }

  async startConnector(connector: ConnectorState): Promise<void> {
    const { name, config, target } = connector
    this.connectors.set(name, { config, target, failed: false, work: new AbortController() })
    this.starts.connectorAttempts += 1
    await this.#applyTarget(connector)
    if (this.connectors.get(name)?.failed) this.starts.connectorFailures += 1
  }

  async stopConnector(name: string, next: RunState = 'UNASSIGNED'): Promise<void> {
    const started = this.connectors.get(name)
    if (!started) return
    started.work.abort()
    this.connectors.delete(name)
    this.#parts.resolver.release({ connector: name })
    await this.#putConnectorSafe(name, next, null, null)
  }

  /** Starts a task with the offsets that were last read and the current values of its placeholders. */
  async startTask(id: TaskId, config: RawConfig, target: StoredTargetState): Promise<void> {
    const kind = findAnyConnector(this.#parts.plugins.catalog, config)?.kind
    const task: StartedTask = {
      id,
      config,
      target,
      running: undefined,
      failed: false,
      isInterrupted: false,
      hasStarted: false,
    }
    this.tasks.set(taskKey(id), task)
    this.starts.taskAttempts += 1
    if (kind === undefined) {
      this.#said(id, { type: 'failed', trace: missingConnector(this.#parts.plugins.catalog, config).message })
      return
    }
    if (kind === 'source' && this.#parts.fence) this.#inBackground(this.#startFenced(task))
    // A config provider may take long, and other tasks must not wait for it.
    else if (this.#parts.resolver.hasPlaceholders(config)) this.#inBackground(this.#start(task, kind))
    else await this.#start(task, kind)
  }

  /**
   * Reads offsets after fencing, when no older task can change them. Retries until it succeeds or the task is no longer
   * wanted. While another producer's open transaction blocks it, the task is FAILED.
   */
  async #startFenced(task: StartedTask): Promise<void> {
    const { fence, clock, logger, offsets } = this.#parts
    const onRetry = (error: unknown, _: number, waitMs: number) => {
      logger.warn({ err: error, ...task.id, waitMs }, 'older tasks could not be fenced: retrying')
      const isHeldBack = error instanceof BrokerError && error.code === 'transaction_open'
      if (isHeldBack && !task.failed && this.#isWanted(task))
        this.#said(task.id, { type: 'failed', trace: traceOf(error) })
    }
    const attempt = async () => {
      if (!this.#isWanted(task)) return
      await fence?.(task.id)
      await offsets.refresh()
    }
    await retry(attempt, { ...RETRY_UNTIL_DONE, clock, onRetry })
    task.failed = false
    await this.#start(task, 'source')
  }

  async #start(task: StartedTask, kind: 'source' | 'sink'): Promise<void> {
    const { resolver, defaults, offsets, host, fence } = this.#parts
    const { id, config } = task
    try {
      const resolved = await resolver.resolve(config, id)
      const reached = kind === 'source' ? await offsets.of(id.connector, resolved.config) : []
      if (!this.#isWanted(task)) return
      const spec = {
        ...id,
        kind,
        config: resolved.config,
        secrets: [...resolved.placeholderValues.values(), ...this.#parts.literals.secretsIn(resolved.config)],
        worker: defaults,
        paused: task.target === 'PAUSED',
        offsets: reached,
        ...(kind === 'source' && fence ? { transactionalId: transactionalIdOf(defaults.workerGroup, id) } : {}),
      }
      task.running = host.start(spec, (message) => this.#said(id, message))
    } catch (error) {
      if (this.#isWanted(task)) this.#said(id, { type: 'failed', trace: traceOf(error) })
    }
  }

  #isWanted(task: StartedTask): boolean {
    return this.tasks.get(taskKey(task.id)) === task
  }

  /** Restarts the interrupted tasks from their current offsets. */
  async restartInterrupted(): Promise<void> {
    await this.#readOffsets()
    const interrupted = [...this.tasks.values()].filter(({ isInterrupted }) => isInterrupted)
    await all(interrupted.map(({ id, config, target }) => this.startTask(id, config, target)))
  }

  async stopTask(id: TaskId, next: RunState = 'UNASSIGNED'): Promise<void> {
    const task = this.tasks.get(taskKey(id))
    if (!task) return
    this.tasks.delete(taskKey(id))
    if (task.running) await this.#stopInTime(id, task.running)
    this.#parts.resolver.release(id)
    await this.#putTaskSafe(id, next, null, null)
  }

  async #carryOut(step: WorkStep): Promise<void> {
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
    // A failed connector stays failed until it is restarted, unless it is stopped.
    if (started.failed && connector.target !== 'STOPPED') return
    started.work.abort()
    started.work = new AbortController()
    await this.#applyTarget(connector)
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

  async #applyTarget(connector: ConnectorState): Promise<void> {
    const { name, config, target } = connector
    const plugin = findConnector(this.#parts.plugins.catalog, config)
    try {
      if (plugin === undefined) throw missingConnector(this.#parts.plugins.catalog, config)
      await this.#putConnector(name, RUN_STATES[target], plugin.version)
    } catch (error) {
      await this.#connectorFailed(name, plugin, error)
      return
    }
    if (target === 'STARTED') this.#inBackground(this.#makeTasks(name, plugin))
  }

  async #connectorFailed(name: string, plugin: ConnectorPlugin | undefined, error: unknown): Promise<void> {
    this.#parts.logger.error({ err: error, connector: name }, 'the connector failed')
    const started = this.connectors.get(name)
    if (started) started.failed = true
    await this.#putConnectorSafe(name, 'FAILED', traceOf(error), plugin?.version ?? null)
  }

  async #makeTasks(name: string, plugin: ConnectorPlugin): Promise<void> {
    const signal = this.connectors.get(name)?.work.signal
    if (!signal) return
    try {
      await this.#taskMaking.run(name, plugin, signal)
    } catch (error) {
      if (!signal.aborted) await this.#connectorFailed(name, plugin, error)
    }
  }

  #said(id: TaskId, message: TaskMessage): void {
    const { statuses, plugins } = this.#parts
    const task = this.tasks.get(taskKey(id))
    const version = (task && findConnector(plugins.catalog, task.config)?.version) ?? null
    switch (message.type) {
      case 'running':
      case 'paused':
        if (task) task.hasStarted = true
        this.#inBackground(
          statuses.put(
            { kind: 'task', ...id },
            this.#status(message.type === 'running' ? 'RUNNING' : 'PAUSED', null, version),
          ),
        )
        break
      case 'failed':
        if (task && !task.hasStarted) this.starts.taskFailures += 1
        if (task) task.failed = true
        this.#inBackground(this.#putTaskSafe(id, 'FAILED', message.trace, version))
        break
      case 'interrupted':
        this.#interrupted(id, message.reason)
        break
      case 'topic':
        this.#inBackground(
          statuses.putTopic({ name: message.topic, ...id, discoverTimestamp: this.#parts.clock.nowMs() }),
        )
    }
  }

  #interrupted(id: TaskId, reason: string): void {
    const task = this.tasks.get(taskKey(id))
    if (!task) return
    this.#parts.logger.warn({ ...id, reason }, 'the task was interrupted: restarting it')
    task.running = undefined
    task.isInterrupted = true
    this.#parts.onInterrupted()
  }

  async #stopInTime(id: TaskId, running: RunningTask): Promise<void> {
    const { stopTimeoutMs, logger } = this.#parts
    await withTimeout(running.stop(), stopTimeoutMs, () => {
      logger.error({ ...id, stopTimeoutMs }, 'the task did not stop in time and is cancelled')
      running.cancel()
    })
  }

  async #putConnector(name: string, state: RunState, version: string | null): Promise<void> {
    await this.#parts.statuses.put({ kind: 'connector', connector: name }, this.#status(state, null, version))
  }

  async #putConnectorSafe(name: string, state: RunState, trace: string | null, version: string | null): Promise<void> {
    await this.#parts.statuses.putSafe({ kind: 'connector', connector: name }, this.#status(state, trace, version))
  }

  async #putTaskSafe(id: TaskId, state: RunState, trace: string | null, version: string | null): Promise<void> {
    await this.#parts.statuses.putSafe({ kind: 'task', ...id }, this.#status(state, trace, version))
  }

  #status(state: RunState, trace: string | null, version: string | null) {
    const told = trace === null ? null : this.#parts.resolver.mask(trace)
    return { state, trace: told, worker_id: this.#parts.workerId(), generation: this.#parts.generation(), version }
  }

  #inBackground(writing: Promise<void>): void {
    writing.catch((error: unknown) => this.#parts.logger.error({ err: error }, 'a status could not be written'))
  }
}

function stateOf({ failed, hasStarted, target }: StartedTask): TaskMetrics['state'] {
  if (failed) return 'failed'
  if (!hasStarted) return 'unassigned'
  return target === 'PAUSED' ? 'paused' : 'running'
}

const RUN_STATES: Readonly<Record<StoredTargetState, RunState>> = {
  STARTED: 'RUNNING',
  PAUSED: 'PAUSED',
  STOPPED: 'STOPPED',
}

async function all(jobs: readonly (Promise<void> | void)[]): Promise<void> {
  const failed = (await Promise.allSettled(jobs)).find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}
