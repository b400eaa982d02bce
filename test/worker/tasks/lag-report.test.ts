import { expect, it } from 'vitest'
import { LagReport } from '../../../src/worker/tasks/lag-report.ts'
import { SinkOffsets } from '../../../src/worker/tasks/sink-offsets.ts'
import type { TaskMessage } from '../../../src/worker/tasks/task-spec.ts'
import { FakeClock } from '../../support/fake-clock.ts'

it('Lags are reported at most every 5 s, when they have changed, and those of the 16 partitions with the highest', async () => {
  const clock = new FakeClock()
  const reported: TaskMessage[] = []
  const report = new LagReport({ clock, report: (message) => reported.push(message) })
  const offsets = new SinkOffsets()
  const accept = (partition: number, lag: number) =>
    offsets.delivered([{ topic: 't', partition, records: [], nextOffset: 10, endOffset: 10 + lag }])
  report.send(offsets)
  accept(0, 5)
  await clock.advance(4_999)
  report.send(offsets)
  expect(reported).toEqual([])
  await clock.advance(1)
  report.send(offsets)
  await clock.advance(5_000)
  report.send(offsets)
  expect(reported).toEqual([{ type: 'lags', lags: [['t-0', 5]] }])
  for (let partition = 0; partition < 20; partition++) accept(partition, partition)
  await clock.advance(5_000)
  report.send(offsets)
  const [, { lags }] = reported as [unknown, { lags: readonly unknown[] }]
  expect([lags.length, lags[0]]).toEqual([16, ['t-19', 19]])
  offsets.forget(Array.from({ length: 20 }, (_, partition) => ({ topic: 't', partition })))
  await clock.advance(5_000)
  report.send(offsets)
  expect(reported.at(-1)).toEqual({ type: 'lags', lags: [] })
})
