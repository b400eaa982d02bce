import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { describeOn, real } from '../env/real.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'
import { clientOf, polledOn, untilRunning, WAIT, WorkerGroup } from '../support/worker-group.ts'

const kafka = await real('kafka')

/** As people write it: a folder with a file. It spins when it has written three records. */
const SPINNER = `
import { defineSource, z } from 'weir/sdk'

export default defineSource({
  class: 'Spinner',
  version: '1.0.0',
  summary: 'Spins.',
  config: z.object({ 'kafka.topic': z.string() }),
  async *poll({ config }) {
    for (let count = 0; count < 3; count++) {
      yield [{ topic: config['kafka.topic'], value: 'v', sourcePartition: {}, sourceOffset: { count } }]
    }
    spinForEver()
  },
})

function spinForEver() {
  for (;;) {}
}
`

describeOn([kafka], 'a worker with a task in an endless loop', () => {
  it('serves requests, keeps its group membership and its other tasks, and names the blocking task', async () => {
    const plugins = join(temporaryDirectory(), 'plugins')
    mkdirSync(plugins)
    writeFileSync(join(plugins, 'spinner.ts'), SPINNER)
    const group = new WorkerGroup(kafka.address.bootstrap, { 'plugin.path': plugins, 'worker.threads': '1' })
    const [worker] = await group.start(1)
    const client = clientOf(worker!)
    const topic = `${group.id}-records`
    await client.create('good', { 'connector.class': 'Datagen', 'kafka.topic': topic, rate: '100', 'tasks.max': '3' })
    await untilRunning(worker!, 'good', [[worker!, 3]])
    const rounds = await metric(worker!.url, 'worker_rebalance_metrics_completed_rebalances_total')
    await client.create('bad', { 'connector.class': 'Spinner', 'kafka.topic': topic })

    const answersMs: number[] = []
    await until('it to fail', WAIT, async () => {
      const startMs = performance.now()
      const { tasks } = await client.status('bad').catch(() => ({ tasks: [] }))
      answersMs.push(performance.now() - startMs)
      return tasks[0]?.state === 'FAILED'
    })
    const failedMs = performance.now()
    const [task] = (await client.status('bad')).tasks
    expect(task?.trace).toMatch(
      /^task bad-0 blocked its thread for more than 2500 ms; stack of its thread:\n +at spinForEver .*spinner\.ts/,
    )
    // Half of them at least; single ones wait for their turn on a busy machine.
    expect(answersMs.sort((a, b) => a - b)[Math.floor(answersMs.length / 2)]).toBeLessThan(100)
    await until('its neighbours to write', WAIT, async () => {
      const counts = [...(await polledOn(worker!, 'good')).values()]
      return counts.length === 3 && counts.every((count) => count > 0)
    })
    // They start again in another process, on a machine that may be busy.
    expect(performance.now() - failedMs).toBeLessThan(30_000)
    // The two connectors and their tasks came by rounds; trouble in a thread is no matter of the group's.
    const after = await metric(worker!.url, 'worker_rebalance_metrics_completed_rebalances_total')
    expect(after - rounds).toBeLessThanOrEqual(2)
  })
})

async function metric(url: string, name: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^kafka_connect_${name} (\\d+)$`, 'm').exec(metrics)?.[1])
}
