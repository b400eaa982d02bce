import { expect, it } from 'vitest'
import { describeOn, real } from '../env/real.ts'
import { DatagenVerifier } from '../support/datagen-verifier.ts'
import { until } from '../support/until.ts'
import { clientOf, polledOn, untilRunning, WAIT, WorkerGroup } from '../support/worker-group.ts'

const kafka = await real('kafka')
const SETTINGS = {
  'session.timeout.ms': '6000',
  'heartbeat.interval.ms': '500',
  'scheduled.rebalance.max.delay.ms': '2000',
  'offset.flush.interval.ms': '500',
}

describeOn([kafka], 'a group of workers on Kafka', () => {
  it('share the work; a joining or leaving worker moves as few tasks as possible', async () => {
    const group = new WorkerGroup(kafka.address.bootstrap, SETTINGS)
    const [first] = await group.start(1)
    const client = clientOf(first!)
    await client.create('gen', { ...datagen(group.id), rate: '200', 'tasks.max': '8' })
    await untilRunning(first!, 'gen', [[first!, 8]])
    await until('some records', WAIT, async () => {
      const counts = [...(await polledOn(first!, 'gen')).values()]
      return counts.length === 8 && counts.every((count) => count > 300)
    })
    const second = await group.startOne()
    await untilRunning(first!, 'gen', [
      [first!, 4],
      [second, 4],
    ])
    const stayed = await polledOn(first!, 'gen')
    expect(stayed.size).toBe(4)
    // The counters of a restarted task would have begun at 0.
    for (const count of stayed.values()) expect(count).toBeGreaterThan(300)
    await second.stop()
    await untilRunning(first!, 'gen', [[first!, 8]])
    const after = await polledOn(first!, 'gen')
    for (const [task, count] of stayed) expect(after.get(task)).toBeGreaterThanOrEqual(count)
  })

  it('run the tasks of a killed worker elsewhere after session timeout and rebalance delay', async () => {
    const group = new WorkerGroup(kafka.address.bootstrap, SETTINGS)
    const [first, second, third] = await group.start(3)
    await clientOf(first!).create('gen', { ...datagen(group.id), rate: '50', 'tasks.max': '6' })
    await untilRunning(second!, 'gen', [
      [first!, 2],
      [second!, 2],
      [third!, 2],
    ])
    await third!.kill()
    await untilRunning(second!, 'gen', [
      [first!, 3],
      [second!, 3],
    ])
  })

  it('return the same responses from every worker', async () => {
    const group = new WorkerGroup(kafka.address.bootstrap, SETTINGS)
    const workers = await group.start(3)
    for (const [at, worker] of workers.entries()) {
      const client = clientOf(worker)
      const name = `gen-${at}`
      await client.create(name, { ...datagen(group.id), rate: '1', 'tasks.max': '2' })
      // Immediately, on the worker that responded.
      expect(await client.get(name)).toMatchObject({ name, type: 'source' })
      await expect(client.create(name, datagen(group.id))).rejects.toMatchObject({ status: 409 })
    }
    for (const worker of workers) {
      await until('all tasks', WAIT, async () => {
        const all = Object.values(await clientOf(worker).list())
        return all.length === 3 && all.every(({ status }) => status?.tasks.length === 2)
      })
      for (const name of ['gen-0', 'gen-1', 'gen-2']) {
        await clientOf(worker).restart(name)
        await clientOf(worker).restartTask(name, 1)
      }
      await clientOf(worker).putConfig('gen-0', { ...datagen(group.id), rate: '2', 'tasks.max': '2' })
      await expect(clientOf(worker).restartTask('gen-0', 7)).rejects.toMatchObject({ status: 404 })
      await expect(clientOf(worker).delete('nobody')).rejects.toMatchObject({ status: 404 })
    }
    await clientOf(workers[2]!).stop('gen-1')
    await until('no tasks', WAIT, async () => (await clientOf(workers[0]!).status('gen-1')).tasks.length === 0)
    await clientOf(workers[1]!).delete('gen-1')
    await until('it to be gone', WAIT, async () => !(await clientOf(workers[0]!).list())['gen-1'])
  })

  it('accept task configurations only from workers of the group', async () => {
    const group = new WorkerGroup(kafka.address.bootstrap, SETTINGS)
    const [worker] = await group.start(1)
    await clientOf(worker!).create('gen', datagen(group.id))
    const post = (headers: Record<string, string>) =>
      fetch(`${worker!.url}/connectors/gen/tasks`, {
        method: 'POST',
        body: '[]',
        headers: { 'content-type': 'application/json', ...headers },
      })
    const algorithm = { 'x-connect-request-signature-algorithm': 'HmacSHA256' }
    const forged = { ...algorithm, 'x-connect-authorization': Buffer.alloc(32).toString('base64') }
    expect([(await post({})).status, (await post(forged)).status]).toEqual([400, 403])
  })

  it('lose no records while they are restarted one after the other under load', async () => {
    const group = new WorkerGroup(kafka.address.bootstrap, SETTINGS)
    await group.start(3)
    const verifier = new DatagenVerifier(kafka.address.bootstrap, {
      topic: `${group.id}-records`,
      tasks: 6,
      iterations: 6_000,
    })
    const config = { ...datagen(group.id), ...verifier.config, rate: '400', 'tasks.max': '6' }
    await clientOf(group.workers[0]!).create('gen', config)
    for (let at = 0; at < 3; at++) {
      const [oldest] = group.workers
      await oldest!.stop()
      group.forget(oldest!)
      await group.startOne()
      // Every worker responds while the group changes.
      for (const worker of group.workers) expect(Object.keys(await clientOf(worker).list())).toEqual(['gen'])
    }
    await verifier.untilComplete(WAIT.timeoutMs)
  })
})

function datagen(groupId: string): Record<string, string> {
  return { 'connector.class': 'Datagen', 'kafka.topic': `${groupId}-records`, rate: '10' }
}
