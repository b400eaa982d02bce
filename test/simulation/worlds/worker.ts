import { singleBatch } from '../../../src/broker/record-batch/batch-header.ts'
import { recordsOf } from '../../../src/broker/record-batch/record-batch.ts'
import { NO_FAULTS } from '../network.ts'
import { SimulatedBroker, type StoredBatch } from '../simulated-broker.ts'
import type { Simulation } from '../simulation.ts'
import { promise, type World } from '../world.ts'
import { Convergence } from './worker/convergence.ts'
import { Creations } from './worker/creations.ts'
import { checkDeliveries, checkOffsets } from './worker/delivery-promises.ts'
import { ExternalSystem } from './worker/external-system.ts'
import { recordingConnectors } from './worker/recording-connectors.ts'
import { WorkerUser } from './worker/requests.ts'
import { CONVERTERS } from './worker/shipped-converters.ts'
import { WorkerMachine } from './worker/worker-machine.ts'
import { carryOut, planWorker, type WorkerStep } from './worker/worker-steps.ts'

/** The longest time after the last fault until everything runs as it was requested. */
const CONVERGENCE_MS_MAX = 300_000

/** Workers of one group with sources and sinks on one broker. */
export const workerWorld: World = {
  name: 'worker',
  plan: planWorker,
  async run(simulation, steps) {
    const broker = await SimulatedBroker.open(simulation)
    await createTopics(simulation, broker)
    const system = new ExternalSystem(simulation)
    const setup = steps.find((step) => step.do === 'setup') as Extract<WorkerStep, { do: 'setup' }> | undefined
    const { workers = 2, exactlyOnce = false, delayMs = 3_000 } = setup ?? {}
    const creations = new Creations(broker)
    const plugins = [...CONVERTERS, ...recordingConnectors(system), creations.plugin]
    const settings = settingsOf(exactlyOnce, delayMs)
    const machines = Array.from(
      { length: workers },
      (_, at) => new WorkerMachine({ name: `w${at + 1}`, broker, plugins, settings }),
    )
    observeStored(broker, creations)
    const user = new WorkerUser(simulation.process('user'), system)
    const director = simulation.process('director')
    const world = { simulation, broker, system, machines, user, director, exactlyOnce }
    for (const step of steps)
      simulation.schedule(director, step.atMs, () => {
        carryOut(step as WorkerStep, world)
        checkOffsets(world).catch((error: unknown) => director.fail(error))
      })
    const endMs = Math.max(0, ...steps.map(({ atMs, ms }) => atMs + Number(ms ?? 0)))
    await simulation.run(endMs)
    simulation.network.heal()
    simulation.network.faults = NO_FAULTS
    broker.transientErrors = 0
    simulation.note('director', 'no further faults')
    simulation.schedule(director, 3_000, () => system.stopGrowing())
    const convergence = new Convergence(world)
    const converged = await simulation.run(endMs + CONVERGENCE_MS_MAX, () => convergence.isReached)
    promise(converged, () => `${CONVERGENCE_MS_MAX} ms after the last fault: ${convergence.missing}`)
    await checkOffsets(world)
    await checkDeliveries(world)
  },
}

function settingsOf(exactlyOnce: boolean, delayMs: number): Readonly<Record<string, string>> {
  const converter = 'org.apache.kafka.connect.storage.StringConverter'
  return {
    'group.id': 'workers',
    'key.converter': converter,
    'value.converter': converter,
    'session.timeout.ms': '6000',
    'heartbeat.interval.ms': '2000',
    'scheduled.rebalance.max.delay.ms': String(delayMs),
    'exactly.once.source.support': exactlyOnce ? 'enabled' : 'disabled',
    'offset.flush.interval.ms': '4000',
    'config.storage.replication.factor': '1',
    'offset.storage.replication.factor': '1',
    'offset.storage.partitions': '3',
    'status.storage.replication.factor': '1',
    'status.storage.partitions': '1',
    'worker.threads': '1',
    'ui.enabled': 'false',
    'consumer.isolation.level': 'read_committed',
    // So long a sink waits for a lost response to its request to join its group: see docs/reliability.md.
    'consumer.max.poll.interval.ms': '60000',
    'consumer.session.timeout.ms': '6000',
    'consumer.heartbeat.interval.ms': '2000',
    'consumer.fetch.max.wait.ms': '3000',
  }
}

async function createTopics(simulation: Simulation, broker: SimulatedBroker): Promise<void> {
  let isDone = false
  broker.process.run(() => {
    broker.backend.createTopic({ name: 'rows', partitions: 3 }).then(
      () => {
        isDone = true
      },
      (error: unknown) => broker.process.fail(error),
    )
  })
  await simulation.run(simulation.nowMs + 1_000, () => isDone)
}

function observeStored(broker: SimulatedBroker, creations: Creations): void {
  broker.onStored = (batch) => {
    const fail = (error: unknown) => broker.process.fail(error)
    if (batch.topic === 'connect-configs') creations.onStored(batch).catch(fail)
    if (batch.topic === 'connect-status') noteStatuses(broker, batch).catch(fail)
  }
}

/** The statuses that are stored, for the timeline. */
async function noteStatuses({ process }: SimulatedBroker, { bytes, writer }: StoredBatch): Promise<void> {
  for (const { key, value } of await recordsOf(singleBatch(bytes))) {
    const { state, worker_id: place, generation } = JSON.parse(String(value)) ?? {}
    if (state !== undefined)
      process.simulation.note(writer, `stores ${key}: ${state} on ${place} in generation ${generation}`)
  }
}
