import { messageOf } from '../../../../src/common/errors.ts'
import type { RunningProgram } from '../../../../src/common/lifecycle.ts'
import { silentLogger } from '../../../../src/common/logging/logger.ts'
import { createMetrics } from '../../../../src/common/metrics-registry.ts'
import { type Catalog, createCatalog } from '../../../../src/plugins/plugin-catalog.ts'
import type { Plugin } from '../../../../src/sdk/index.ts'
import { startWorker, type WorkerDependencies } from '../../../../src/worker/main.ts'
import { workerSettings } from '../../../../src/worker/settings.ts'
import { inThreadPluginHost } from '../../../support/in-thread-plugin-host.ts'
import type { SimulatedBroker } from '../../simulated-broker.ts'
import type { SimulatedProcess } from '../../simulated-process.ts'
import { SimulatedTaskProcess } from '../../simulated-task-process.ts'

export type WorkerMachineOptions = {
  readonly name: string
  readonly broker: SimulatedBroker
  readonly plugins: readonly Plugin[]
  readonly settings: Readonly<Record<string, string>>
}

/** A service manager starts a program again after this time. */
const RESTART_MS = 3_000
/** And ends one that does not stop in this time. */
const GRACE_MS = 30_000

/** A machine on which a service manager keeps a worker running. */
export class WorkerMachine {
  readonly name: string
  readonly #options: WorkerMachineOptions
  readonly #catalog: Catalog
  readonly #manager: SimulatedProcess
  #worker: SimulatedProcess
  #program: RunningProgram | undefined
  #taskProcesses: SimulatedProcess[] = []
  #taskProcessCount = 0
  /** How often the worker ended by itself. */
  failures = 0

  constructor(options: WorkerMachineOptions) {
    const { name, broker, plugins } = options
    this.name = name
    this.#options = options
    this.#catalog = createCatalog(plugins)
    this.#manager = broker.process.simulation.process(`${name} manager`, name)
    this.#worker = this.#start()
  }

  get url(): string {
    return `http://${this.name}:8083`
  }

  /** Whether the worker has started. */
  get isUp(): boolean {
    return this.#worker.isAlive && this.#program !== undefined
  }

  get worker(): SimulatedProcess {
    return this.#worker
  }

  /** Those that are alive. */
  get taskProcesses(): readonly SimulatedProcess[] {
    this.#taskProcesses = this.#taskProcesses.filter(({ isAlive }) => isAlive)
    return this.#taskProcesses
  }

  /** Kills the worker. It is started again after `downMs`. */
  crash(downMs: number): void {
    const worker = this.#worker
    if (!worker.isAlive) return
    worker.crash()
    this.#startLater(downMs)
  }

  /** Kills a task process, if there is one. */
  crashTasks(): void {
    this.taskProcesses[0]?.crash()
  }

  /** Stops the worker as at an update. It is started again. */
  stop(): void {
    const worker = this.#worker
    const program = this.#program
    if (!worker.isAlive || program === undefined) return
    this.#program = undefined
    const { simulation } = worker
    simulation.note(worker.name, 'receives SIGTERM')
    const end = () => {
      if (!worker.isAlive) return
      simulation.note(worker.name, 'exits')
      worker.crash()
      this.#startLater(RESTART_MS)
    }
    simulation.schedule(this.#manager, GRACE_MS, end)
    simulation.schedule(worker, 0, () => {
      program.stop().then(
        () => simulation.schedule(worker, 0, end),
        (error: unknown) => worker.fail(error),
      )
    })
  }

  #startLater(ms: number): void {
    const { simulation } = this.#manager
    simulation.schedule(this.#manager, ms, () => {
      this.#worker = this.#start()
    })
  }

  #start(): SimulatedProcess {
    const { name, broker, settings } = this.#options
    const { simulation } = broker.process
    const process = simulation.process(name)
    simulation.note(name, 'starts')
    const written = { listeners: `http://${name}:8083`, 'rest.advertised.host.name': name, ...settings }
    const fail = (error: unknown) => {
      if (!process.isAlive) return
      simulation.note(name, `ends: ${messageOf(error)}`)
      this.failures += 1
      process.crash()
      this.#startLater(RESTART_MS)
    }
    this.#program = undefined
    process.run(() => {
      const starting = startWorker(
        workerSettings(Object.entries(written).map(([key, value]) => ({ key, value, source: 'the simulation' }))),
        {
          broker: broker.connect(),
          logger: silentLogger(),
          metrics: createMetrics(),
          openPlugins: this.#openPlugins,
          openTaskProcess: this.#taskProcessOpener(process),
          onFailed: fail,
        },
      )
      starting.then((program) => {
        simulation.note(name, 'is up')
        this.#program = program
      }, fail)
    })
    return process
  }

  readonly #openPlugins: WorkerDependencies['openPlugins'] = async ({ access }) => ({
    ...inThreadPluginHost(this.#options.plugins, access),
    modules: { urls: [], java: [] },
    faults: [],
    close: () => undefined,
  })

  #taskProcessOpener(worker: SimulatedProcess): WorkerDependencies['openTaskProcess'] {
    const { name, broker } = this.#options
    return (options) => {
      const process = worker.simulation.process(`${name} tasks-${this.#taskProcessCount++}`, name)
      this.#taskProcesses.push(process)
      const connect = () => broker.connect()
      return new SimulatedTaskProcess(options, { worker, process, plugins: this.#catalog, connect })
    }
  }
}
