import { BrokerError } from '../../../src/broker/broker-error.ts'
import type { RunningProgram } from '../../../src/common/lifecycle.ts'
import { createMetrics } from '../../../src/common/metrics-registry.ts'
import { startRegistry } from '../../../src/registry/main.ts'
import { registrySettings } from '../../../src/registry/settings.ts'
import { type NetworkFaults, NO_FAULTS } from '../network.ts'
import { SimulatedBroker, type StoredBatch } from '../simulated-broker.ts'
import type { SimulatedProcess } from '../simulated-process.ts'
import type { Simulation } from '../simulation.ts'
import { timelineLogger } from '../timeline-logger.ts'
import { promise, type Step, Violation, type World } from '../world.ts'
import { checkRegistry } from './registry/check-registry.ts'
import { INSTANCES, planRegistry } from './registry/plan-registry.ts'
import { FRESH_CONTENTS, type RegistryRequest } from './registry/registry-request.ts'
import { RegistryUser } from './registry/registry-user.ts'

/** How long instances need to start, and to recover when all faults have ended. */
const START_MS_MAX = 120_000
const RECOVERY_MS_MAX = 400_000
/** What is on its way when the faults end arrives in this time. */
const LATE_MS_MAX = 21_000
/** In this time the broker has compacted its topics twice. */
const CLEANING_MS = 35_000
/** A supervisor starts a program again that ended by itself. */
const RESTART_MS = 2_000

/** Three registries with one broker: schemas, configs, modes and keys, while leaders crash, freeze and lose their connections. */
export const registryWorld: World = {
  name: 'registry',
  plan: planRegistry,
  async run(simulation, steps) {
    const room = await RegistryRoom.open(simulation)
    for (const name of INSTANCES) room.start(name)
    promise(
      await simulation.run(START_MS_MAX, () => INSTANCES.every((name) => room.isUp(name))),
      () => 'the registries do not start',
    )
    const startMs = simulation.nowMs
    for (const step of steps) {
      await simulation.run(startMs + step.atMs)
      room.act(step)
    }
    await room.recover()
    await checkRegistry(room)
    if (!steps.some((step) => step.do === 'forget')) return
    await room.forget()
    await checkRegistry(room)
  },
}

type Instance = { readonly process: SimulatedProcess; program: RunningProgram | undefined }

/** The registries, their broker and a user. */
export class RegistryRoom {
  readonly simulation: Simulation
  readonly broker: SimulatedBroker
  readonly user: RegistryUser
  /** Every batch that the broker stored. */
  readonly stored: StoredBatch[] = []
  readonly #instances = new Map<string, Instance>()
  #starts = 0
  /** Whether all faults have ended: a program that was stopped is started again. */
  #isRecovering = false
  /** Requests to write that are to be delayed. */
  #delays: { writes: number; readonly ms: number }[] = []
  /** What happens to the writer of a batch that is to be stored later. */
  #atWrite: { writes: number; readonly run: (writer: string) => void }[] = []

  private constructor(simulation: Simulation, broker: SimulatedBroker) {
    this.simulation = simulation
    this.broker = broker
    this.user = new RegistryUser(simulation.process('user'))
    broker.onStored = (batch) => {
      this.stored.push({ ...batch, bytes: Buffer.from(batch.bytes) })
      for (const one of this.#atWrite) if (--one.writes === 0) one.run(batch.writer)
    }
    broker.writeDelayMs = () => Math.max(0, ...this.#delays.map((one) => (--one.writes === 0 ? one.ms : 0)))
  }

  static async open(simulation: Simulation): Promise<RegistryRoom> {
    return new RegistryRoom(simulation, await SimulatedBroker.open(simulation))
  }

  isUp(name: string): boolean {
    return this.#instances.get(name)?.program !== undefined
  }

  /** The process that has this name now, distinguished from those before it. */
  lifeOf(name: string): string {
    const process = this.#instances.get(name)?.process
    return process ? `${name}#${this.#lives.get(process)}` : name
  }

  readonly #lives = new Map<SimulatedProcess, number>()

  start(name: string): void {
    if (this.#instances.get(name)?.process.isAlive) return
    const { simulation, broker } = this
    const process = simulation.process(name)
    const instance: Instance = { process, program: undefined }
    this.#instances.set(name, instance)
    this.#lives.set(process, ++this.#starts)
    const settings = registrySettings(
      Object.entries({
        listeners: `http://${name}:8081`,
        'host.name': name,
        'weir.response.profile': '8',
        'leader.read.timeout.ms': '10000',
        // These routes are not used, and take time at each start.
        'ui.enabled': 'false',
        'associations.enable': 'false',
        'brokergroup.session.timeout.ms': '6000',
        'brokergroup.heartbeat.interval.ms': '2000',
        'brokergroup.rebalance.timeout.ms': '20000',
      }).map(([key, value]) => ({ key, value, source: 'test' })) as never,
    )
    const onFailed = (error: Error) =>
      process.fail(new Violation(`${name} can no longer follow a topic: ${error.message}`))
    process.run(() =>
      startRegistry(settings, {
        broker: broker.connect(),
        logger: timelineLogger(process),
        metrics: createMetrics(),
        onFailed,
      }).then(
        (program) => {
          instance.program = program
          simulation.note(name, 'is up')
        },
        (error: unknown) => this.#ended(name, process, error),
      ),
    )
  }

  /** A program that cannot reach its broker ends, and is started again. */
  #ended(name: string, process: SimulatedProcess, error: unknown): void {
    if (!(error instanceof BrokerError && error.retriable)) {
      process.fail(error)
      return
    }
    this.simulation.note(name, `does not start: ${error.message}`)
    process.crash()
    this.simulation.schedule(this.user.process, RESTART_MS, () => this.start(name))
  }

  act(step: Step): void {
    const { simulation } = this
    const { network } = simulation
    switch (step.do) {
      case 'request': {
        const to = String(step['to'])
        this.user.send(to, this.lifeOf(to), step['request'] as RegistryRequest)
        break
      }
      case 'set-network':
        network.faults = step as unknown as NetworkFaults
        this.broker.transientErrors = Number(step['transient'])
        break
      case 'cut': {
        const [left, right] = [this.#nameOf(step['left']), this.#nameOf(step['right'])]
        if (left !== right) network.cut(left, right)
        break
      }
      case 'heal':
        network.heal()
        break
      case 'crash':
        this.#processOf(step['name'])?.crash()
        break
      case 'stop':
        this.#stop(this.#nameOf(step['name']))
        break
      case 'start-all':
        for (const name of INSTANCES) this.start(name)
        break
      case 'pause':
        this.#processOf(step['name'])?.pause(Number(step['ms']))
        break
      case 'skew':
        this.#processOf(step['name'])?.skew(Number(step['ms']))
        break
      case 'crash-at-write':
        this.#atWrite.push({ writes: Number(step['write']), run: (writer) => this.#processOf(writer)?.crash() })
        break
      case 'pause-at-write': {
        const ms = Number(step['ms'])
        this.#atWrite.push({ writes: Number(step['write']), run: (writer) => this.#processOf(writer)?.pause(ms) })
        break
      }
      case 'delay-write':
        this.#delays.push({ writes: Number(step['write']), ms: Number(step['ms']) })
        break
      case 'forget':
        break
      default:
        throw new Error(`unknown step ${step.do}`)
    }
  }

  /** Ends all faults, and waits until each instance serves writes. */
  async recover(): Promise<void> {
    const { simulation, user } = this
    this.#isRecovering = true
    this.#atWrite = []
    this.#delays = []
    simulation.network.heal()
    simulation.network.faults = NO_FAULTS
    this.broker.transientErrors = 0
    await simulation.run(simulation.nowMs + LATE_MS_MAX)
    const untilMs = simulation.nowMs + RECOVERY_MS_MAX
    for (const name of INSTANCES) this.start(name)
    for (const name of INSTANCES) {
      promise(
        await simulation.run(untilMs, () => this.isUp(name)),
        () => `${name} does not start after all faults ended`,
      )
      let served = false
      const probe = async () => {
        while (!served) {
          const { outcome } = await user.request(name, this.lifeOf(name), {
            kind: 'set-config',
            subject: 'probe',
            level: 'NONE',
          })
          served = outcome !== undefined
          if (!served) await new Promise((resolve) => setTimeout(resolve, 1_000))
        }
      }
      user.process.run(() => void probe().catch((error: unknown) => user.process.fail(error)))
      promise(await simulation.run(untilMs, () => served), () => `${name} serves no writes after all faults ended`)
    }
    promise(await simulation.run(untilMs, () => user.running === 0), () => 'requests are not answered')
  }

  /** Compaction removes all that it may, tombstones too, and every instance starts from what is left. */
  async forget(): Promise<void> {
    const { simulation, broker, user } = this
    const configs = { 'min.cleanable.dirty.ratio': '0', 'delete.retention.ms': '0' }
    broker.process.run(() => {
      for (const topic of ['_schemas', '_dek_registry_keys'])
        broker.backend.setTopicConfigs({ topic, configs }).catch((error: unknown) => broker.process.fail(error))
    })
    await simulation.run(simulation.nowMs + CLEANING_MS)
    for (const { process } of this.#instances.values()) process.crash()
    await this.recover()
    for (const [at, content] of FRESH_CONTENTS.entries()) {
      const name = INSTANCES[at]!
      user.send(name, this.lifeOf(name), { kind: 'register', subject: 'fresh', content })
    }
    promise(
      await simulation.run(simulation.nowMs + START_MS_MAX, () => user.running === 0),
      () => 'requests are not answered after a restart',
    )
  }

  #stop(name: string): void {
    const instance = this.#instances.get(name)
    const { process, program } = instance ?? {}
    if (!program || !process?.isAlive) return
    this.simulation.note(name, 'is stopped')
    instance!.program = undefined
    process.run(() =>
      program.stop().then(
        () => {
          process.crash()
          if (this.#isRecovering) this.start(name)
        },
        (error: unknown) => process.fail(error),
      ),
    )
  }

  #processOf(name: unknown): SimulatedProcess | undefined {
    return this.#instances.get(this.#nameOf(name))?.process
  }

  /** The name `leader` stands for the instance that wrote last. */
  #nameOf(name: unknown): string {
    return name === 'leader' ? (this.stored.at(-1)?.writer ?? 'r1') : String(name)
  }
}
