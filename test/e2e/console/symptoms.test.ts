import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createRegistryClient } from '../../../src/clients/registry-client.ts'
import { API_VERSION } from '../../../src/common/resource-api.ts'
import { describeOn, real } from '../../env/real.ts'
import { findFromOverview, openConsole } from '../../support/console-page.ts'
import { startRegistryProcess } from '../../support/registry-process.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { openDisposableBroker } from '../../support/topic.ts'
import { until } from '../../support/until.ts'
import { startUp } from '../../support/up.ts'
import { clientOf, untilRunning, WAIT, WorkerGroup } from '../../support/worker-group.ts'
import type { WeirWorker } from '../../support/worker-process.ts'

const chromium = await real('chromium')
const kafka = await real('kafka')

const PLUGINS = join(import.meta.dirname, 'symptom-plugins.ts')

describeOn([chromium, kafka], 'symptoms in the console', () => {
  it('each cause of a failed task, a growing lag and a plugin that is not loaded are found within three clicks', async () => {
    const broken = join(temporaryDirectory(), 'broken.ts')
    writeFileSync(broken, `import 'no-such-library'`)
    const group = new WorkerGroup(kafka.address.bootstrap, {
      'plugin.path': `${PLUGINS},${broken}`,
      'worker.plugin.load.timeout.ms': '60000',
      'worker.thread.blocked.max.ms': '5000',
      'worker.thread.memory.mb': '96',
      'worker.plugin.timeout.ms': '4000',
      'worker.task.start.timeout.ms': '20000',
      'value.converter': 'StringConverter',
    })
    const [worker] = await group.start(1)
    const client = clientOf(worker!)
    const symptoms = {
      Thrower: 'the table orders does not exist',
      Spinner: 'blocked its thread for more than 5000 ms',
      Hoarder: 'exceeded the memory limit of its thread',
      NeverStarts: 'did not start within 20000 ms',
    }
    for (const name of ['Steady', ...Object.keys(symptoms)])
      await client.create(name, { 'connector.class': name, topic: group.id, topics: group.id })
    const flooded = `${group.id}-flooded`
    // So few that its lag lasts until the last of the others has failed.
    const slow = { 'connector.class': 'Slow', topics: flooded, 'consumer.override.max.poll.records': '100' }
    await client.create('Slow', slow)
    await client.create('Flood', {
      'connector.class': 'Datagen',
      'kafka.topic': flooded,
      'max.interval': '0',
      iterations: '200000',
    })
    await until('the failures', WAIT, async () => {
      const all = Object.entries(await client.list())
      const failed = all.filter(([, { status }]) => status?.tasks.some(({ state }) => state === 'FAILED'))
      return failed.length === Object.keys(symptoms).length
    })
    const page = await openConsole(chromium.address.url, worker!.url)
    for (const [name, text] of Object.entries(symptoms)) await findFromOverview(page, [name], text)
    await findFromOverview(page, [], `Plugin ${broken}`)
    await findFromOverview(page, [], /no-such-library/)
    await findFromOverview(page, [], /A partition has 1\d\d,\d\d\d records that the sink has not read/)
    await findFromOverview(page, ['Slow'], 'Lag')
    // What runs is not among what needs attention.
    await findFromOverview(page, [], '7 connectors')
    expect(await page.locator('.attention').getByText('Steady').count()).toBe(0)

    const text = JSON.stringify({ name: 'new', 'connector.class': 'NeverValidates', topic: group.id })
    const paste = () => page.getByLabel('Configuration as JSON').fill(text)
    await findFromOverview(page, ['Connectors', 'Create a connector', paste], 'did not return within')
  })

  it('tasks of a worker that left or was killed, and a deleted topic of the group, are found within three clicks', async () => {
    const group = new WorkerGroup(kafka.address.bootstrap, {
      'session.timeout.ms': '10000',
      'heartbeat.interval.ms': '500',
      'scheduled.rebalance.max.delay.ms': '240000',
    })
    const [first, second] = await group.start(2)
    const config = { 'connector.class': 'Datagen', 'kafka.topic': group.id, rate: '1', 'tasks.max': '2' }
    await clientOf(first!).create('generated', config)
    await untilRunning(first!, 'generated', [
      [first!, 1],
      [second!, 1],
    ])
    // Kafka Connect drops the last status of a task if the group has not rebalanced since its start.
    await clientOf(first!).create('other', { ...config, 'tasks.max': '1' })
    await until('the other connector', WAIT, async () => {
      const status = await clientOf(first!)
        .status('other')
        .catch(() => undefined)
      return status?.tasks[0]?.state === 'RUNNING'
    })
    // A new leader would assign the tasks at once, because it does not know the former assignment.
    const [leader, member] = (await isLeader(first!)) ? [first!, second!] : [second!, first!]
    const page = await openConsole(chromium.address.url, leader.url)
    await findFromOverview(page, ['Connectors', 'generated'], 'RUNNING')
    await member.stop()
    await findFromOverview(page, [], 'UNASSIGNED')
    await findFromOverview(page, ['generated'], 'UNASSIGNED')
    const third = await group.startOne()
    await untilRunning(leader, 'generated', [
      [leader, 1],
      [third, 1],
    ])
    await expect.poll(() => page.getByText('UNASSIGNED').count()).toBe(0)
    await findFromOverview(page, [], /^\d+ MiB$/)

    // As the kernel does when a container exceeds its memory limit.
    await findFromOverview(page, ['Connectors'], 'generated')
    await third.kill()
    await findFromOverview(page, [], 'A worker does not respond')
    await findFromOverview(page, [], 'WORKER LEFT')

    const address = { kind: 'kafka', config: { 'bootstrap.servers': kafka.address.bootstrap } } as const
    await using broker = await openDisposableBroker(address)
    await broker.topics.delete(`${group.id}-configs`)
    await findFromOverview(page, [], /the program does not respond/)
    expect(await leader.interrupt()).toBe(1)
  })

  it('a missing subject and a registry without a leader are found within three clicks', async () => {
    const name = `console-${randomUUID()}`
    const settings = { 'brokerstore.topic': `_schemas-${name}`, 'schema.registry.group.id': name }
    const log = ['--bootstrap', kafka.address.bootstrap]
    const leader = await startRegistryProcess(log, settings)
    onTestFinished(() => leader.kill())
    const follower = await startRegistryProcess(log, { ...settings, 'leader.eligibility': 'false' })
    onTestFinished(() => follower.kill())
    await createRegistryClient({ url: follower.url }).register('orders-value', { schema: '"int"' })
    const page = await openConsole(chromium.address.url, follower.url)
    await findFromOverview(page, ['Subjects'], '1 of 1')
    const search = () => page.getByRole('searchbox', { name: 'Search' }).fill('payments')
    await findFromOverview(page, ['Subjects', search], 'No subject matches.')
    await leader.stop()
    await findFromOverview(page, [], 'No instance is the leader')
  })

  it('an incompatible declared schema and a declared connector that waits or fails are found within three clicks', async () => {
    const directory = temporaryDirectory()
    const manifests = temporaryDirectory()
    const schema = (type: string) => JSON.stringify({ type: 'record', name: 'O', fields: [{ name: 'id', type }] })
    const resource = (kind: string, name: string, spec: object) =>
      writeFileSync(
        join(manifests, `${name}.yaml`),
        JSON.stringify({ apiVersion: API_VERSION, kind, metadata: { name }, spec }),
      )
    resource('Subject', 'orders-value', { schema: schema('long') })
    const file = join(directory, 'no folder/orders.txt')
    resource('Connector', 'orders-copy', { class: 'FileStreamSink', config: { topics: 'orders', file } })
    const config = { 'kafka.topic': 'payments', quickstart: 'users' }
    resource('Connector', 'payments', { class: 'Datagen', config, subjectRefs: [{ name: 'payments-value' }] })
    const up = await startUp({ manifests, directory, log: ['--data', join(directory, 'data')] })
    await up.untilLine('Subject', 'orders-value', ({ ready }) => ready === 'True')
    const page = await openConsole(chromium.address.url, await up.untilConsole())
    resource('Subject', 'orders-value', { schema: schema('string') })
    await up.untilLine('Subject', 'orders-value', ({ reason }) => reason === 'Incompatible')
    await findFromOverview(page, [], /READER_FIELD|TYPE_MISMATCH/)
    await findFromOverview(page, [/^Subject .*orders-value$/], '"type": "long"')
    await findFromOverview(page, ['orders-copy'], `cannot open '${file}'`)
    await findFromOverview(page, [], /payments-value/)
  })
})

async function isLeader({ url }: WeirWorker): Promise<boolean> {
  return /^kafka_connect_\w+_leader 1$/m.test(await (await fetch(`${url}/metrics`)).text())
}
