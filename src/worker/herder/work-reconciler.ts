import type { TaskId } from '../../clients/worker-client.ts'
import { ErrorDeduplicator } from '../../common/logging/error-deduplicator.ts'
import type { Logger } from '../../common/logging/logger.ts'
import type { WorkerGroup } from '../membership/worker-group.ts'
import { taskKey } from '../model/task-key.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { ConfigStore } from '../stores/config-store.ts'
import type { StatusStore } from '../stores/status-store.ts'
import type { LeaderDuties } from './leader-duties.ts'
import { planRestart, type RestartRequest } from './restart-plan.ts'
import { isStop, planWork } from './work-plan.ts'
import type { WorkRunner } from './work-runner.ts'

export type WorkReconcilerOptions = {
  readonly logger: Logger
  readonly configs: ConfigStore
  readonly statuses: StatusStore
  readonly runner: WorkRunner
  readonly leader: LeaderDuties
  readonly group: () =>
    | Pick<WorkerGroup, 'work' | 'has' | 'isLeader' | 'mayStartWork' | 'rebalanceIfWorkChanged'>
    | undefined
}

const RETRY_MS = 1_000

/**
 * Keeps the connectors and tasks that run on this worker equal to its assignment and to the config topic. Everything
 * that starts or stops work runs in one queue, one job at a time.
 */
export class WorkReconciler {
  readonly #options: WorkReconcilerOptions
  #queue: Promise<unknown> = Promise.resolve()
  #isPending = false
  #isWakeScheduled = false
  /** Connectors to reconcile next; undefined: all. */
  #changed: Set<string> | undefined = new Set()
  #isRestartingInterrupted = false
  readonly #reconcileErrors = new ErrorDeduplicator()
  readonly #cleanUpErrors = new ErrorDeduplicator()
  #isStopped = false
  #isCleanUpDue = false
  #isCleaningUp = false
  #cleaning: Promise<void> = Promise.resolve()

  constructor(options: WorkReconcilerOptions) {
    this.#options = options
  }

  /** Schedules a reconciliation of one connector, or of all. Calls until it begins are merged into one. */
  wake(connector?: string): void {
    if (connector === undefined) this.#changed = undefined
    else this.#changed?.add(connector)
    if (this.#isPending || this.#isStopped) return
    this.#isPending = true
    this.#enqueue(() => this.#reconcile()).catch((error: unknown) => {
      if (!this.#reconcileErrors.isRepeated(error))
        this.#options.logger.error(
          { err: error },
          'starting or stopping work failed; reconciling again until it succeeds',
        )
    })
  }

  /** Called after each rebalance. Resolves when the work that was revoked has stopped. */
  async onAssigned(): Promise<void> {
    await this.#enqueue(async () => {
      this.#changed = undefined
      await this.#reconcile()
    })
    this.#isCleanUpDue = true
    if (!this.#isCleaningUp) this.#cleaning = this.#cleanUp()
  }

  /** Called when this worker has joined. Resolves when its work has started, and when it has cleaned up if it is the leader. */
  async start(): Promise<void> {
    await this.onAssigned()
    await this.#cleaning
  }

  /** On the leader, one at a time. No rebalance waits for it, because it waits for brokers. */
  async #cleanUp(): Promise<void> {
    const { leader, logger, group } = this.#options
    this.#isCleaningUp = true
    while (this.#isCleanUpDue && !this.#isStopped && group()?.isLeader) {
      this.#isCleanUpDue = false
      await leader.cleanUp().catch((error: unknown) => {
        if (this.#cleanUpErrors.isRepeated(error)) return
        const message = 'the leader could not delete obsolete records; it retries after the next rebalance'
        logger.error({ err: error }, message)
      })
    }
    this.#isCleaningUp = false
  }

  /** Called when this worker may no longer be a member: other workers may start what ran here, whatever is queued here. */
  async onLost(): Promise<void> {
    this.#options.runner.halt()
    await this.#enqueue(() => this.#options.runner.stopAll())
  }

  onInterrupted(): void {
    if (this.#isRestartingInterrupted) return
    this.#isRestartingInterrupted = true
    this.#enqueue(async () => {
      if (!this.#mayStartWork()) return this.#restartInterruptedLater()
      this.#isRestartingInterrupted = false
      await this.#options.runner.restartInterrupted()
    }).catch((error: unknown) => {
      this.#options.logger.error({ err: error }, 'interrupted tasks could not be restarted; retrying')
      setTimeout(() => this.onInterrupted(), RETRY_MS).unref()
    })
  }

  /** Interruptions until then are merged into this one. */
  #restartInterruptedLater(): void {
    const restart = () => {
      this.#isRestartingInterrupted = false
      this.onInterrupted()
    }
    setTimeout(restart, RETRY_MS).unref()
  }

  onRestart(restart: RestartRequest): void {
    this.#enqueue(() => this.#restart(restart)).catch((error: unknown) => {
      this.#options.logger.error({ err: error, connector: restart.connector }, 'a restart failed')
    })
  }

  /** Restarts only the connector, not its tasks. Rejects when it fails to start. */
  async restartConnector(name: string): Promise<void> {
    await this.#enqueue(async () => {
      const { configs, runner } = this.#options
      const connector = configs.state.connector(name)
      if (!connector) throw new WorkerError('connector_not_found', `Unknown connector: ${name}`)
      this.#assertMayStartWork()
      await runner.stopConnector(name)
      await runner.startConnector(connector)
      if (runner.connectors.get(name)?.failed) {
        throw new WorkerError('start_failed', `Failed to start connector: ${name}`)
      }
    })
    await this.#options.runner.storeStatuses()
  }

  async restartTask(id: TaskId): Promise<void> {
    await this.#enqueue(async () => {
      const { configs, runner } = this.#options
      const connector = configs.state.connector(id.connector)
      if (!connector) throw new WorkerError('connector_not_found', `Unknown connector: ${id.connector}`)
      const config = connector.tasks[id.task]
      if (!config) throw new WorkerError('task_not_found', `Unknown task: ${taskKey(id)}`)
      this.#assertMayStartWork()
      await runner.stopTask(id)
      await runner.execute([{ do: 'start-task', id, config, target: connector.target }])
    })
    await this.#options.runner.storeStatuses()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#enqueue(() => this.#options.runner.stopAll())
    await Promise.all([this.#cleaning, this.#options.runner.storeStatuses()])
  }

  /** Resolves to true when every job that was queued before this call is done. */
  isResponding(): Promise<boolean> {
    return this.#enqueue(async () => true)
  }

  /** Runs jobs one at a time. After a failed job everything is reconciled, since the job may have been half done. */
  #enqueue<T>(job: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(job)
    this.#queue = done.catch(() => this.#wakeLater())
    return done
  }

  #wakeLater(): void {
    if (this.#isWakeScheduled) return
    this.#isWakeScheduled = true
    const wake = () => {
      this.#isWakeScheduled = false
      this.wake()
    }
    setTimeout(wake, RETRY_MS).unref()
  }

  /** Work that has to wait is started by a later reconciliation. */
  #mayStartWork(): boolean {
    return this.#options.group()?.mayStartWork !== false
  }

  #assertMayStartWork(): void {
    if (this.#mayStartWork()) return
    const reason = 'this worker may have left its group, or has not read the configurations of its assignment yet'
    throw new WorkerError('rebalancing', reason)
  }

  async #reconcile(): Promise<void> {
    this.#isPending = false
    const group = this.#options.group()
    if (!group || this.#isStopped) return
    const { configs, runner } = this.#options
    const changed = this.#changed
    this.#changed = new Set()
    const planned = planWork(group, configs.state, runner, changed)
    const steps = this.#mayStartWork() ? planned : planned.filter(isStop)
    if (steps.length < planned.length) this.#wakeLater()
    if (steps.length > 0) await runner.execute(steps)
    this.#reconcileErrors.clear()
    // A new or deleted connector, or a changed number of tasks, needs a rebalance.
    group.rebalanceIfWorkChanged()
  }

  async #restart(restart: RestartRequest): Promise<void> {
    const { configs, statuses, runner } = this.#options
    const { connector: name } = restart
    const { connector: includesConnector, tasks } = planRestart(statuses.state, restart)
    const runsHere = includesConnector && runner.connectors.has(name)
    const localTasks = tasks.filter((task) => runner.tasks.has(taskKey({ connector: name, task })))
    if (runsHere) await runner.stopConnector(name, 'RESTARTING')
    await Promise.all(localTasks.map((task) => runner.stopTask({ connector: name, task }, 'RESTARTING')))
    // A later reconciliation starts it.
    if (!this.#mayStartWork()) return this.#wakeLater()
    const connector = configs.state.connector(name)
    if (runsHere && connector) await runner.startConnector(connector)
    await runner.execute(
      localTasks.flatMap((task) => {
        const config = connector?.tasks[task]
        return config ? [{ do: 'start-task', id: { connector: name, task }, config, target: connector.target }] : []
      }),
    )
  }
}
