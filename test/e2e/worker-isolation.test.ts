import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { describeOn, real } from '../env/real.ts'
import { expectServiceDuring } from '../support/service-during.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'
import { clientOf, polledOn, untilRunning, WAIT, WorkerGroup } from '../support/worker-group.ts'

const kafka = await real('kafka')

/** A plugin directory with one file. Its source loops forever after three records. */
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
    const group = new WorkerGroup(kafka.address.bootstrap, {
      'plugin.path': plugins,
      'worker.threads': '1',
      'worker.thread.blocked.max.ms': '4000',
    })
    const [worker] = await group.start(1)
    const client = clientOf(worker!)
    const topic = `${group.id}-records`
    await client.create('good', { 'connector.class': 'Datagen', 'kafka.topic': topic, rate: '100', 'tasks.max': '3' })
    await untilRunning(worker!, 'good', [[worker!, 3]])
    const rounds = await metric(worker!.url, 'worker_rebalance_metrics_completed_rebalances_total')
    await client.create('bad', { 'connector.class': 'Spinner', 'kafka.topic': topic })

    const hasFailed = async () => {
      const { tasks } = await client.status('bad').catch(() => ({ tasks: [] }))
      return tasks[0]?.state === 'FAILED'
    }
    await expectServiceDuring(`${worker!.url}/`, () => until('it to fail', WAIT, hasFailed))
    const [task] = (await client.status('bad')).tasks
    expect(task?.trace).toMatch(
      /^task bad-0 blocked its thread for more than 4000 ms; stack of its thread:\n +at spinForEver .*spinner\.ts/,
    )
    await until('its neighbours to write', WAIT, async () => {
      const counts = [...(await polledOn(worker!, 'good')).values()]
      return counts.length === 3 && counts.every((count) => count > 0)
    })
    // Only the creation of the two connectors caused rebalances; a failed thread causes none.
    const after = await metric(worker!.url, 'worker_rebalance_metrics_completed_rebalances_total')
    expect(after - rounds).toBeLessThanOrEqual(2)
  })
})

async function metric(url: string, name: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^kafka_connect_${name} (\\d+)$`, 'm').exec(metrics)?.[1])
}
