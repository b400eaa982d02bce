import { createWorkerClient } from '../../../src/clients/worker-client.ts'
import { until } from '../../support/until.ts'
import type { Settings } from '../settings.ts'
import type { BenchWorker, Side } from './sides.ts'
import { writeConnectors } from './written-connectors.ts'

const TASKS = 500
const WAIT = { everyMs: 50, timeoutMs: 180_000 }
/** The tasks of a worker that leaves are reassigned immediately. */
const SETTINGS = { 'scheduled.rebalance.max.delay.ms': '0' }

export type Rebalance = { readonly joinMs: number; readonly leaveMs: number }

/** Measures the time until a second worker that joins has half of `TASKS` tasks, and until one has all again. */
export async function measureRebalance(settings: Settings, side: Side): Promise<Rebalance> {
  const groupId = await writeConnectors(settings, side, TASKS, 'STARTED')
  const first = await side.start(SETTINGS, groupId)
  try {
    await untilShared(first, [TASKS])
    const second = await side.start(SETTINGS, groupId)
    const joinedMs = performance.now()
    await untilShared(first, [TASKS / 2, TASKS / 2])
    const joinMs = performance.now() - joinedMs
    const leftMs = performance.now()
    process.kill(second.pid!, 'SIGTERM')
    await untilShared(first, [TASKS])
    const leaveMs = performance.now() - leftMs
    await second.stop()
    return { joinMs, leaveMs }
  } finally {
    await first.stop()
  }
}

/** Waits until the numbers of running tasks per worker are `wanted`. */
async function untilShared({ url }: BenchWorker, wanted: readonly number[]): Promise<void> {
  const client = createWorkerClient({ url, timeoutMs: 60_000 })
  await until(`${wanted} tasks to run`, WAIT, async () => {
    const tasks = Object.values(await client.list().catch(() => ({}))).flatMap(({ status }) => status?.tasks ?? [])
    const running = tasks.filter(({ state }) => state === 'RUNNING')
    const places = [...Map.groupBy(running, ({ worker_id }) => worker_id).values()].map(({ length }) => length)
    return places.length === wanted.length && places.every((length, at) => length === wanted[at])
  })
}
