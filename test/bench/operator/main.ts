import { setTimeout as delay } from 'node:timers/promises'
import { openKubernetesApi } from '../../../src/clients/kubernetes/api.ts'
import { type Kubernetes, startKubernetes } from '../../env/kubernetes.ts'
import { type Program, startWeir } from '../../support/cli.ts'
import { installDefinitions } from '../../support/definitions.ts'
import { type KubeApi, kubeApi } from '../../support/kube-api.ts'
import { startRegistryProcess } from '../../support/registry-process.ts'
import { startWorkerProcess } from '../../support/worker-process.ts'
import type { Figure } from '../figures.ts'
import { cpuMs, residentMb } from '../process.ts'
import { progress, type Settings } from '../settings.ts'
import { apiCalls } from './api-calls.ts'
import { connector, objectsOf, subject } from './objects.ts'
import { Place } from './place.ts'

/** 120 s for 10,000 resources. */
const READY_MS_PER_OBJECT = 12
/** On so many cores: what the processor may do in that time, whoever else is at work. */
const CORES = 2
const MEMORY_MB = 350
const STEADY_MS = 30_000
const CALLS_PER_SECOND = 2
const CHANGES = 100
const P50_MS = 300
const P99_MS = 1_000
const STOP_MS = 30_000

type Start = {
  readonly wholeMs: number
  readonly tenthMs: number
  readonly cpuMs: number
  readonly memoryMb: number
}
type Steady = { readonly callsPerSecond: number; readonly statusWrites: number }
type Changes = { readonly p50Ms: number; readonly p99Ms: number }

/** The operator alone in its process, beside a real API server, a registry and a worker, against what it is allowed. */
export async function benchOperator(settings: Settings): Promise<readonly Figure[]> {
  const control = await startKubernetes()
  try {
    await installDefinitions(kubeApi(control))
    const starts: Start[] = []
    const rests: Steady[] = []
    const changes: Changes[] = []
    for (let round = 1; round <= settings.rounds; round++) {
      const of = `round ${round} of ${settings.rounds}`
      progress(`operator: ${settings.objects / 10} resources, ${of}`)
      const tenth = await startWith(settings, control, settings.objects / 10, `tenth-${round}`)
      await tenth.stop()
      progress(`operator: ${settings.objects} resources, ${of}`)
      const whole = await startWith(settings, control, settings.objects, `whole-${round}`)
      try {
        const memoryMb = await residentMb(whole.operator.pid)
        starts.push({ wholeMs: whole.ms, tenthMs: tenth.ms, cpuMs: whole.cpuMs, memoryMb })
        progress(`operator: nothing changes, ${of}`)
        rests.push(await measureSteady(kubeApi(control)))
        progress(`operator: ${CHANGES} changes, ${of}`)
        changes.push(await measureChanges(whole.place, settings.objects))
      } finally {
        await whole.stop()
      }
    }
    return [...startFigures(settings, starts), ...steadyFigures(rests), ...changeFigures(changes)]
  } finally {
    await control.stop()
  }
}

type World = {
  readonly ms: number
  /** Of the operator and of all that it talks to. */
  readonly cpuMs: number
  readonly operator: Program
  readonly place: Place
  stop(): Promise<void>
}

/** Everything is declared, both runtimes run and are empty: from the start of the operator until all is Ready. */
async function startWith(settings: Settings, control: Kubernetes, count: number, name: string): Promise<World> {
  const { bootstrap, nodeArgs } = settings
  const api = openKubernetesApi(control.kubeconfig)
  const place = new Place(api, `bench-${name}`)
  const log = ['--bootstrap', bootstrap]
  const registrySettings = { 'brokerstore.topic': `bench-${name}`, 'schema.registry.group.id': `bench-${name}` }
  const registry = await startRegistryProcess(log, registrySettings)
  const worker = await startWorkerProcess({ log, groupId: `bench-${name}-worker` })
  const programs: Program[] = [worker, registry]
  const stop = async () => {
    place.close()
    for (const program of [...programs]) await within(STOP_MS, program.stop())
    api.close()
  }
  try {
    await place.open()
    await place.declareAll(objectsOf(count))
    const cpuBeforeMs = await cpuMsOf([control, worker, registry])
    const startedMs = performance.now()
    const args = [
      ...['--kubeconfig', control.kubeconfig, '--namespace', place.namespace, '--lease-namespace', place.namespace],
      ...['--registry', registry.url, '--worker', worker.url],
    ]
    const operator = await startWeir(['operator', ...args], () => true, { nodeArgs })
    programs.unshift(operator)
    await place.untilAllReady(count)
    const ms = performance.now() - startedMs
    const cpuMs = (await cpuMsOf([control, worker, registry, operator])) - cpuBeforeMs
    return { ms, cpuMs, operator, place, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function cpuMsOf(programs: readonly { readonly pid: number | undefined }[]): Promise<number> {
  const spentMs = await Promise.all(programs.map(({ pid }) => cpuMs(pid)))
  return spentMs.reduce((sum, ms) => sum + ms, 0)
}

async function within(ms: number, ending: Promise<void>): Promise<void> {
  await Promise.race([ending, delay(ms, undefined, { ref: false })])
}

/** What the API server is asked while nobody wants anything. */
async function measureSteady(api: KubeApi): Promise<Steady> {
  // What the last changes brought about is over by then.
  await delay(5_000)
  const before = await apiCalls(api)
  await delay(STEADY_MS)
  const after = await apiCalls(api)
  return {
    callsPerSecond: (after.all - before.all) / (STEADY_MS / 1000),
    statusWrites: after.statusWrites - before.statusWrites,
  }
}

/** One after the other: a new version of every other Subject, and a new Connector. */
async function measureChanges(place: Place, objects: number): Promise<Changes> {
  const times: number[] = []
  for (let number = 0; number < CHANGES; number++) {
    const changed = number % 2 === 0 ? subject(number, 'added') : connector(objects + number - 1)
    times.push(await place.timeToReady(changed))
  }
  times.sort((left, right) => left - right)
  return { p50Ms: times[Math.ceil(CHANGES * 0.5) - 1]!, p99Ms: times[Math.ceil(CHANGES * 0.99) - 1]! }
}

// ── figures ─────────────────────────────────────────────────────────────────────────────────────────────────────────

function startFigures({ objects }: Settings, starts: readonly Start[]): readonly Figure[] {
  const whole = starts.map(({ wholeMs }) => wholeMs)
  return [
    atMost(`cold start, ${objects} resources`, 'ms', whole, objects * READY_MS_PER_OBJECT),
    atMost(
      'CPU of all for that',
      'ms',
      starts.map(({ cpuMs }) => cpuMs),
      objects * READY_MS_PER_OBJECT * CORES,
    ),
    {
      name: 'growth of that',
      unit: 'ms',
      ours: whole,
      against: { name: 'ten times a tenth', values: starts.map(({ tenthMs }) => tenthMs * 10) },
      aim: 1,
    },
    atMost(
      'resident memory after it',
      'MB',
      starts.map(({ memoryMb }) => memoryMb),
      MEMORY_MB,
    ),
  ]
}

function steadyFigures(rests: readonly Steady[]): readonly Figure[] {
  const calls = rests.map(({ callsPerSecond }) => callsPerSecond)
  const writes = rests.map(({ statusWrites }) => statusWrites)
  return [
    atMost('API calls while nothing changes', 'calls/s', calls, CALLS_PER_SECOND),
    { ...atMost('status writes then', 'writes', writes, 1), aim: 0 },
  ]
}

function changeFigures(changes: readonly Changes[]): readonly Figure[] {
  return [
    atMost(
      'change to Ready, p50',
      'ms',
      changes.map(({ p50Ms }) => p50Ms),
      P50_MS,
    ),
    atMost(
      'change to Ready, p99',
      'ms',
      changes.map(({ p99Ms }) => p99Ms),
      P99_MS,
    ),
  ]
}

function atMost(name: string, unit: Figure['unit'], ours: readonly number[], limit: number): Figure {
  return { name, unit, ours, against: { name: 'allowed', values: ours.map(() => limit) }, aim: 1 }
}
