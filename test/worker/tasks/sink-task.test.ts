import { describe, expect, it } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { defineSink, type SinkTask, z } from '../../../src/sdk/index.ts'
import type { RawConfig } from '../../../src/worker/stores/config-codec.ts'
import type { TaskDefaults } from '../../../src/worker/tasks/task-spec.ts'
import { startTask, TASK_DEFAULTS } from '../../support/task.ts'
import { openTestLog, write } from '../../support/topic.ts'

const WAIT = { timeout: 20_000 }

describe('a sink task', () => {
  it('commits what the sink has made safe, at the latest when it is stopped', async () => {
    const broker = await openLog('a', 'b')
    const seen: unknown[] = []
    const task = startSink(broker, { put: (records) => void seen.push(...records.map(({ value }) => value)) })
    await expect.poll(() => seen, WAIT).toEqual(['a', 'b'])
    await task.stop()
    expect(await broker.groups.offsets('connect-out')).toEqual([{ topic: 'lines', partition: 0, offset: 2 }])
  })

  it('puts a batch again that the sink could not take, and loses none of it', async () => {
    const broker = await openLog('a', 'b')
    const taken: unknown[] = []
    let attempts = 0
    const task = startSink(broker, {
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
    const task = startSink(broker, {
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

  it('waits for a commit no longer than it may', async () => {
    const broker = await openLog('a')
    const open = broker.consumer.bind(broker)
    broker.consumer = async (options) => Object.assign(await open(options), { commit: () => new Promise(() => {}) })
    const seen: unknown[] = []
    const sink: SinkTask = { put: (records) => void seen.push(...records.map(({ value }) => value)) }
    const task = startSink(broker, sink, { commitIntervalMs: 1, commitTimeoutMs: 1 })
    await expect.poll(() => task.counters.commitFailures, WAIT).toBeGreaterThan(1)
    await write(broker, 'lines', 'b')
    await expect.poll(() => seen, WAIT).toEqual(['a', 'b'])
    await task.stop()
  })

  it('reads what an expression of Java matches', async () => {
    const broker = await openLog('a')
    const seen: unknown[] = []
    const sink: SinkTask = { put: (records) => void seen.push(...records.map(({ value }) => value)) }
    const task = startSink(broker, sink, {}, { 'topics.regex': '(?i)LI\\Qne\\Es' })
    await expect.poll(() => seen, WAIT).toEqual(['a'])
    await task.stop()
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
    const first = startSink(broker, sink)
    await expect.poll(() => database.rows, WAIT).toEqual(['a', 'b'])
    await first.stop()
    expect(await broker.groups.offsets('connect-out')).toEqual([])
    await write(broker, 'lines', 'c')
    const second = startSink(broker, sink)
    await expect.poll(() => database.rows, WAIT).toEqual(['a', 'b', 'c'])
    await second.stop()
  })
})

async function openLog(...values: readonly string[]): Promise<Broker> {
  const broker = await openTestLog('lines')
  await write(broker, 'lines', ...values)
  return broker
}

function startSink(broker: Broker, sink: SinkTask, worker: Partial<TaskDefaults> = {}, config?: RawConfig) {
  const own = defineSink({ class: 'Own', version: '1', summary: 'Own.', config: z.object({}), start: () => sink })
  return startTask(broker, own, config ?? { topics: 'lines' }, {
    connector: 'out',
    worker: { ...TASK_DEFAULTS, ...worker },
  })
}
