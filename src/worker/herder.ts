import { randomBytes } from 'node:crypto'
import type { TaskId } from '../clients/worker.ts'
import type { Clock } from '../config/clock.ts'
import type { Logger } from '../config/logger.ts'
import type { Work } from './assignment-codec.ts'
import { WorkerError } from './failure.ts'
import type { WorkerGroup } from './group.ts'
import { configuredWork, planForgetting, planWork, taskKey } from './plan.ts'
import type { Runner } from './runner.ts'
import type { ConfigRecord } from './stores/config-codec.ts'
import type { ConfigStore } from './stores/config-store.ts'
import type { StatusStore } from './stores/status-store.ts'

export type HerderParts = {
  readonly logger: Logger
  readonly clock: Clock
  readonly configs: ConfigStore
  readonly statuses: StatusStore
  readonly runner: Runner
  readonly group: () => WorkerGroup | undefined
  /** 0: a key never gets too old. */
  readonly sessionKeyTtlMs: number
}

type Restart = Extract<ConfigRecord, { kind: 'restart' }>

const SESSION_KEY_BYTES = 32

/**
 * Keeps what runs here equal to what the group gave this worker and what the config topic says of it. Everything that
 * starts or stops something happens one after the other; whoever notices a change says `wake`.
 */
export class Herder {
  readonly #parts: HerderParts
  #line: Promise<unknown> = Promise.resolve()
  #isPending = false
  #stopped = false
  #sharedOut = ''

  constructor(parts: HerderParts) {
    this.#parts = parts
  }

  /** Something may be different: looks soon, once for all that happened until then. */
  wake(): void {
    if (this.#isPending || this.#stopped) return
    this.#isPending = true
    this.#inLine(() => this.#reconcile()).catch((error: unknown) => {
      this.#parts.logger.error({ err: error }, 'carrying out a plan failed: looking again')
      setTimeout(() => this.wake(), 1_000).unref()
    })
  }

  /** A round of the group is over. Resolves when what it took away has stopped. */
  async onWork(): Promise<void> {
    this.#sharedOut = fingerprint(configuredWork(this.#parts.configs.state))
    await this.#inLine(async () => {
      await this.#reconcile()
      if (this.#parts.group()?.isLeader) await this.#lead()
    })
  }

  /** Out of the group: what ran here may be started elsewhere. */
  async onLost(): Promise<void> {
    await this.#inLine(() => this.#parts.runner.stopAll())
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
      await runner.startTask(id, config, connector.target)
    })
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#inLine(() => this.#parts.runner.stopAll())
  }

  #inLine<T>(job: () => Promise<T>): Promise<T> {
    const done = this.#line.then(job)
    this.#line = done.catch(() => undefined)
    return done
  }

  async #reconcile(): Promise<void> {
    this.#isPending = false
    const group = this.#parts.group()
    if (!group || this.#stopped) return
    const { configs, runner } = this.#parts
    const steps = planWork(group.work, configs.state, runner)
    if (steps.length > 0) await runner.carryOut(steps)
    // A connector that is new or gone, or another number of tasks, is the whole group's business.
    if (fingerprint(configuredWork(configs.state)) !== this.#sharedOut) group.rejoin('the configured work changed')
  }

  /** The leader's duties. */
  async #lead(): Promise<void> {
    const { configs, statuses } = this.#parts
    for (const key of planForgetting(configs.state, statuses.state)) await statuses.forget(key)
    for (const name of configs.state.remains()) await configs.clean(name)
    await this.#renewSessionKey()
  }

  async #renewSessionKey(): Promise<void> {
    const { configs, clock, sessionKeyTtlMs } = this.#parts
    const known = configs.state.session
    const isFresh = known && (sessionKeyTtlMs === 0 || clock.nowMs() - known.createdMs < sessionKeyTtlMs)
    if (isFresh) return
    const key = randomBytes(SESSION_KEY_BYTES).toString('base64')
    await configs.write([{ kind: 'session', session: { key, algorithm: 'HmacSHA256', createdMs: clock.nowMs() } }])
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
    for (const task of mine) {
      const config = connector?.tasks[task]
      if (connector && config) await runner.startTask({ connector: name, task }, config, connector.target)
    }
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

/** The same for the same work. */
function fingerprint({ connectors, tasks }: Work): string {
  return JSON.stringify([connectors, tasks.map(taskKey)])
}
