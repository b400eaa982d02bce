import { expect, it } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { defineSink, type SinkContext, type SinkTask, z } from '../../../src/sdk/index.ts'
import { describeConcurrently, poll } from '../../support/concurrent-tests.ts'
import { startTask, TASK_DEFAULTS } from '../../support/task.ts'
import { openTestBroker } from '../../support/topic.ts'

/** Members learn of a rebalance by a heartbeat. */
const WORKER = { ...TASK_DEFAULTS, clients: { 'consumer.heartbeat.interval.ms': '20' } }

describeConcurrently('a sink task in a rebalance', () => {
  it('leaves a partition that the sink has paused paused for as long as it is assigned, also across rebalances', async () => {
    const broker = await openTestBroker()
    await broker.topics.create({ name: 'lines', partitions: 2 })
    const seen: unknown[] = []
    const opened: number[] = []
    let context: SinkContext<unknown> | undefined
    const sink = (given: SinkContext<unknown>): SinkTask => {
      context = given
      return {
        open: (partitions) => void opened.push(partitions.length),
        put: (records) => void seen.push(...records.map(({ value }) => value)),
      }
    }
    startSink(broker, 0, sink)
    await poll(() => opened).toEqual([2])
    context!.setPausedPartitions([0, 1].map((partition) => ({ topic: 'lines', partition })))
    const other = startSink(broker, 1, { put: () => undefined })
    await poll(() => opened).toEqual([2, 1])
    await other.stop()
    await poll(() => opened).toEqual([2, 1, 2])
    await produceTo(broker, 0, 'of the paused partition')
    await produceTo(broker, 1, 'first')
    await produceTo(broker, 1, 'second')
    await poll(() => seen).toContain('second')
    expect(seen).toEqual(['first', 'second'])
    context!.setPausedPartitions([])
    await poll(() => seen).toContain('of the paused partition')
  })

  it('does not retry the records of partitions that were reassigned meanwhile', async () => {
    const broker = await openTestBroker()
    await broker.topics.create({ name: 'lines', partitions: 2 })
    for (const partition of [0, 1]) await produceTo(broker, partition, 'a')
    const seen: (readonly number[])[] = []
    const busy: SinkTask = {
      put: (records) => {
        seen.push(records.map(({ partition }) => partition))
        throw Object.assign(new Error('busy'), { code: 'retriable' })
      },
    }
    startSink(broker, 0, busy)
    await poll(() => seen.flat()).toContain(1)
    startSink(broker, 1, { put: () => undefined })
    await poll(async () => (await broker.groups.describe('connect-out')).members.length).toBe(2)
    await poll(() => seen.at(-1)?.length).toBeLessThan(2)
  })
})

function startSink(broker: Broker, task: number, sink: SinkTask | ((context: SinkContext<unknown>) => SinkTask)) {
  const start = typeof sink === 'function' ? sink : () => sink
  const own = defineSink({ class: 'Own', version: '1', summary: 'Own.', config: z.object({}), start })
  return startTask(broker, own, { topics: 'lines' }, { connector: 'out', task, worker: WORKER })
}

async function produceTo(broker: Broker, partition: number, value: string): Promise<void> {
  const producer = await broker.producer()
  await producer.send([{ topic: 'lines', partition, key: null, value: Buffer.from(value) }])
  await producer.close()
}
