import { describe, expect, it, onTestFinished } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { openBroker } from '../../../src/broker/open.ts'
import { systemClock } from '../../../src/config/clock.ts'
import { silentLogger } from '../../../src/config/logger.ts'
import { createCatalog } from '../../../src/plugins/catalog.ts'
import { SHIPPED } from '../../../src/plugins/shipped.ts'
import { defineSink, type SinkTask, z } from '../../../src/sdk/index.ts'
import { TaskRunner } from '../../../src/worker/isolation/task-runner.ts'
import { countersIn } from '../../../src/worker/tasks/task-counters.ts'
import type { TaskMessage, TaskSpec } from '../../../src/worker/tasks/task-spec.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const WAIT = { timeout: 20_000 }
const STRING = 'org.apache.kafka.connect.storage.StringConverter'

describe('a sink task', () => {
  it('commits what the sink has made safe, at the latest when it is stopped', async () => {
    const broker = await openLog('a', 'b')
    const seen: unknown[] = []
    const task = startTask(broker, { put: (records) => void seen.push(...records.map(({ value }) => value)) })
    await expect.poll(() => seen, WAIT).toEqual(['a', 'b'])
    await task.stop()
    expect(await broker.groups.offsets('connect-out')).toEqual([{ topic: 'lines', partition: 0, offset: 2 }])
  })

  it('puts a batch again that the sink could not take, and loses none of it', async () => {
    const broker = await openLog('a', 'b')
    const taken: unknown[] = []
    let attempts = 0
    const task = startTask(broker, {
      put: (records) => {
        attempts += 1
        if (attempts === 1) throw Object.assign(new Error('busy'), { code: 'retriable' })
        taken.push(...records.map(({ value }) => value))
      },
    })
    await expect.poll(() => taken, WAIT).toEqual(['a', 'b'])
    expect(task.said.map(({ type }) => type)).not.toContain('failed')
    await task.stop()
  })

  it('fails without committing when the sink fails', async () => {
    const broker = await openLog('a')
    const task = startTask(broker, {
      put: () => {
        throw new Error('disk gone')
      },
    })
    await expect
      .poll(() => task.said.at(-1), WAIT)
      .toMatchObject({ type: 'failed', trace: expect.stringMatching('disk gone') })
    await task.stop()
    expect(await broker.groups.offsets('connect-out')).toEqual([])
  })

  it('goes on where a sink says that stores its offsets itself, whatever is committed', async () => {
    const broker = await openLog('a', 'b')
    // One transaction of a database: rows and how far they are.
    const database = { rows: [] as unknown[], next: 0 }
    const sink: SinkTask = {
      open: (partitions) => partitions.map((partition) => ({ ...partition, offset: database.next })),
      put: (records) => {
        database.rows.push(...records.map(({ value }) => value))
        database.next += records.length
      },
      flush: () => [],
    }
    const first = startTask(broker, sink)
    await expect.poll(() => database.rows, WAIT).toEqual(['a', 'b'])
    await first.stop()
    expect(await broker.groups.offsets('connect-out')).toEqual([])
    await write(broker, 'c')
    const second = startTask(broker, sink)
    await expect.poll(() => database.rows, WAIT).toEqual(['a', 'b', 'c'])
    await second.stop()
  })
})

async function openLog(...values: readonly string[]): Promise<Broker> {
  const broker = await openBroker({ kind: 'embedded', directory: temporaryDirectory() }, { logger: silentLogger() })
  onTestFinished(() => broker.close())
  await broker.topics.create({ name: 'lines', partitions: 1 })
  await write(broker, ...values)
  return broker
}

async function write(broker: Broker, ...values: readonly string[]): Promise<void> {
  const producer = await broker.producer()
  await producer.send(values.map((value) => ({ topic: 'lines', key: null, value: Buffer.from(value) })))
  await producer.close()
}

function startTask(broker: Broker, sink: SinkTask) {
  const own = defineSink({ class: 'Own', version: '1', summary: 'Own.', config: z.object({}), start: () => sink })
  const plugins = createCatalog([...SHIPPED, own])
  const runner = new TaskRunner({ broker, plugins, logger: silentLogger(), clock: systemClock })
  const said: TaskMessage[] = []
  const task = runner.start(SPEC, countersIn(), (message) => said.push(message))
  onTestFinished(() => task.stop())
  return { said, stop: () => task.stop() }
}

const SPEC: TaskSpec = {
  connector: 'out',
  task: 0,
  kind: 'sink',
  config: { 'connector.class': 'Own', topics: 'lines' },
  worker: {
    workerGroup: 'workers',
    converters: { 'key.converter': STRING, 'value.converter': STRING },
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
