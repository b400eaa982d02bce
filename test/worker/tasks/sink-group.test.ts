import { expect, it } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { defineSink, type SinkPosition, type SinkTask, z } from '../../../src/sdk/index.ts'
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
