import { expect, it } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { defineSink, RetriableError, type SinkPosition, type SinkTask, z } from '../../../src/sdk/index.ts'
import { describeConcurrently, poll } from '../../support/concurrent-tests.ts'
import { startTask, TASK_DEFAULTS } from '../../support/task.ts'
import { openTestBroker, produceTexts } from '../../support/topic.ts'

function startSink(broker: Broker, sink: SinkTask, commitIntervalMs = 60_000) {
  const own = defineSink({ class: 'Own', version: '1', summary: 'Own.', config: z.object({}), start: () => sink })
  const worker = { ...TASK_DEFAULTS, commitIntervalMs }
  return startTask(broker, own, { topics: 'lines' }, { connector: 'out', worker })
}

describeConcurrently('a sink task in its group', () => {
  it('is stopped while it waits for another one of its group, which writes its last records', async () => {
    const broker = await openTestBroker('lines')
    const busy = await broker.consumer({ groupId: 'connect-out', topics: ['lines'], heartbeatMs: 20 })
    await busy.poll(0)
    const task = startSink(broker, { put: () => undefined })
    await poll(() => task.said).toEqual([{ type: 'running' }])
    await poll(async () => (await broker.groups.describe('connect-out')).state).toBe('rebalancing')
    await task.stop()
    expect(task.said).toEqual([{ type: 'running' }])
  })

  it('commits offsets of its sink only if they skip no record and are of a partition of the task', async () => {
    const broker = await openTestBroker('lines', 'others')
    await produceTexts(broker, 'lines', 'a', 'b')
    const offers: SinkPosition[][] = [
      [
        { topic: 'lines', partition: 0, offset: 3 },
        { topic: 'others', partition: 0, offset: 1 },
      ],
      [{ topic: 'lines', partition: 0, offset: 1 }],
    ]
    const task = startSink(broker, { put: () => undefined, flush: () => offers.shift() ?? [] }, 1)
    await poll(() => offers).toEqual([])
    await task.stop()
    expect(await broker.groups.offsets('connect-out')).toEqual([{ topic: 'lines', partition: 0, offset: 1 }])
  })

  it('reads again from the last commit when its sink does not flush, and shows the error until it does', {
    tags: ['slow'],
  }, async () => {
    const broker = await openTestBroker('lines')
    await produceTexts(broker, 'lines', 'a')
    const stored: unknown[] = []
    let put: unknown[] = []
    let isFull = false
    const task = startSink(
      broker,
      {
        put: (records) => void put.push(...records.map(({ value }) => value)),
        flush: () => {
          const values = put
          put = []
          if (isFull && values.length > 0) {
            isFull = false
            throw new Error('the disk is full')
          }
          stored.push(...values)
        },
      },
      1,
    )
    await poll(() => stored).toEqual(['a'])
    isFull = true
    await produceTexts(broker, 'lines', 'b', 'c')
    await poll(() => stored).toEqual(['a', 'b', 'c'])
    await poll(async () => (await broker.groups.offsets('connect-out'))[0]?.offset).toBe(3)
    const running = { type: 'running' }
    const trace = expect.stringContaining('the disk is full')
    await poll(() => task.said).toEqual([running, { ...running, retryTrace: trace }, running])
    expect(task.counters.commitFailures).toBe(1)
    await task.stop()
  })

  it('reads again from its first record when its sink does not flush before the first commit, also a batch that was rejected', {
    tags: ['slow'],
  }, async () => {
    const broker = await openTestBroker('lines')
    await produceTexts(broker, 'lines', 'a')
    const seen: unknown[] = []
    let isRejected = false
    let flushes = 0
    const task = startSink(
      broker,
      {
        put: (records) => {
          const values = records.map(({ value }) => value)
          seen.push(...values)
          if (!values.includes('b') || flushes > 0) return
          isRejected = true
          throw new RetriableError('busy', { retryAfterMs: 60_000 })
        },
        flush: (offsets) => {
          if (!isRejected) return []
          flushes += 1
          if (flushes === 1) throw new Error('the disk is full')
          return offsets
        },
      },
      1,
    )
    await poll(() => seen).toEqual(['a'])
    await produceTexts(broker, 'lines', 'b')
    await poll(() => seen).toEqual(['a', 'b', 'a', 'b'])
    await task.stop()
    expect(await broker.groups.offsets('connect-out')).toEqual([{ topic: 'lines', partition: 0, offset: 2 }])
  })

  it('gives its sink no timestamp for a record of the log without one', async () => {
    const broker = await openTestBroker('lines')
    const producer = await broker.producer()
    const times = [-1, 0]
    await producer.send(times.map((timestampMs) => ({ topic: 'lines', key: null, value: null, timestampMs })))
    await producer.close()
    const seen: unknown[] = []
    const task = startSink(broker, { put: (records) => void seen.push(...records.map((one) => one.timestampMs)) })
    await poll(() => seen).toEqual([null, 0])
    await task.stop()
  })
})
