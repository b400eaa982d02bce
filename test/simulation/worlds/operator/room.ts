import '../../../../src/clients/kubernetes/kubernetes-api.ts'
import '../../../../src/operator/cluster/kubernetes/kubernetes-cluster.ts'
import '../../../../src/operator/cluster/kubernetes/lease-lock.ts'
import { join } from 'node:path'
import { type Operator, startOperator } from '../../../../src/operator/main.ts'
import {
  DEFAULT_RUNTIME,
  type RegistryRuntimeConfig,
  RUNTIME_DEFAULTS,
  type RuntimesConfig,
  type WorkerRuntimeConfig,
} from '../../../../src/operator/runtimes.ts'
import { type NetworkFaults, NO_FAULTS } from '../../network.ts'
import { CONNECT_HOST, SimulatedConnect } from '../../simulated-connect.ts'
import type { ServerErrors } from '../../simulated-http.ts'
import { type Declaration, SimulatedKubernetes } from '../../simulated-kubernetes.ts'
import type { SimulatedProcess } from '../../simulated-process.ts'
import { REGISTRY_HOST, SimulatedRegistry } from '../../simulated-registry.ts'
import type { Simulation } from '../../simulation.ts'
import { timelineLogger } from '../../timeline-logger.ts'
import { promise, type Step } from '../../world.ts'
import { OperatorPromises } from './promises.ts'

const KUBECONFIG = join(import.meta.dirname, 'kubeconfig.yaml')
/** A watch that fell silent is noticed after 225 s, and a fight with another client ends after 300 s. */
const CONVERGE_MS = 900_000
/** Longer than the interval at which runtimes are listed and resources are reconciled again. */
const QUIET_MS = 12_000
const OBSERVE_MS = 10_000
/** How often the state is compared with what is declared. */
const COMPARE_MS = 500

const RUNTIMES: RuntimesConfig = {
  workers: [runtimeAt(CONNECT_HOST)],
  registries: [runtimeAt(REGISTRY_HOST)],
}

type Program = { readonly process: SimulatedProcess; operator?: Operator }
type Values = {
  readonly who: string
  readonly ms: number
  readonly kind: string
  readonly name: string
  readonly connector: string
  readonly subject: string
}

/** The simulated machine room of the operators. */
export class OperatorRoom {
  readonly #simulation: Simulation
  readonly #promises: OperatorPromises
  readonly #api: SimulatedKubernetes
  readonly #connect: SimulatedConnect
  readonly #registry: SimulatedRegistry
  readonly #programs = new Map<string, Program>()
  /** Operators that are frozen while a write of theirs is executed: how many writes are left until then. */
  readonly #pauses = new Map<string, { writes: number; readonly ms: number }>()
  /** How often each operator was started. */
  readonly #starts = new Map<string, number>()

  constructor(simulation: Simulation) {
    this.#simulation = simulation
    const promises = new OperatorPromises(simulation, {
      api: () => this.#api,
      connect: () => this.#connect,
      registry: () => this.#registry,
    })
    this.#promises = promises
    this.#api = new SimulatedKubernetes(simulation, (change) => {
      if (change.by !== undefined && (change.after ?? change.before)?.kind !== 'Lease') this.#pauseAtWrite(change.by)
      promises.objectChanged(change)
    })
    this.#connect = new SimulatedConnect(simulation, (write) => {
      this.#pauseAtWrite(write.by)
      promises.connectorWritten(write)
    })
    this.#registry = new SimulatedRegistry(simulation, (write) => {
      this.#pauseAtWrite(write.by)
      promises.registryWritten(write)
    })
  }

  runUntil(atMs: number, isDone: () => boolean = () => false): Promise<boolean> {
    return this.#simulation.run(atMs, () => {
      this.#promises.assertKept()
      return isDone()
    })
  }

  carryOut(step: Step): void {
    const { atMs: _, ...action } = step
    this.#simulation.note('world', JSON.stringify(action))
    const run = this.#actions[step.do]
    if (run === undefined) throw new Error(`there is no action ${step.do}`)
    run(step as unknown as Step & Values)
  }

  /** Ends all faults, and waits until everything is as declared and nothing is written any more. */
  async converge(): Promise<void> {
    const { network } = this.#simulation
    network.faults = NO_FAULTS
    this.#simulation.http.errors = { unavailable: 0, afterEffect: 0 }
    network.heal()
    this.#api.lagMs = 0
    if (this.#programs.size === 0) this.#start('op1')
    for (const who of this.#programs.keys()) this.#start(who)
    this.#simulation.note('world', 'no more faults')
    let writes = -1
    let quietSinceMs = 0
    let comparedMs = 0
    await this.runUntil(this.#simulation.nowMs + CONVERGE_MS, () => {
      const { nowMs } = this.#simulation
      if (nowMs - comparedMs < COMPARE_MS) return false
      comparedMs = nowMs
      const isQuiet = writes === this.#promises.writes && this.#promises.unsettled() === undefined
      if (!isQuiet) quietSinceMs = nowMs
      writes = this.#promises.writes
      return nowMs - quietSinceMs >= QUIET_MS
    })
    const unsettled = this.#promises.unsettled()
    promise(unsettled === undefined, () => `not settled after ${CONVERGE_MS / 1_000} s: ${unsettled}`)
    const quietMs = this.#simulation.nowMs - quietSinceMs
    promise(quietMs >= QUIET_MS, () => `still writes after ${CONVERGE_MS / 1_000} s, although all is as declared`)
  }

  readonly #actions: Readonly<Record<string, (step: Step & Values) => void>> = {
    start: ({ who }) => this.#start(who),
    stop: ({ who }) => this.#stop(who),
    crash: ({ who, ms }) => this.#crash(who, ms),
    pause: ({ who, ms, atWrite }) => {
      if (atWrite === undefined) this.#programs.get(who)?.process.pause(ms)
      else this.#pauses.set(who, { writes: Number(atWrite), ms })
    },
    skew: ({ who, ms }) => this.#programs.get(who)?.process.skew(ms),
    cut: ({ who, ms, ...step }) => this.#cut(who, String(step['from']), ms),
    faults: (step) => {
      this.#simulation.network.faults = step as unknown as NetworkFaults
      this.#simulation.http.errors = step as unknown as ServerErrors
    },
    apply: (step) => {
      const isDeleted = this.#api.get(step.kind, step.name)?.metadata.deletionTimestamp !== undefined
      if (!isDeleted) this.#api.apply(step as unknown as Declaration)
    },
    delete: ({ kind, name }) => this.#api.remove(kind, name),
    'fail task': (step) => this.#connect.fail(step.connector, Number(step['task'])),
    'foreign connector': (step) => {
      const { config } = this.#connect.connectors.get(step.connector) ?? { config: { 'connector.class': 'Datagen' } }
      this.#connect.put(step.connector, { ...config, topic: String(step['topic']) })
    },
    'foreign deletion': ({ connector }) => this.#connect.remove(connector),
    'foreign schema': (step) => this.#registry.register(step.subject, String(step['schema'])),
    rebalance: ({ ms }) => this.#connect.rebalance(ms),
    'break watches': (step) => this.#api.breakWatches(this.#nameOf(step.who), step['isSilent'] === true),
    compact: () => this.#api.compact(),
    lag: (step) => {
      this.#api.lagMs = Number(step['lagMs'])
      this.#later(step.ms, () => {
        this.#api.lagMs = 0
      })
    },
  }

  #start(who: string): void {
    if (this.#programs.get(who)?.process.isAlive) return
    const number = (this.#starts.get(who) ?? 0) + 1
    this.#starts.set(who, number)
    const process = this.#simulation.process(`${who}.${number}`, who)
    const program: Program = { process }
    this.#programs.set(who, program)
    this.#simulation.note(process.name, 'starts')
    process.run(() => {
      startOperator({
        cluster: { kind: 'kubernetes', kubeconfig: KUBECONFIG, namespaces: [] },
        runtimesConfig: () => RUNTIMES,
        logger: timelineLogger(process),
      }).then(
        (operator) => {
          program.operator = operator
        },
        (error: unknown) => process.fail(error),
      )
    })
  }

  /** A rolling update: the operator stops, and another one starts. */
  #stop(who: string): void {
    const { process, operator } = this.#programs.get(who) ?? {}
    if (!process?.isAlive || operator === undefined) return
    this.#simulation.note(process.name, 'stops')
    const restart = () => {
      process.crash()
      this.#start(who)
    }
    process.run(() => {
      operator.stop().then(restart, (error: unknown) => process.fail(error))
    })
  }

  #crash(who: string, downMs: number): void {
    const process = this.#programs.get(who)?.process
    if (!process?.isAlive) return
    process.crash()
    this.#later(downMs, () => this.#start(who))
  }

  #cut(who: string, from: string, ms: number): void {
    this.#simulation.network.cut(who, from)
    this.#later(ms, () => this.#simulation.network.heal())
  }

  /** When it continues, another operator may hold the lease, and the rest of its reconcile is before it. */
  #pauseAtWrite(by: string): void {
    for (const [who, { process }] of this.#programs) {
      const pause = process.name === by ? this.#pauses.get(who) : undefined
      if (pause === undefined) continue
      pause.writes -= 1
      if (pause.writes > 0) continue
      this.#pauses.delete(who)
      process.pause(pause.ms)
    }
  }

  #nameOf(who: string | undefined): string | undefined {
    return who === undefined ? undefined : this.#programs.get(who)?.process.name
  }

  #later(ms: number, run: () => void): void {
    this.#simulation.schedule(this.#api.process, ms, run)
  }
}

function runtimeAt(host: string): WorkerRuntimeConfig & RegistryRuntimeConfig {
  return {
    ...RUNTIME_DEFAULTS,
    name: DEFAULT_RUNTIME,
    endpoint: { url: `http://${host}` },
    observeIntervalMs: OBSERVE_MS,
  }
}
