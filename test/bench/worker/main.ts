import type { Figure } from '../figures.ts'
import { progress, type Settings } from '../settings.ts'
import { benchPipe } from './pipe.ts'
import { measureRebalance, type Rebalance } from './rebalance.ts'
import { sidesOn } from './sides.ts'

const AIM = 0.75

/** Compares the rates of the worker, and the time of its rebalances, with a Java Connect worker on the same Kafka. */
export async function benchWorker(settings: Settings): Promise<readonly Figure[]> {
  const pipes = await benchPipe(settings)
  const [weir, connect] = sidesOn(settings)
  const runs = { ours: [] as Rebalance[], java: [] as Rebalance[] }
  for (let round = 1; round <= settings.rounds; round++) {
    progress(`worker: 500 tasks, round ${round} of ${settings.rounds}`)
    runs.java.push(await measureRebalance(settings, connect))
    runs.ours.push(await measureRebalance(settings, weir))
  }
  const figure = (name: string, what: keyof Rebalance): Figure => ({
    name,
    unit: 'ms',
    ours: runs.ours.map((run) => run[what]),
    against: { name: 'Java Connect', values: runs.java.map((run) => run[what]) },
    aim: AIM,
  })
  return [...pipes, figure('500 tasks, a worker joins', 'joinMs'), figure('500 tasks, a worker leaves', 'leaveMs')]
}
