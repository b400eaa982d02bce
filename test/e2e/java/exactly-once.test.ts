import { expect, it } from 'vitest'
import { describeOn, real } from '../../env/real.ts'
import { compileRecordingConnectors, hostProcesses, NUMBERS } from '../../support/recording-connectors.ts'
import { openDisposableBroker, readRecords } from '../../support/topic.ts'
import { until } from '../../support/until.ts'
import { clientOf, WAIT, WorkerGroup } from '../../support/worker-group.ts'

const kafka = await real('kafka')
const javaHost = await real('javaHost')

/** Of each ten numbers, the source commits 1 to 3 and 7 to 10, and aborts 4 to 6. */
const isCommitted = (number: number) => number % 10 < 4 || number % 10 > 6 || number % 10 === 0
const committedUpTo = (limit: number) => Array.from({ length: limit }, (_, at) => at + 1).filter(isCommitted)

function openKafka() {
  return openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': kafka.address.bootstrap } })
}

async function startExactlyOnceWorker() {
  const plugins = await compileRecordingConnectors(javaHost.address.classpath)
  const group = new WorkerGroup(kafka.address.bootstrap, {
    'exactly.once.source.support': 'enabled',
    'plugin.path': plugins.pluginPath,
    'java.host.directory': javaHost.address.directory,
    'java.host.heap.max': '96m',
    'worker.threads': '1',
    'scheduled.rebalance.max.delay.ms': '0',
  })
  const worker = await group.startOne()
  const config = {
    'connector.class': NUMBERS,
    'key.converter': 'StringConverter',
    'value.converter': 'StringConverter',
    topic: `${group.id}-numbers`,
    'topic.creation.default.partitions': '1',
    'topic.creation.default.replication.factor': '1',
    'exactly.once.support': 'required',
    'transaction.boundary': 'connector',
    transactions: 'own',
    events: plugins.file('events'),
  }
  const events = () => plugins.events('events')
  const untilEvent = (event: string) => until(event, WAIT, async () => events().includes(event))
  return { plugins, worker, config, events, untilEvent }
}

describeOn([kafka, javaHost], 'a Java source with exactly-once delivery', () => {
  it('ends its transactions where it says so, and is told of each record', async () => {
    const { worker, config, events, untilEvent } = await startExactlyOnceWorker()
    await clientOf(worker).create('numbers', { ...config, limit: '20' })
    await untilEvent('commit after 20')
    await using broker = await openKafka()
    const records = await readRecords(broker, config.topic)
    // The end of each transaction takes one offset: after 1 to 3, after the aborted 4 to 6, and after 7 to 10.
    expect(records.map(({ offset, value }) => [offset, Number(String(value))])).toEqual([
      ...[0, 1, 2].map((at) => [at, at + 1]),
      ...[8, 9, 10, 11].map((at) => [at, at - 1]),
      ...[13, 14, 15].map((at) => [at, at - 2]),
      ...[21, 22, 23, 24].map((at) => [at, at - 4]),
    ])
    const [end] = await broker.topics.offsets(config.topic, 'latest')
    expect(end?.offset).toBe(26)
    const stored = events().filter((event) => event.startsWith('record '))
    expect(stored).toEqual(
      Array.from({ length: 20 }, (_, at) =>
        isCommitted(at + 1)
          ? expect.stringMatching(`^record ${at + 1} at ${config.topic}-0@\\d+$`)
          : `record ${at + 1}`,
      ),
    )
    expect(events().filter((event) => event.startsWith('commit'))).toEqual(
      [3, 6, 10, 13, 16, 20].map((last) => `commit after ${last}`),
    )
  })

  it.each([
    ['poll', { 'transaction.boundary': 'poll' }, 20],
    ['interval', { 'transaction.boundary': 'interval', 'transaction.boundary.interval.ms': '20', 'pause.ms': '5' }, 3],
  ])('is polled after its commit() with transaction.boundary=%s', async (_, boundary, commits) => {
    const { worker, config, events, untilEvent } = await startExactlyOnceWorker()
    await clientOf(worker).create('numbers', { ...config, ...boundary, limit: '200', 'counts.returned': 'true' })
    await untilEvent('commit after 200 of 200')
    const committed = events().flatMap((event) => /^commit after (\d+) of (\d+)$/.exec(event)?.slice(1) ?? [])
    const [stored, returned] = [0, 1].map((part) => committed.filter((_, at) => at % 2 === part))
    expect(stored).toEqual(returned)
    expect(stored!.length).toBeGreaterThanOrEqual(commits)
  })

  it('loses and repeats nothing when its JVM is killed five times', async () => {
    const { plugins, worker, config, events } = await startExactlyOnceWorker()
    const limit = 600
    await clientOf(worker).create('numbers', { ...config, limit: String(limit), 'pause.ms': '50' })
    const starts = () => events().filter((event) => /^task \S* after/.test(event)).length
    for (let kills = 1; kills <= 5; kills++) {
      await until(`start ${kills}`, WAIT, async () => starts() === kills)
      const before = events().length
      await until('progress', WAIT, async () => events().length > before + 20)
      process.kill(hostProcesses(plugins.location, worker.pid)[0]!, 'SIGKILL')
    }
    // The last restart waits up to 16 s, and each ten numbers are three transactions.
    const end = `commit after ${limit}`
    await until(end, { everyMs: 50, timeoutMs: 120_000 }, async () => events().includes(end))
    expect(starts()).toBe(6)
    await using broker = await openKafka()
    const values = (await readRecords(broker, config.topic)).map(({ value }) => Number(String(value)))
    expect(values).toEqual(committedUpTo(limit))
  })
})
