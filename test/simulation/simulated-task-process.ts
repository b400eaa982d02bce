import type { Broker } from '../../src/broker/broker.ts'
import { systemClock } from '../../src/common/clock.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import type { Catalog } from '../../src/plugins/plugin-catalog.ts'
import { UNRESTRICTED } from '../../src/sdk/index.ts'
import { TaskExecutor } from '../../src/worker/isolation/tasks/task-executor.ts'
import type {
  TaskCommand,
  TaskProcessMessage,
  TopicPolicyCommand,
} from '../../src/worker/isolation/tasks/task-messages.ts'
import type { TaskProcess, TaskProcessOptions } from '../../src/worker/isolation/tasks/task-process.ts'
import { TaskRunner } from '../../src/worker/isolation/tasks/task-runner.ts'
import type { SimulatedProcess } from './simulated-process.ts'

export type SimulatedTaskProcessOptions = {
  readonly worker: SimulatedProcess
  readonly process: SimulatedProcess
  readonly plugins: Catalog
  /** The broker as the process reaches it. */
  readonly connect: () => Broker
}

/** Until its modules are loaded. */
const LOAD_MS_MAX = 800
/** How long a message between a worker and its process is on its way. */
const MESSAGE_MS = 0.2
/** Without `setpriv`, a process notices the end of its worker by their channel. */
const ORPHAN_MS_MAX = 50
/** As in `worker-channel.ts`. */
const SILENT_MS_MAX = 10_000
const SILENCE_CHECK_MS = 2_000
/** As in `isolated-process.ts`. */
const EXIT_TIMEOUT_MS = 1_000

/**
 * A task process of a simulated worker, as `TaskProcess` is one of the operating system: it runs the shipped tasks with a connection of
 * its own, and ends with its worker or when that is silent.
 */
export class SimulatedTaskProcess implements Pick<TaskProcess, 'ownMs' | 'post' | 'end'> {
  readonly #own: SimulatedTaskProcessOptions
  readonly #options: TaskProcessOptions
  readonly #executor = Promise.withResolvers<TaskExecutor>()
  readonly #startedMs: number
  #topicPolicy: ReturnType<TaskProcessOptions['topicPolicy']>
  #isEnding = false

  constructor(options: TaskProcessOptions, own: SimulatedTaskProcessOptions) {
    const { worker, process } = own
    const { simulation } = process
    this.#own = own
    this.#options = options
    this.#startedMs = simulation.nowMs
    this.#topicPolicy = options.topicPolicy()
    simulation.schedule(process, simulation.random.below(LOAD_MS_MAX), () => this.#start())
    worker.onCrash(this, () => {
      if (simulation.random.below(2) === 0) process.crash()
      else simulation.schedule(process, simulation.random.below(ORPHAN_MS_MAX), () => process.crash())
    })
    process.onCrash(this, () => {
      worker.forget(this)
      if (this.#isEnding) return
      simulation.schedule(worker, MESSAGE_MS, () =>
        options.onEnd({ cause: 'exit', what: 'ended its process by SIGKILL' }),
      )
    })
  }

  get ownMs(): number {
    const { process } = this.#own
    return process.simulation.nowMs - this.#startedMs - process.pausedMs
  }

  post(command: TaskCommand | TopicPolicyCommand): void {
    const { process } = this.#own
    process.simulation.schedule(process, MESSAGE_MS, () => {
      if (command.do === 'set-topic-policy') this.#topicPolicy = command.policy
      else void this.#executor.promise.then((executor) => executor.execute(command))
    })
  }

  /** A process that does not end by itself, because it is frozen, is killed. */
  end(): Promise<void> {
    const { worker, process } = this.#own
    const { simulation } = process
    this.#isEnding = true
    return new Promise((resolve) => {
      const end = () => {
        process.crash()
        resolve()
      }
      simulation.schedule(worker, process.isPausedUntilMs > simulation.nowMs ? EXIT_TIMEOUT_MS : MESSAGE_MS, end)
    })
  }

  #start(): void {
    const { connect, plugins } = this.#own
    const runner = new TaskRunner({
      broker: connect(),
      topicPolicy: () => this.#topicPolicy,
      loadPlugins: async () => plugins,
      access: UNRESTRICTED,
      logger: silentLogger(),
      clock: systemClock,
    })
    this.#executor.resolve(new TaskExecutor(runner, (message) => this.#send(message)))
    this.#endWhenWorkerIsSilent()
  }

  #send(message: TaskProcessMessage): void {
    const { worker } = this.#own
    if (message.type === 'log' || message.type === 'broker') return
    worker.simulation.schedule(worker, MESSAGE_MS, () => {
      if (!this.#isEnding) this.#options.onMessage(message)
    })
  }

  #endWhenWorkerIsSilent(): void {
    const { worker, process } = this.#own
    let silentMs = 0
    setInterval(() => {
      silentMs = worker.isPausedUntilMs > worker.simulation.nowMs ? silentMs + SILENCE_CHECK_MS : 0
      if (silentMs > SILENT_MS_MAX) process.crash()
    }, SILENCE_CHECK_MS)
  }
}
