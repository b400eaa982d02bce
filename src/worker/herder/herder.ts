import type { TaskId } from '../../clients/worker.ts'
import type { Logger } from '../../config/logger.ts'
import type { WorkerGroup } from '../membership/worker-group.ts'
import { taskKey } from '../model/task-key.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { ConfigRecord } from '../stores/config-codec.ts'
import type { ConfigStore } from '../stores/config-store.ts'
import type { StatusStore } from '../stores/status-store.ts'
import type { LeaderDuties } from './leader-duties.ts'
import { planWork } from './work-plan.ts'
import type { WorkRunner } from './work-runner.ts'

export type HerderOptions = {
  readonly logger: Logger
  readonly configs: ConfigStore
  readonly statuses: StatusStore
  readonly runner: WorkRunner
  readonly leader: LeaderDuties
  readonly group: () => Pick<WorkerGroup, 'work' | 'has' | 'isLeader' | 'rebalanceIfWorkChanged'> | undefined
}

const RETRY_MS = 1_000

type Restart = Extract<ConfigRecord, { kind: 'restart' }>

/**
 * Keeps what runs here equal to what the group gave this worker and what the config topic says of it. Everything that
 * starts or stops something happens one after the other; whoever notices a change says `wake`.
 */
export class Herder {
  readonly #parts: HerderOptions
  #line: Promise<unknown> = Promise.resolve()
  #isPending = false
  /** Connectors of which something may be different; undefined: all. */
  #changed: Set<string> | undefined = new Set()
  #isStartingAgain = false
  #stopped = false

  constructor(parts: HerderOptions) {
    this.#parts = parts
  }

  /** Something may be different, of this connector or of all: looks soon, once for all that happened until then. */
  wake(connector?: string): void {
    if (connector === undefined) this.#changed = undefined
    else this.#changed?.add(connector)
    if (this.#isPending || this.#stopped) return
    this.#isPending = true
    this.#inLine(() => this.#reconcile()).catch((error: unknown) => {
      this.#parts.logger.error({ err: error }, 'carrying out a plan failed: looking again')
    })
  }

  /** A round of the group is over. Resolves when what it took away has stopped. */
  async onAssigned(): Promise<void> {
    await this.#inLine(async () => {
      this.#changed = undefined
      await this.#reconcile()
      if (this.#parts.group()?.isLeader) await this.#tidy()
    })
  }

  async #tidy(): Promise<void> {
    const { leader, logger } = this.#parts
    await leader.cleanUp().catch((error: unknown) => {
      logger.error({ err: error }, 'the leader could not tidy up: it will after the next round')
    })
  }

  /** Out of the group: what ran here may be started elsewhere. */
  async onLost(): Promise<void> {
    await this.#inLine(() => this.#parts.runner.stopAll())
  }

  onInterrupted(): void {
    if (this.#isStartingAgain) return
    this.#isStartingAgain = true
    this.#inLine(() => {
      this.#isStartingAgain = false
      return this.#parts.runner.restartInterrupted()
    }).catch((error: unknown) => {
      this.#parts.logger.error({ err: error }, 'interrupted tasks could not be started: trying again')
      setTimeout(() => this.onInterrupted(), RETRY_MS).unref()
    })
  }

  onRestart({ connector, includeTasks, onlyFailed }: Restart): void {
    this.#inLine(() => this.#restart(connector, includeTasks, onlyFailed)).catch((error: unknown) => {
      this.#parts.logger.error({ err: error, connector }, 'a restart failed')
    })
  }

  /** Restarts the connector itself, not its tasks. Rejects when it fails to start. */
  async restartConnector(name: string): Promise<void> {
    await this.#inLine(async () => {
      const { configs, runner } = this.#parts
      const connector = configs.state.connector(name)
      if (!connector) throw new WorkerError('connector_not_found', `Unknown connector: ${name}`)
      await runner.stopConnector(name)
      await runner.startConnector(connector)
      if (runner.connectors.get(name)?.failed) {
        throw new WorkerError('start_failed', `Failed to start connector: ${name}`)
      }
    })
  }

  async restartTask(id: TaskId): Promise<void> {
    await this.#inLine(async () => {
      const { configs, runner } = this.#parts
      const connector = configs.state.connector(id.connector)
      if (!connector) throw new WorkerError('connector_not_found', `Unknown connector: ${id.connector}`)
      const config = connector.tasks[id.task]
      if (!config) throw new WorkerError('task_not_found', `Unknown task: ${taskKey(id)}`)
      await runner.stopTask(id)
      await runner.execute([{ do: 'start-task', id, config, target: connector.target }])
    })
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#inLine(() => this.#parts.runner.stopAll())
  }

  /** True when everything that had to be started or stopped until now is. */
  isResponding(): Promise<boolean> {
    return this.#inLine(async () => true)
  }

  /** A job that failed may have left anything half done: all is looked at again. */
  #inLine<T>(job: () => Promise<T>): Promise<T> {
    const done = this.#line.then(job)
    this.#line = done.catch(() => void setTimeout(() => this.wake(), RETRY_MS).unref())
    return done
  }

  async #reconcile(): Promise<void> {
    this.#isPending = false
    const group = this.#parts.group()
    if (!group || this.#stopped) return
    const { configs, runner } = this.#parts
    const changed = this.#changed
    this.#changed = new Set()
    const steps = planWork(group, configs.state, runner, changed)
    if (steps.length > 0) await runner.execute(steps)
    // A connector that is new or gone, or another number of tasks, is the whole group's business.
    group.rebalanceIfWorkChanged()
  }

  async #restart(name: string, includeTasks: boolean, onlyFailed: boolean): Promise<void> {
    const { configs, runner } = this.#parts
    const { connector: itself, tasks } = this.restartPlan(name, includeTasks, onlyFailed)
    const isMine = itself && runner.connectors.has(name)
    const mine = tasks.filter((task) => runner.tasks.has(taskKey({ connector: name, task })))
    if (isMine) await runner.stopConnector(name, 'RESTARTING')
    await Promise.all(mine.map((task) => runner.stopTask({ connector: name, task }, 'RESTARTING')))
    const connector = configs.state.connector(name)
    if (isMine && connector) await runner.startConnector(connector)
    await runner.execute(
      mine.flatMap((task) => {
        const config = connector?.tasks[task]
        return config ? [{ do: 'start-task', id: { connector: name, task }, config, target: connector.target }] : []
      }),
    )
  }

  /** What a restart means, by what is known of the connector's state. */
  restartPlan(
    name: string,
    includeTasks: boolean,
    onlyFailed: boolean,
  ): { connector: boolean; tasks: readonly number[] } {
    const { state } = this.#parts.statuses
    const isMeant = (status: { readonly state: string } | undefined) => !onlyFailed || status?.state === 'FAILED'
    const tasks = includeTasks ? state.tasks(name).filter(([, status]) => isMeant(status)) : []
    return { connector: isMeant(state.connector(name)), tasks: tasks.map(([task]) => task) }
  }
}
