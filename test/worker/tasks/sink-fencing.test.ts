import { expect, it, onTestFinished } from 'vitest'
import { createBroker } from '../../../src/broker/client.ts'
import { openEmbeddedHome } from '../../../src/broker/embedded/home.ts'
import { systemClock } from '../../../src/config/clock.ts'
import { silentLogger } from '../../../src/config/logger.ts'
import { createCatalog } from '../../../src/plugins/catalog.ts'
import { shippedCatalog } from '../../../src/plugins/shipped.ts'
import { defineSink, z } from '../../../src/sdk/index.ts'
import { TaskRunner } from '../../../src/worker/isolation/task-runner.ts'
import { countersIn } from '../../../src/worker/tasks/task-counters.ts'
import type { TaskMessage, TaskSpec } from '../../../src/worker/tasks/task-spec.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const HEARTBEAT_MS = 3_000
const WAIT = { timeout: 10_000 }

it('ends a sink task that was started anew elsewhere, and leaves the group to its successor', async () => {
  const { broker, beats } = await openBroker()
  const older = startTask(broker)
  await broker.topics.create({ name: 'lines', partitions: 1 })
  await write(broker, 'a')
  await expect.poll(() => older.seen, WAIT).toEqual(['a'])
  const newer = startTask(broker)
  await expect.poll(() => newer.seen, WAIT).toEqual(['a']) // Nothing was committed yet.
  await beats.advance(HEARTBEAT_MS)
  await expect.poll(() => older.said.at(-1), WAIT).toMatchObject({ type: 'failed' })
  await write(broker, 'b')
  await expect.poll(() => newer.seen, WAIT).toEqual(['a', 'b'])
  expect(older.seen).toEqual(['a'])
  expect((await broker.groups.describe('connect-out')).members).toMatchObject([{ instanceId: 'workers-out-0' }])
  await newer.stop()
  expect(await broker.groups.describe('connect-out')).toMatchObject({ state: 'empty', members: [] })
  expect(await broker.groups.offsets('connect-out')).toEqual([{ topic: 'lines', partition: 0, offset: 2 }])
})

type Log = Awaited<ReturnType<typeof openBroker>>['broker']

async function openBroker() {
  const logger = silentLogger()
  const beats = new FakeClock()
  const home = await openEmbeddedHome(':memory:', { logger })
  const address = () => Promise.reject(new Error('it has no address'))
  const broker = createBroker(home, { logger, clock: beats, address })
  onTestFinished(() => broker.close())
  return { broker, beats }
}

function startTask(broker: Log) {
  const seen: unknown[] = []
  const said: TaskMessage[] = []
  const sink = defineSink({
    class: 'Seen',
    version: '1',
    summary: 'Keeps what it sees.',
    config: z.object({}),
    start: () => ({ put: (records) => void seen.push(...records.map(({ value }) => value)) }),
  })
  const shipped = shippedCatalog()
  const own = createCatalog([sink])
  const plugins = {
    ...shipped,
    find: ((kind, name) => own.find(kind, name) ?? shipped.find(kind, name)) as typeof own.find,
  }
  const runner = new TaskRunner({ broker, plugins, logger: silentLogger(), clock: systemClock })
  const running = runner.start(SPEC, countersIn(), (message) => said.push(message))
  onTestFinished(() => running.stop())
  return { seen, said, stop: () => running.stop() }
}

async function write(broker: Log, value: string): Promise<void> {
  const producer = await broker.producer()
  await producer.send([{ topic: 'lines', key: null, value: Buffer.from(value) }])
  await producer.close()
}

const SPEC: TaskSpec = {
  connector: 'out',
  task: 0,
  kind: 'sink',
  config: { 'connector.class': 'Seen', topics: 'lines' },
  worker: {
    workerGroup: 'workers',
    converters: {
      'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
      'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
    },
    clients: {},
    offsetsTopic: 'offsets',
    commitIntervalMs: 60_000,
    commitTimeoutMs: 5_000,
    createTopics: true,
    trackTopics: false,
  },
  paused: false,
  offsets: [],
}
