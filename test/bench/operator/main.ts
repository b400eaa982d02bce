import { setTimeout as delay } from 'node:timers/promises'
import { type Kubernetes, startKubernetes } from '../../env/kubernetes.ts'
import { installCrds } from '../../support/crds.ts'
import { kubeApi } from '../../support/kube-api.ts'
import { type Calibration, calibrate } from '../calibration.ts'
import { atMost, besideCalibration, type Figure } from '../figures.ts'
import { residentMb } from '../process.ts'
import { progress, type Settings } from '../settings.ts'
import { countOf, perObject } from './calls.ts'
import { CHANGES, type ChangeTimes, measureChanges, untilEventsAreSent } from './changes.ts'
import { benchSlowRuntimes } from './slow-runtimes.ts'
import { type Spent, seconds, startWorld, type World } from './world.ts'

/** Maxima relative to the calibration, which takes about 100 ms. All resources are Ready after 120 s for 10,000 of them. */
const READY_AIM_PER_OBJECT = 0.12
/** Number of cores for which the maximum of CPU time is calculated. */
const CORES = 2
const P50_AIM = 3
const P99_AIM = 10
/** Allowed memory of the operator by the number of resources. */
const MEMORY_MB = [
  { objects: 10_000, limit: 350 },
  { objects: 50_000, limit: 1_200 },
] as const
const STEADY_MS = 30_000
const CALLS_PER_SECOND = 2

type Start = {
  readonly wholeMs: number
  readonly tenthMs: number
  readonly cpuMs: number
  readonly memoryMb: number
  readonly calibration: Calibration
}
type Steady = { readonly callsPerSecond: number; readonly statusWrites: number }

/** Compares an operator, with a real API server, a registry and a worker, with its allowed resource usage. */
export async function benchOperator(settings: Settings): Promise<readonly Figure[]> {
  const control = await startKubernetes()
  try {
    await installCrds(kubeApi(control))
    const starts: Start[] = []
    const rests: Steady[] = []
    const changes: (ChangeTimes & { readonly calibrationMs: number })[] = []
    for (let round = 1; round <= settings.rounds; round++) {
      const of = `round ${round} of ${settings.rounds}`
      const tenth = await worldOf(settings, control, settings.objects / 10, `tenth-${round}`)
      await tenth.stop()
      const whole = await worldOf(settings, control, settings.objects, `whole-${round}`)
      try {
        const memoryMb = await residentMb(whole.operator.pid)
        const { ms: wholeMs, cpu } = whole.start
        starts.push({ wholeMs, tenthMs: tenth.start.ms, cpuMs: sumOf(cpu), memoryMb, calibration: calibrate() })
        progress(`operator: nothing changes, ${of}`)
        rests.push(await measureSteady(whole))
        progress(`operator: ${CHANGES} changes, ${of}`)
        changes.push({ calibrationMs: calibrate().wallMs, ...(await measureChanges(whole.place, settings.objects)) })
      } finally {
        await whole.stop()
      }
    }
    const besideSlow = settings.isQuick ? [] : await benchSlowRuntimes(settings, control)
    return [...startFigures(settings, starts), ...steadyFigures(rests), ...changeFigures(changes), ...besideSlow]
  } finally {
    await control.stop()
  }
}

async function worldOf(settings: Settings, control: Kubernetes, count: number, name: string): Promise<World> {
  progress(`operator: ${count} resources (${name})`)
  const world = await startWorld(settings, control, count, name)
  const { cpu, api, runtimes } = world.start
  progress(`  CPU: ${cpuIn(world.start)}; ${(sumOf(cpu) / count).toFixed(1)} ms a resource`)
  progress(`  calls of the API server for a resource: ${perObject(api, count)}`)
  progress(`  calls of the runtimes for a resource: ${perObject(runtimes, count)}`)
  return world
}

function cpuIn({ cpu }: Spent): string {
  return Object.entries(cpu)
    .map(([part, ms]) => `${part} ${seconds(ms)}`)
    .join(', ')
}

function sumOf(cpu: Spent['cpu']): number {
  return Object.values(cpu).reduce((sum, ms) => sum + ms, 0)
}

/** Measures CPU time and calls while no resource changes. */
async function measureSteady(world: World): Promise<Steady> {
  await untilEventsAreSent(world)
  const spent = await world.spending()
  await delay(STEADY_MS)
  const rest = await spent()
  progress(`  CPU in ${seconds(rest.ms)}: ${cpuIn(rest)}; calls of the runtimes: ${countOf(rest.runtimes)}`)
  return {
    callsPerSecond: countOf(rest.api) / (rest.ms / 1_000),
    statusWrites: countOf(rest.api, /\/status$/),
  }
}

// ── figures ─────────────────────────────────────────────────────────────────────────────────────────────────────────

function startFigures({ objects }: Settings, starts: readonly Start[]): readonly Figure[] {
  const whole = starts.map(({ wholeMs }) => wholeMs)
  return [
    besideCalibration(
      `cold start, ${objects} resources`,
      whole,
      starts.map(({ calibration }) => calibration.wallMs),
      objects * READY_AIM_PER_OBJECT,
    ),
    besideCalibration(
      'CPU of all for that',
      starts.map(({ cpuMs }) => cpuMs),
      starts.map(({ calibration }) => calibration.cpuMs),
      objects * READY_AIM_PER_OBJECT * CORES,
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
      (MEMORY_MB.find((one) => objects <= one.objects) ?? MEMORY_MB[1]).limit,
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

function changeFigures(changes: readonly (ChangeTimes & { readonly calibrationMs: number })[]): readonly Figure[] {
  const calibrationMs = changes.map((change) => change.calibrationMs)
  const figure = (percentile: string, what: keyof ChangeTimes, aim: number) =>
    besideCalibration(
      `change to Ready, ${percentile}`,
      changes.map((change) => change[what]),
      calibrationMs,
      aim,
    )
  return [figure('p50', 'p50Ms', P50_AIM), figure('p99', 'p99Ms', P99_AIM)]
}
