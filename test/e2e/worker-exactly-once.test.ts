import { expect, it } from 'vitest'
import { describeOn, real } from '../env/real.ts'
import { DatagenVerifier } from '../support/datagen-verifier.ts'
import { until } from '../support/until.ts'
import { clientOf, runningTasksByWorker, WAIT, WorkerGroup } from '../support/worker-group.ts'

const kafka = await real('kafka')
const SETTINGS = {
  'session.timeout.ms': '6000',
  'heartbeat.interval.ms': '500',
  'scheduled.rebalance.max.delay.ms': '0',
  'offset.flush.interval.ms': '500',
  'exactly.once.source.support': 'enabled',
}
const TASKS = 4

describeOn([kafka], 'an exactly-once source on Kafka', () => {
  it.each(['poll', 'interval'])(
    'repeats and loses nothing, whoever is killed or stopped: boundary %s',
    async (boundary) => {
      const group = new WorkerGroup(kafka.address.bootstrap, SETTINGS)
      const [first, second, third] = await group.start(3)
      const verifier = new DatagenVerifier(kafka.address.bootstrap, {
        topic: `${group.id}-records`,
        tasks: TASKS,
        iterations: 5_000,
      })
      const config = {
        'connector.class': 'Datagen',
        ...verifier.config,
        rate: '250',
        'tasks.max': String(TASKS),
        'exactly.once.support': 'required',
        'transaction.boundary': boundary,
        'transaction.boundary.interval.ms': '200',
      }
      await clientOf(second!).create('gen', config)
      const untilAllRun = (hosts: number) =>
        until('all tasks to run', WAIT, async () => {
          const places = await runningTasksByWorker(first!, 'gen').catch(() => ({}))
          return sum(places) === TASKS && Object.keys(places).length === hosts
        })
      await untilAllRun(3)
      await second!.kill()
      await untilAllRun(2)
      // Frozen until others have its tasks: what it does when it wakes up comes too late.
      process.kill(third!.pid!, 'SIGSTOP')
      await untilAllRun(1)
      process.kill(third!.pid!, 'SIGCONT')
      await untilAllRun(2)
      // Another set of tasks shuts out the one before it.
      await clientOf(first!).putConfig('gen', { ...config, rate: '1000' })
      expect(await verifier.untilComplete(WAIT.timeoutMs)).toBe(0)
    },
  )

  it('is rejected if exactly.once.source.support is not enabled', async () => {
    const group = new WorkerGroup(kafka.address.bootstrap, { 'heartbeat.interval.ms': '500' })
    const [worker] = await group.start(1)
    const config = { 'connector.class': 'Datagen', 'kafka.topic': 't', 'exactly.once.support': 'required' }
    await expect(clientOf(worker!).create('gen', config)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('This worker does not have exactly-once source support enabled.'),
    })
  })
})

function sum(places: Readonly<Record<string, number>>): number {
  return Object.values(places).reduce((total, count) => total + count, 0)
}
