import { describe, expect, it, onTestFinished } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { openBroker } from '../../../src/broker/open.ts'
import { systemClock } from '../../../src/config/clock.ts'
import { silentLogger } from '../../../src/config/logger.ts'
import { createCatalog } from '../../../src/plugins/catalog.ts'
import { SHIPPED } from '../../../src/plugins/shipped.ts'
import { defineSource, RetriableError, type SourceConnector, type SourceRecord, z } from '../../../src/sdk/index.ts'
import { TaskRunner } from '../../../src/worker/isolation/task-runner.ts'
import { countersIn } from '../../../src/worker/tasks/task-counters.ts'
import type { TaskMessage, TaskSpec } from '../../../src/worker/tasks/task-spec.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const WAIT = { timeout: 20_000 }
const STRING = 'org.apache.kafka.connect.storage.StringConverter'
const CLOCK = { of: 'all' }

describe('a source task', () => {
  it('polls again what could not be polled just then, behind what it was given already', async () => {
    const broker = await openLog()
    const began: unknown[] = []
    const task = startTask(broker, async function* ({ resumeFrom, signal }) {
      let at = Number(resumeFrom(CLOCK)?.['at'] ?? 0)
      began.push(at)
      for (; at < 5; at++) {
        if (began.length <= at) throw new RetriableError('busy')
        yield [record(at)]
      }
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    })
    await expect.poll(() => valuesOf(broker), WAIT).toEqual(['0', '1', '2', '3', '4'])
    expect(began).toEqual([0, 1, 2, 3, 4])
    expect(task.counters.retries).toBe(4)
    await task.stop()
    expect(task.said.map(({ type }) => type)).toEqual(['running'])
  })

  it('stops while its source is waited for', async () => {
    const broker = await openLog()
    const task = startTask(broker, async function* () {
      yield []
      throw new RetriableError('busy')
    })
    await expect.poll(() => task.counters.retries, WAIT).toBeGreaterThan(0)
    await task.stop()
    expect(task.said.map(({ type }) => type)).toEqual(['running'])
  })

  it('fails with what its source fails with for good', async () => {
    const broker = await openLog()
    const task = startTask(broker, async function* () {
      yield [record(0)]
      throw new Error('no such table')
    })
    await expect
      .poll(() => task.said.at(-1), WAIT)
      .toMatchObject({ type: 'failed', trace: expect.stringMatching('no such table') })
    expect(await valuesOf(broker)).toEqual(['0'])
  })
})

function record(at: number): SourceRecord {
  return { topic: 'lines', value: String(at), sourcePartition: CLOCK, sourceOffset: { at: at + 1 } }
}

async function openLog(): Promise<Broker> {
  const broker = await openBroker({ kind: 'embedded', directory: temporaryDirectory() }, { logger: silentLogger() })
  onTestFinished(() => broker.close())
  await broker.topics.create({ name: 'lines', partitions: 1 })
  await broker.topics.create({ name: 'offsets', partitions: 1 })
  return broker
}

async function valuesOf(broker: Broker): Promise<readonly (string | undefined)[]> {
  const reader = broker.reader()
  reader.seek([{ topic: 'lines', partition: 0, offset: 0 }])
  const values: (string | undefined)[] = []
  const [end] = await broker.topics.offsets('lines', 'latest')
  while (values.length < (end?.offset ?? 0)) {
    const polled = await reader.poll(1_000)
    values.push(...polled.flatMap(({ records }) => records.map(({ value }) => value?.toString())))
  }
  await reader.close()
  return values
}

function startTask(broker: Broker, poll: SourceConnector['poll']) {
  const own = defineSource({ class: 'Own', version: '1', summary: 'Own.', config: z.object({}), poll })
  const plugins = createCatalog([...SHIPPED, own])
  const runner = new TaskRunner({ broker, plugins, logger: silentLogger(), clock: systemClock })
  const said: TaskMessage[] = []
  const counters = countersIn()
  const task = runner.start(SPEC, counters, (message) => said.push(message))
  onTestFinished(() => task.stop())
  return { said, counters, stop: () => task.stop() }
}

const SPEC: TaskSpec = {
  connector: 'in',
  task: 0,
  kind: 'source',
  config: { 'connector.class': 'Own', 'errors.retry.delay.max.ms': '20' },
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
