import type { Figure } from '../figures.ts'
import { progress, type Settings } from '../settings.ts'
import { measureAnswers, measureRebalance } from './crowd.ts'
import { measureLatency } from './latency.ts'
import { benchPipe } from './pipe.ts'
import { onBoth, type Side } from './sides.ts'
import { measureStart } from './start.ts'

type Measured = Readonly<Record<keyof typeof AIMS, number>>

/** The quantities that are measured once per side: name, unit, and maximum ratio to Java's value. */
const AIMS = {
  firstRecordMs: { name: 'start to the first record', unit: 'ms', aim: 1 / 5 },
  idleMb: { name: 'memory of all processes, idle', unit: 'MB', aim: 0.45 },
  busyMb: { name: 'memory of all processes with 50 tasks', unit: 'MB', aim: 0.45 },
  stoppedMb: { name: 'memory of all processes with 1,000 stopped connectors', unit: 'MB', aim: 0.5 },
  p99Ms: { name: 'one record, topic → file, p99', unit: 'ms', aim: 1 },
  joinMs: { name: '500 tasks, a worker joins', unit: 'ms', aim: 0.5 },
  leaveMs: { name: '500 tasks, a worker leaves', unit: 'ms', aim: 0.5 },
  answerMs: { name: 'GET info and status of 1,000 connectors', unit: 'ms', aim: 0.5 },
} as const

/** Compares the worker with a Java Connect worker on the same Kafka. Only the pipes are measured in several rounds. */
export async function benchWorker(settings: Settings): Promise<readonly Figure[]> {
  const pipes = await benchPipe(settings)
  progress('worker: latency')
  const latency = await measureLatency(settings)
  const others = await onBoth(settings, (side) => measureAll(settings, side))
  const ours: Measured = { ...latency.ours, ...others.ours }
  const java: Measured = { ...latency.java, ...others.java }
  const figures = (Object.keys(AIMS) as (keyof typeof AIMS)[]).map(
    (what): Figure => ({ ...AIMS[what], ours: [ours[what]], against: { name: 'Java Connect', values: [java[what]] } }),
  )
  return [...pipes, ...figures]
}

async function measureAll(settings: Settings, side: Side): Promise<Omit<Measured, 'p99Ms'>> {
  progress(`worker: ${side.name}, start and memory`)
  const start = await measureStart(settings, side)
  progress(`worker: ${side.name}, 500 tasks`)
  const rebalance = await measureRebalance(settings, side)
  progress(`worker: ${side.name}, 1,000 connectors`)
  return { ...start, ...rebalance, ...(await measureAnswers(settings, side)) }
}
