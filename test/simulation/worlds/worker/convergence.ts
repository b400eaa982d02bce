import type { ConnectorStateInfo, ExpandedConnector, RequestedState } from '../../../../src/clients/worker-client.ts'
import { systemClock } from '../../../../src/common/clock.ts'
import { messageOf } from '../../../../src/common/errors.ts'
import { promise } from '../../world.ts'
import { undeliveredRows } from './delivery-promises.ts'
import type { WorkerWorld } from './worker-steps.ts'

const CHECK_MS = 2_000

/** Looks, as a user would, whether everything runs as it was requested, and restarts failed tasks. */
export class Convergence {
  readonly #world: WorkerWorld
  isReached = false
  /** What does not run as requested. */
  missing = 'nothing was looked at'

  constructor(world: WorkerWorld) {
    this.#world = world
    const { director } = world
    director.run(() => this.#follow().catch((error: unknown) => director.fail(error)))
  }

  async #follow(): Promise<void> {
    while (!this.isReached) {
      await systemClock.sleep(CHECK_MS)
      const missing = await this.#look()
      if (missing === undefined) this.isReached = true
      else if (missing !== this.missing) {
        this.missing = missing
        this.#world.simulation.note('director', missing)
      }
    }
  }

  async #look(): Promise<string | undefined> {
    const { machines, user } = this.#world
    const down = machines.find(({ isUp }) => !isUp)
    if (down) return `${down.name} is not up`
    const lists: Readonly<Record<string, ExpandedConnector>>[] = []
    for (const { url, name } of machines) {
      const list = await user
        .client(url)
        .list()
        .catch((error: unknown) => `${name} does not answer: ${messageOf(error)}`)
      if (typeof list === 'string') return list
      const problem = await this.#problemOf(list, url)
      if (problem !== undefined) return `${name} reports that ${problem}`
      lists.push(list)
    }
    return this.#runsProblem(lists[0]!) ?? undeliveredRows(this.#world, lists[0]!)
  }

  #runsProblem(list: Readonly<Record<string, ExpandedConnector>>): string | undefined {
    const runs = this.#world.system.currentRuns()
    for (const run of runs) {
      const same = runs.filter(({ connector, task }) => connector === run.connector && task === run.task)
      if (same.length > 1)
        return `${run.connector}-${run.task} runs in ${same.map(({ process }) => process.name).join(' and ')}`
      if (list[run.connector]?.status?.tasks[run.task] === undefined)
        return `${run.process.name} runs ${run.connector}-${run.task}, which does not exist`
    }
    return undefined
  }

  async #problemOf(list: Readonly<Record<string, ExpandedConnector>>, url: string): Promise<string | undefined> {
    const { user } = this.#world
    for (const name of user.connectors) {
      const listed = list[name]
      const isMissing = listed === undefined && !user.mayExist(name, false)
      const problem = isMissing ? `${name} does not exist` : listed && (await this.#connectorProblem(name, listed, url))
      if (problem !== undefined) return problem
    }
    return undefined
  }

  async #connectorProblem(name: string, { info, status }: ExpandedConnector, url: string): Promise<string | undefined> {
    const { user } = this.#world
    if (info === undefined || status === undefined) return `${name} has no status`
    const { connector, tasks } = status
    const target = connector.state as RequestedState
    const problem = (await this.#failureOf(status, url)) ?? this.#placementProblem(status)
    if (problem !== undefined) return problem
    if (!user.mayExist(name, true)) return `${name} exists, although it was deleted`
    if (!user.mayHave(name, target, info.config)) return `${name} is ${target} with ${JSON.stringify(info.config)}`
    // The tasks of a paused connector are those of its earlier configuration. A worker that has read a compacted topic does not know them,
    // as in Kafka Connect: they are generated when it is resumed.
    if (target !== 'PAUSED' && info.tasks.length !== tasks.length)
      return `${name} has ${info.tasks.length} tasks, of which ${tasks.length} have a status`
    // A connector that is paused while it is stopped has no tasks, as in Kafka Connect.
    if ((target === 'STOPPED' && tasks.length > 0) || (target === 'RUNNING' && tasks.length === 0))
      return `${name} is ${target} with ${tasks.length} tasks`
    return undefined
  }

  /** Only a task whose process was killed fails. The user restarts it. */
  async #failureOf({ name, connector, tasks }: ConnectorStateInfo, url: string): Promise<string | undefined> {
    const { simulation, user } = this.#world
    const failed = [connector, ...tasks].find(({ state }) => state === 'FAILED')
    if (failed) {
      const { trace = '' } = failed
      simulation.note('user', `restarts ${name}, which failed: ${trace.slice(0, 600)}`)
      promise(trace.includes('SIGKILL'), () => `${name} failed: ${trace}`)
      const restarting = user.client(url).restart(name, { includeTasks: true, onlyFailed: true })
      await restarting.catch(() => undefined)
      return `${name} failed: ${trace}`
    }
    const waiting = [connector, ...tasks].find(({ trace }) => trace !== undefined)
    return waiting && `${name} is ${waiting.state}: ${waiting.trace}`
  }

  #placementProblem({ name, connector, tasks }: ConnectorStateInfo): string | undefined {
    if (connector.state === 'PAUSED') return undefined
    const { system, machines } = this.#world
    const runs = system.currentRuns().filter((run) => run.connector === name)
    for (const { id, state, worker_id: place } of tasks) {
      if (state !== connector.state) return `${name}-${id} is ${state}, and its connector ${connector.state}`
      const machine = machines.find(({ url: other }) => other === `http://${place}`)
      const runsThere = runs.some(({ process, task }) => task === id && process.machine === machine?.name)
      if (state === 'RUNNING' && !runsThere) return `${name}-${id} is RUNNING on ${place} and does not run there`
    }
    return undefined
  }
}
