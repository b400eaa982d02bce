import { createWorkerClient } from '../../../src/clients/worker-client.ts'
import { until } from '../../support/until.ts'
import { median } from '../figures.ts'
import type { Settings } from '../settings.ts'
import type { BenchWorker, Side } from '../worker/sides.ts'
import { writeConnectors } from '../worker/written-connectors.ts'

const CONNECTORS = 1_000
const REQUESTS = 20
const WAIT = { everyMs: 50, timeoutMs: 180_000 }

/**
 * Starts a worker with stopped connectors, and measures the response time of their expanded list, which user interfaces
 * poll.
 */
export async function startWithConnectors(
  settings: Settings,
  side: Side,
  count = CONNECTORS,
): Promise<{ readonly worker: BenchWorker; readonly answerMs: number }> {
  const groupId = await writeConnectors(settings, side, count, 'STOPPED')
  const worker = await side.start({}, groupId)
  const client = createWorkerClient({ url: worker.url, timeoutMs: 60_000 })
  await until('all connectors to have a status', WAIT, async () => {
    const all = Object.values(await client.list())
    return all.filter(({ status }) => status?.connector.state === 'STOPPED').length === count
  })
  const times: number[] = []
  for (let at = 0; at < REQUESTS; at++) {
    const startMs = performance.now()
    await (await fetch(`${worker.url}/connectors?expand=info&expand=status`)).arrayBuffer()
    times.push(performance.now() - startMs)
  }
  return { worker, answerMs: median(times) }
}
