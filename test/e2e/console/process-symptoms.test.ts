import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it, onTestFinished } from 'vitest'
import { startKafka } from '../../env/kafka.ts'
import { describeOn, real } from '../../env/real.ts'
import { findFromOverview, openConsole } from '../../support/console-page.ts'
import { damageSegment, segmentOf } from '../../support/damaged-segment.ts'
import { taskProcessesOf } from '../../support/process-tree.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { openDisposableBroker, produceTexts } from '../../support/topic.ts'
import { until } from '../../support/until.ts'
import { clientOf, WAIT } from '../../support/worker-group.ts'
import { startWorkerProcess } from '../../support/worker-process.ts'

const chromium = await real('chromium')
const kafka = await real('kafka')

const PLUGINS = join(import.meta.dirname, 'symptom-plugins.ts')

describeOn([chromium, kafka], "symptoms in a worker's console", () => {
  it('a killed or overloaded task process, dropped log lines, an unused class and a damaged topic are found within three clicks', async () => {
    const own = await startKafka()
    onTestFinished(() => own.stop())
    const log = ['--bootstrap', own.bootstrap]
    await using broker = await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': own.bootstrap } })
    await broker.topics.create({ name: 'orders', partitions: 1 })
    await produceTexts(broker, 'orders', 'one', 'two')
    damageSegment(segmentOf(own, 'orders-0'), ([first]) => first!)
    const copy = join(temporaryDirectory(), 'copy.ts')
    writeFileSync(copy, `export { plugins } from ${JSON.stringify(PLUGINS)}`)
    const settings = {
      'plugin.path': `${PLUGINS},${copy}`,
      'worker.plugin.load.timeout.ms': '60000',
      'worker.thread.memory.mb': '48',
      'worker.threads': '2',
      'worker.task.log.lines.per.second': '10',
      'value.converter': 'StringConverter',
    }
    const worker = await startWorkerProcess({ log, groupId: 'symptoms', settings })
    onTestFinished(() => worker.stop())
    const client = clientOf(worker)
    const create = (name: string, className: string) =>
      client.create(name, { 'connector.class': className, topic: 'values', topics: 'orders', 'tasks.max': '2' })
    const untilState = (name: string, state: string) =>
      until(`${name} to be ${state}`, WAIT, async () => {
        const status = await client.status(name).catch(() => undefined)
        return status?.tasks[0]?.state === state
      })
    const page = await openConsole(chromium.address.url, worker.url)
    const openUnused = () => page.getByText('Classes of plugin locations that are not used').click()
    await findFromOverview(page, [openUnused], `Steady 1.0.0 is in ${PLUGINS}, too`)

    // As the kernel does when a container exceeds its memory limit.
    await create('killed', 'Steady')
    await untilState('killed', 'RUNNING')
    for (const pid of taskProcessesOf(worker.pid!)) process.kill(pid, 'SIGKILL')
    await untilState('killed', 'FAILED')
    await findFromOverview(page, [], 'ended its process by SIGKILL')
    await findFromOverview(page, [], /OOMKilled/)
    await findFromOverview(page, ['killed'], 'ended its process by SIGKILL')

    await create('copy', 'Slow')
    await findFromOverview(page, [], /cannot be read: its checksum/)
    await findFromOverview(page, [], 'set its offset past the damaged batch')
    await findFromOverview(page, ['copy'], /the record batch at offset 0 of orders-0/)

    // Tasks of one connector share a process.
    await create('holders', 'Holder')
    const logOf = async (name: string) => (await fetch(`${worker.url}/ui/api/connectors/${name}/log`)).text()
    await until('one of them to move', WAIT, async () =>
      (await logOf('holders')).includes('was interrupted and is restarted'),
    )
    await findFromOverview(page, ['Connectors', 'holders', 'Log'], 'the task was interrupted and is restarted')
    await findFromOverview(page, ['Connectors', 'holders', 'Log'], /its task process was overloaded/)

    await create('chatter', 'Chatter')
    await findFromOverview(page, ['Connectors', 'chatter', 'Log'], 'log lines of a task were dropped')
  })
})
