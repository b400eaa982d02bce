import { setTimeout as sleep } from 'node:timers/promises'
import { occupiedMbOf } from '../../support/process-tree.ts'
import { openDisposableBroker } from '../../support/topic.ts'
import { calibrate } from '../calibration.ts'
import { besideCalibration, type Figure } from '../figures.ts'
import { progress, type Settings } from '../settings.ts'
import { sidesOn } from '../worker/sides.ts'
import { type StartedWorker, startToFirstRecord } from './first-record.ts'
import { type StartedProgram, startQuickstart, startRegistryAlone, startWorkerAlone } from './programs.ts'
import { startWithConnectors } from './stopped-connectors.ts'

/** Wait before memory is measured, so that idle processes have ended and garbage is collected. */
const SETTLED_MS = 20_000
/** Maximum of the time to readiness, relative to the time in which a Java Connect worker writes its first record. */
const START_AIM = 0.3
const FIRST_RECORD_AIM = 0.4
/** Maximum of the CPU time until a program is ready, relative to the calibration, which takes about 100 ms. */
const START_CPU_AIM = 5
/** Maxima of memory, relative to an idle Java Connect worker, or to one with the same tasks or connectors. */
const IDLE_MEMORY_AIM = 0.7
const BUSY_MEMORY_AIM = 0.75
const STOPPED_MEMORY_AIM = 0.7
const QUICKSTART_MEMORY_AIM = 1
const ANSWER_AIM = 0.5

/** Of one worker: time to the first record; memory without tasks, with 50 tasks and with 1,000 stopped connectors; time of a request. */
type WorkerStart = { firstRecordMs: number; idleMb: number; busyMb: number; stoppedMb: number; answerMs: number }
type ProgramStart = { readyMs: number; cpuMs: number; idleMb: number }
type Round = {
  readonly ours: WorkerStart
  readonly java: WorkerStart
  readonly worker: ProgramStart
  readonly registry: ProgramStart
  readonly quickstart: ProgramStart
  /** CPU time of the calibration. */
  readonly calibrationMs: number
}

/** Compares start-up time and memory of the programs with those of a Java Connect worker on the same Kafka. */
export async function benchStart(settings: Settings): Promise<readonly Figure[]> {
  const rounds: Round[] = []
  await compileCode(settings)
  for (let round = 1; round <= settings.rounds; round++) {
    progress(`start: round ${round} of ${settings.rounds}`)
    rounds.push(await measureRound(settings))
  }
  return figuresOf(rounds)
}

/** The first start after a build compiles the code of all processes for the cache of later starts, as release.test.ts does too. */
async function compileCode(settings: Settings): Promise<void> {
  await using log = await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': settings.bootstrap } })
  const { worker } = await startToFirstRecord(log, sidesOn(settings)[0])
  await worker.stop()
  for (const start of [() => startRegistryAlone(settings), () => startQuickstart()]) {
    const { program } = await start()
    await program.stop()
  }
}

/** Programs start one after the other. Then all of them are idle at the same time, until their memory is measured. */
async function measureRound(settings: Settings): Promise<Round> {
  await using running = new AsyncDisposableStack()
  const config = { 'bootstrap.servers': settings.bootstrap }
  const log = running.use(await openDisposableBroker({ kind: 'kafka', config }))
  const [weir, connect] = sidesOn(settings)
  const calibrationMs = calibrate().cpuMs
  const start = async (side: typeof weir) => {
    const started = await startToFirstRecord(log, side)
    running.defer(() => started.worker.stop())
    return started
  }
  const startProgram = async (begin: (settings: Settings) => Promise<StartedProgram>) => {
    const started = await begin(settings)
    running.defer(() => started.program.stop())
    return started
  }
  const java = await start(connect)
  const ours = await start(weir)
  const worker = await startProgram(startWorkerAlone)
  await worker.program.stop()
  const registry = await startProgram(startRegistryAlone)
  const quickstart = await startProgram(() => startQuickstart())
  progress('start: memory without tasks')
  await sleep(SETTLED_MS)
  const idle = [ours, java].map(memoryOf)
  const programs = {
    worker: { readyMs: worker.readyMs, cpuMs: worker.readyCpuMs, idleMb: idle[0]! },
    registry: programStart(registry),
    quickstart: programStart(quickstart),
  }
  progress('start: memory with 50 tasks')
  await Promise.all([registry, quickstart].map(({ program }) => program.stop()))
  for (const { startTasks } of [java, ours]) await startTasks()
  await sleep(SETTLED_MS)
  const busy = [ours, java].map(memoryOf)
  await Promise.all([ours, java].map(({ worker: one }) => one.stop()))
  progress('start: 1,000 connectors')
  const stopped: Awaited<ReturnType<typeof startWithConnectors>>[] = []
  for (const side of [weir, connect]) {
    const connectors = await startWithConnectors(settings, side)
    running.defer(() => connectors.worker.stop())
    stopped.push(connectors)
  }
  await sleep(SETTLED_MS)
  const workerStart = (started: StartedWorker, at: 0 | 1): WorkerStart => ({
    firstRecordMs: started.firstRecordMs,
    idleMb: idle[at]!,
    busyMb: busy[at]!,
    stoppedMb: occupiedMbOf(stopped[at]!.worker.pid!),
    answerMs: stopped[at]!.answerMs,
  })
  return { ours: workerStart(ours, 0), java: workerStart(java, 1), ...programs, calibrationMs }
}

function memoryOf({ worker }: StartedWorker): number {
  return occupiedMbOf(worker.pid!)
}

function programStart({ program, readyMs, readyCpuMs }: StartedProgram): ProgramStart {
  return { readyMs, cpuMs: readyCpuMs, idleMb: occupiedMbOf(program.pid!) }
}

function figuresOf(rounds: readonly Round[]): readonly Figure[] {
  const beside = (name: string, unit: 'ms' | 'MB', what: keyof WorkerStart, aim: number): Figure => ({
    name,
    unit,
    ours: rounds.map(({ ours }) => ours[what]),
    against: { name: 'Java Connect', values: rounds.map(({ java }) => java[what]) },
    aim,
  })
  const of = (program: 'worker' | 'registry' | 'quickstart', what: keyof ProgramStart) =>
    rounds.map((round) => round[program][what])
  const ready = (name: string, program: 'worker' | 'registry' | 'quickstart'): Figure[] => [
    {
      name: `${name}, start to ready`,
      unit: 'ms',
      ours: of(program, 'readyMs'),
      against: { name: 'first record of Java Connect', values: rounds.map(({ java }) => java.firstRecordMs) },
      aim: START_AIM,
    },
    besideCalibration(
      `${name}, CPU time of that`,
      of(program, 'cpuMs'),
      rounds.map(({ calibrationMs }) => calibrationMs),
      START_CPU_AIM,
    ),
  ]
  const memory = (name: string, program: 'registry' | 'quickstart', aim: number): Figure => ({
    name: `${name}, memory`,
    unit: 'MB',
    ours: of(program, 'idleMb'),
    against: { name: 'Java Connect, idle', values: rounds.map(({ java }) => java.idleMb) },
    aim,
  })
  return [
    beside('worker, start to the first record', 'ms', 'firstRecordMs', FIRST_RECORD_AIM),
    ...ready('worker', 'worker'),
    ...ready('registry', 'registry'),
    ...ready('weir up, quickstart', 'quickstart'),
    beside('worker, memory of all processes, idle', 'MB', 'idleMb', IDLE_MEMORY_AIM),
    beside('worker, memory with 50 tasks', 'MB', 'busyMb', BUSY_MEMORY_AIM),
    beside('worker, memory with 1,000 stopped connectors', 'MB', 'stoppedMb', STOPPED_MEMORY_AIM),
    memory('registry, idle', 'registry', IDLE_MEMORY_AIM),
    memory('weir up, quickstart', 'quickstart', QUICKSTART_MEMORY_AIM),
    beside('GET info and status of 1,000 connectors', 'ms', 'answerMs', ANSWER_AIM),
  ]
}
