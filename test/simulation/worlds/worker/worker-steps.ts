import type { SeededRandom } from '../../../support/seeded-random.ts'
import { NO_FAULTS } from '../../network.ts'
import type { SimulatedBroker } from '../../simulated-broker.ts'
import type { SimulatedProcess } from '../../simulated-process.ts'
import type { Simulation } from '../../simulation.ts'
import type { Step } from '../../world.ts'
import { CREATED } from './creations.ts'
import type { ExternalSystem } from './external-system.ts'
import type { WorkerRequest, WorkerUser } from './requests.ts'
import type { WorkerMachine } from './worker-machine.ts'

/** The parts of a history with workers. */
export type WorkerWorld = {
  readonly simulation: Simulation
  readonly broker: SimulatedBroker
  readonly system: ExternalSystem
  readonly machines: readonly WorkerMachine[]
  readonly user: WorkerUser
  readonly director: SimulatedProcess
  readonly exactlyOnce: boolean
}

export type WorkerStep = { readonly atMs: number } & (
  | { readonly do: 'setup'; readonly workers: number; readonly exactlyOnce: boolean; readonly delayMs: number }
  | { readonly do: 'request'; readonly worker: number; readonly request: WorkerRequest }
  | { readonly do: 'crash'; readonly worker: number; readonly ms: number }
  | { readonly do: 'crash-tasks'; readonly worker: number }
  | { readonly do: 'stop-worker'; readonly worker: number }
  | {
      readonly do: 'freeze'
      readonly worker: number
      readonly what: 'worker' | 'tasks' | 'machine'
      readonly ms: number
    }
  | { readonly do: 'freeze-broker'; readonly ms: number }
  | { readonly do: 'cut'; readonly worker: number; readonly from: 'broker' | number; readonly ms: number }
  | { readonly do: 'lossy-network'; readonly ms: number }
  | { readonly do: 'broker-errors'; readonly perMille: number; readonly ms: number }
  | { readonly do: 'move-clock'; readonly worker: number; readonly by: number }
)

const FIRST_MS = 3_000
const LAST_MS = 32_000

/** In this time another worker becomes the leader. */
const DEPOSED_MS = 12_000
const LAST_CREATION_MS = LAST_MS - DEPOSED_MS

const BASE = { 'connector.class': 'Rows', topic: 'rows', partitions: '3' }

/** The first steps create connectors. */
export function planWorker(random: SeededRandom): readonly Step[] {
  const workers = random.between(2, 3)
  const steps: WorkerStep[] = [
    { atMs: 0, do: 'setup', workers, exactlyOnce: random.below(2) === 0, delayMs: random.one([0, 2_000, 6_000]) },
    requestAt(1_000, random, workers, { do: 'put', connector: 'source', config: sourceConfig(random) }),
    requestAt(1_000, random, workers, { do: 'put', connector: 'sink', config: sinkConfig(random) }),
  ]
  for (let count = random.between(1, 5); count > 0; count--) steps.push(planFault(random, workers))
  for (let count = random.between(0, 4); count > 0; count--) steps.push(planRequest(random, workers))
  if (random.below(3) === 0) steps.push(...planCreations(random, workers))
  return steps.sort((left, right) => left.atMs - right.atMs)
}

function sourceConfig(random: SeededRandom): Readonly<Record<string, string>> {
  const sizes = { 'tasks.max': String(random.between(1, 3)), 'batch.size': String(random.between(1, 8)) }
  const boundary = random.below(3) === 0 && {
    'transaction.boundary': 'interval',
    'transaction.boundary.interval.ms': '2500',
  }
  return { ...BASE, ...sizes, ...boundary, 'failure.percent': random.one(['0', '3']) }
}

function sinkConfig(random: SeededRandom): Readonly<Record<string, string>> {
  const tasks = String(random.between(1, 2))
  return { 'connector.class': 'Ledger', topics: 'rows', 'tasks.max': tasks, 'failure.percent': random.one(['0', '3']) }
}

function planRequest(random: SeededRandom, workers: number): WorkerStep {
  const atMs = random.between(FIRST_MS, LAST_MS)
  const connector = random.one(['source', 'source', 'sink'])
  const request = random.one([
    'put',
    'put',
    'alter',
    'alter',
    'pause',
    'resume',
    'resume',
    'stop',
    'delete',
    'restart',
    'restart-connector',
    'restart-task',
    'reset',
    'read',
  ] as const)
  if (request === 'put') {
    const config = connector === 'source' ? sourceConfig(random) : sinkConfig(random)
    return requestAt(atMs, random, workers, { do: 'put', connector, config })
  }
  if (request === 'alter') {
    const position = random.below(40)
    return requestAt(atMs, random, workers, { do: 'alter', connector, partition: random.below(3), position })
  }
  return requestAt(atMs, random, workers, { do: request, connector })
}

/** Two users create the same connector. The worker that validates the first request may lose its leadership meanwhile. */
function planCreations(random: SeededRandom, workers: number): readonly WorkerStep[] {
  const atMs = random.between(FIRST_MS, LAST_CREATION_MS)
  const worker = random.below(workers)
  const create = (creation: string, validationMs: number): WorkerRequest => {
    const config = { 'connector.class': 'Archive', topics: 'rows', creation, 'validation.ms': String(validationMs) }
    return { do: 'create', connector: CREATED, config }
  }
  const faults: readonly WorkerStep[] = [
    { atMs: atMs + random.below(1_000), do: 'cut', worker, from: 'broker', ms: DEPOSED_MS },
    { atMs: atMs + random.below(1_000), do: 'freeze', worker, what: 'worker', ms: DEPOSED_MS },
  ]
  const fault = random.one([...faults, undefined])
  return [
    { atMs, do: 'request', worker, request: create('first', random.between(6_000, DEPOSED_MS)) },
    ...(fault ? [fault] : []),
    requestAt(atMs + random.below(DEPOSED_MS), random, workers, create('second', 0)),
  ]
}

function requestAt(atMs: number, random: SeededRandom, workers: number, request: WorkerRequest): WorkerStep {
  return { atMs, do: 'request', worker: random.below(workers), request }
}

function planFault(random: SeededRandom, workers: number): WorkerStep {
  const atMs = random.between(FIRST_MS, LAST_MS)
  const worker = random.below(workers)
  const ms = random.one([500, 2_000, 5_000, 12_000])
  switch (random.below(11)) {
    case 0:
    case 1:
      return { atMs, do: 'crash', worker, ms }
    case 2:
      return { atMs, do: 'stop-worker', worker }
    case 3:
      return { atMs, do: 'freeze', worker, what: random.one(['worker', 'tasks', 'machine']), ms }
    case 4:
      return { atMs, do: 'freeze-broker', ms: Math.min(ms, 5_000) }
    case 5:
    case 6:
      return { atMs, do: 'cut', worker, from: random.one(['broker', 'broker', (worker + 1) % workers]), ms }
    case 7:
      return { atMs, do: 'lossy-network', ms }
    case 8:
      return { atMs, do: 'crash-tasks', worker }
    case 9:
      return { atMs, do: 'broker-errors', perMille: random.one([50, 300]), ms }
    default:
      return { atMs, do: 'move-clock', worker, by: random.one([-3_600_000, -5_000, 5_000, 3_600_000]) }
  }
}

const LOSSY = { requestLost: 60, responseLost: 60, slow: 100, late: 500 }

export function carryOut(step: WorkerStep, world: WorkerWorld): void {
  const { simulation, machines, broker, user, director } = world
  const later = (ms: number, run: () => void) => simulation.schedule(director, ms, run)
  const machineOf = (number: number) => machines[number % machines.length]!
  switch (step.do) {
    case 'setup':
      break
    case 'request': {
      const urls = machines.map(({ url }) => url)
      const first = step.worker % machines.length
      user.request(step.request, [...urls.slice(first), ...urls.slice(0, first)])
      break
    }
    case 'crash':
      machineOf(step.worker).crash(step.ms)
      break
    case 'crash-tasks':
      machineOf(step.worker).crashTasks()
      break
    case 'stop-worker':
      machineOf(step.worker).stop()
      break
    case 'freeze': {
      const { worker, taskProcesses } = machineOf(step.worker)
      if (step.what !== 'tasks') worker.pause(step.ms)
      if (step.what !== 'worker') for (const process of taskProcesses) process.pause(step.ms)
      break
    }
    case 'freeze-broker':
      broker.process.pause(step.ms)
      break
    case 'cut': {
      const { name } = machineOf(step.worker)
      const other = step.from === 'broker' ? 'broker' : machineOf(step.from).name
      if (name === other) break
      simulation.network.cut(name, other)
      later(step.ms, () => simulation.network.restore(name, other))
      break
    }
    case 'lossy-network':
      simulation.note('network', 'messages are lost and late')
      simulation.network.faults = LOSSY
      later(step.ms, () => {
        simulation.note('network', 'messages arrive again')
        simulation.network.faults = NO_FAULTS
      })
      break
    case 'broker-errors':
      simulation.note('broker', `answers ${step.perMille / 10} % with an error`)
      broker.transientErrors = step.perMille
      later(step.ms, () => {
        broker.transientErrors = 0
      })
      break
    case 'move-clock': {
      const { worker, taskProcesses } = machineOf(step.worker)
      for (const process of [worker, ...taskProcesses]) process.skew(step.by)
    }
  }
}
