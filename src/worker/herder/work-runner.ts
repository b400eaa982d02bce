import type { TopicPartition } from '../../broker/broker.ts'
import { OpenTransactionError } from '../../broker/broker-error.ts'
import type { RunState, TaskId } from '../../clients/worker-client.ts'
import type { Clock } from '../../common/clock.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { retry } from '../../common/retry.ts'
import { settleAll } from '../../common/settle-all.ts'
import { withTimeout } from '../../common/timeout.ts'
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
import { newStartedTask, type StartedTask, stateOf } from './started-task.ts'
import { StatusWriter } from './status-writer.ts'
import { RETRY_UNTIL_DONE, TaskConfigUpdater } from './task-config-updater.ts'
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
  /**
   * Fences every older producer of this source task, and ends transactions of theirs that are still open in these
   * partitions of an offsets topic. Undefined: sources deliver at least once.
   */
  readonly fence: ((id: TaskId, openPartitions: readonly TopicPartition[]) => Promise<void>) | undefined
  readonly stopTimeoutMs: number
  /** Called when a task lost its thread because of another task; it stays interrupted until `restartInterrupted`. */
  readonly onInterrupted: () => void
}

/** Timeout of reading the source offsets before the start of an exactly-once task. */
const OFFSETS_MS_MAX = 10_000
/** How long such a task waits for open transactions. Kafka aborts them after `transaction.timeout.ms`, 60 s by default. */
const OPEN_TRANSACTION_MS_MAX = 90_000

type StartedConnector = {
  readonly config: RawConfig
  target: StoredTargetState
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

  constructor(options: WorkRunnerOptions) {
    const { plugins, configs, statuses, resolver, clock, logger, putTasks } = options
    this.#options = options
    this.#statuses = new StatusWriter({ logger, clock, configs: configs.state, statuses })
    this.#taskConfigs = new TaskConfigUpdater({ plugins, configs, resolver, clock, logger, putTasks })
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
    const isStop = (step: WorkStep) => step.do === 'stop-task' || step.do === 'stop-connector'
    await settleAll(steps.filter(isStop).map((step) => this.#executeStep(step)))
    const isSource = (step: WorkStep) => step.do === 'start-task' && this.#kindOf(step.config) === 'source'
    // Sinks do not need the offsets topic, which may be unavailable. Fenced tasks read their offsets after fencing, so that other
    // tasks do not wait for open transactions.
    const reading = !this.#options.fence && steps.some(isSource) ? this.#options.offsets.refresh() : undefined
    const start = async (step: WorkStep) => {
      if (isSource(step)) await reading
      await this.#executeStep(step)
    }
    await settleAll(steps.filter((step) => !isStop(step)).map(start))
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.tasks.values()].map(({ id }) => this.stopTask(id)))
    await Promise.all([...this.connectors.keys()].map((name) => this.stopConnector(name)))
  }

  async startConnector(connector: ConnectorState): Promise<void> {
    const { name, config, target } = connector
    this.connectors.set(name, { config, target, failed: false, generation: new AbortController() })
    this.starts.connectorAttempts += 1
    await this.#applyTarget(connector)
    if (this.connectors.get(name)?.failed) this.starts.connectorFailures += 1
  }

  async stopConnector(name: string, next: RunState = 'UNASSIGNED'): Promise<void> {
    const started = this.connectors.get(name)
    if (!started) return
    started.generation.abort()
    this.connectors.delete(name)
    this.#options.resolver.release({ connector: name })
    await this.#putConnectorSafe(name, next, null, null)
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
    if (kind === 'source' && this.#options.fence) this.#runInBackground(this.#startFenced(task))
    // A config provider may take long, and other tasks must not wait for it.
    else if (this.#options.resolver.hasPlaceholders(config)) this.#runInBackground(this.#start(task, kind))
    else await this.#start(task, kind)
  }

  /**
   * Reads offsets after fencing, when no older task can change them. Retries until it succeeds or the task is no longer
   * wanted. A task that waits too long for the end of an open transaction in an offsets topic is FAILED meanwhile.
   */
  async #startFenced(task: StartedTask): Promise<void> {
    const { fence, clock, logger, offsets } = this.#options
    const startMs = clock.monotonicMs()
    let openPartitions: readonly TopicPartition[] = []
    const onRetry = (error: unknown, _: number, waitMs: number) => {
      logger.warn({ err: error, ...task.id, waitMs }, 'cannot read the source offsets of a task; retrying')
      if (!(error instanceof OpenTransactionError)) return
      openPartitions = error.partitions
      const isTooLate = clock.monotonicMs() - startMs > OPEN_TRANSACTION_MS_MAX
      if (isTooLate && !task.failed && this.#isWanted(task))
        this.#handleMessage(task.id, { type: 'failed', trace: traceOf(error) })
    }
    const attempt = async () => {
      if (!this.#isWanted(task)) return
      await fence?.(task.id, openPartitions)
      await offsets.refresh(OFFSETS_MS_MAX)
      await this.#start(task, 'source')
    }
    await retry(attempt, { ...RETRY_UNTIL_DONE, clock, onRetry })
  }

  /** Rejects with `OpenTransactionError` if a fenced task cannot read its offsets. Any other error fails the task. */
  async #start(task: StartedTask, kind: 'source' | 'sink'): Promise<void> {
    const { resolver, defaults, offsets, host, fence } = this.#options
    const { id, config } = task
    try {
      const resolved = await resolver.resolve(config, id)
      const sourceOffsets = kind === 'source' ? await offsets.of(id.connector, resolved.config) : []
      if (!this.#isWanted(task)) return
      task.failed = false
      const spec = {
        ...id,
        kind,
        config: resolved.config,
        secrets: [...resolved.placeholderValues.values(), ...this.#options.literals.secretsIn(resolved.config)],
        worker: defaults,
        paused: task.target === 'PAUSED',
        offsets: sourceOffsets,
        ...(kind === 'source' && fence && { transactionalId: transactionalIdOf(defaults.workerGroup, id) }),
      }
      task.running = host.start(spec, (message) => this.#handleMessage(id, message))
    } catch (error) {
      if (fence && error instanceof OpenTransactionError) throw error
      if (this.#isWanted(task)) this.#handleMessage(id, { type: 'failed', trace: traceOf(error) })
    }
  }

  #kindOf(config: RawConfig): 'source' | 'sink' | undefined {
    return findAnyConnector(this.#options.plugins.catalog, config)?.kind
  }

  #isWanted(task: StartedTask): boolean {
    return this.tasks.get(taskKey(task.id)) === task
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
    if (task.running) await this.#stopWithTimeout(id, task.running)
    this.#options.resolver.release(id)
    await this.#putTaskSafe(id, next, null, null)
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
    // A failed connector stays failed until it is restarted, unless it is stopped.
    if (started.failed && connector.target !== 'STOPPED') return
    started.generation.abort()
    started.generation = new AbortController()
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
    const plugin = findConnector(this.#options.plugins.catalog, config)
    try {
      if (plugin === undefined) throw missingConnector(this.#options.plugins.catalog, config)
      await this.#putConnector(name, RUN_STATES[target], plugin.version)
    } catch (error) {
      await this.#connectorFailed(name, plugin, error)
      return
    }
    if (target === 'STARTED') this.#runInBackground(this.#generateTasks(name, plugin))
  }

  async #connectorFailed(name: string, plugin: ConnectorPlugin | undefined, error: unknown): Promise<void> {
    this.#options.logger.error({ err: error, connector: name }, 'the connector failed')
    const started = this.connectors.get(name)
    if (started) started.failed = true
    await this.#putConnectorSafe(name, 'FAILED', traceOf(error), plugin?.version ?? null)
  }

  async #generateTasks(name: string, plugin: ConnectorPlugin): Promise<void> {
    const signal = this.connectors.get(name)?.generation.signal
    if (!signal) return
    try {
      await this.#taskConfigs.run(name, plugin, signal)
    } catch (error) {
      if (!signal.aborted) await this.#connectorFailed(name, plugin, error)
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
        void this.#statuses.put(
          { kind: 'task', ...id },
          message.type === 'running'
            ? this.#status('RUNNING', message.retryTrace ?? null, version)
            : this.#status('PAUSED', null, version),
        )
        break
      case 'failed':
        if (!task.hasStarted) this.starts.taskFailures += 1
        task.failed = true
        void this.#putTaskSafe(id, 'FAILED', message.trace, version)
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

  async #stopWithTimeout(id: TaskId, running: RunningTask): Promise<void> {
    const { stopTimeoutMs, logger } = this.#options
    await withTimeout(running.stop(), stopTimeoutMs, () => {
      logger.error({ ...id, stopTimeoutMs }, 'the task did not stop in time and is cancelled')
      running.cancel()
    })
  }

  async #putConnector(name: string, state: RunState, version: string | null): Promise<void> {
    await this.#statuses.put({ kind: 'connector', connector: name }, this.#status(state, null, version))
  }

  async #putConnectorSafe(name: string, state: RunState, trace: string | null, version: string | null): Promise<void> {
    await this.#statuses.putSafe({ kind: 'connector', connector: name }, this.#status(state, trace, version))
  }

  async #putTaskSafe(id: TaskId, state: RunState, trace: string | null, version: string | null): Promise<void> {
    await this.#statuses.putSafe({ kind: 'task', ...id }, this.#status(state, trace, version))
  }

  #status(state: RunState, trace: string | null, version: string | null) {
    const maskedTrace = trace === null ? null : this.#options.resolver.mask(trace)
    return {
      state,
      trace: maskedTrace,
      worker_id: this.#options.workerId(),
      generation: this.#options.generation(),
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
