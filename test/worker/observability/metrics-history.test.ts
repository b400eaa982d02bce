import { expect, it } from 'vitest'
import {
  MetricsHistory,
  SAMPLE_INTERVAL_MS,
  SAMPLES_MAX,
  type SampledTask,
} from '../../../src/worker/observability/metrics-history.ts'
import { countersIn, type TaskCounters } from '../../../src/worker/tasks/task-counters.ts'
import type { PartitionLag } from '../../../src/worker/tasks/task-spec.ts'
import { FakeClock } from '../../support/fake-clock.ts'

/** A task whose counters the test changes. */
function taskOf(connector: string, lags: readonly PartitionLag[] = []) {
  const counters: TaskCounters = { ...countersIn() }
  return { id: { connector }, running: { counters: () => counters }, counters, lags }
}

function start(seriesMax?: number) {
  const clock = new FakeClock()
  const history = new MetricsHistory(clock, seriesMax)
  const sample = async (...tasks: readonly SampledTask[]) => {
    await clock.advance(SAMPLE_INTERVAL_MS)
    history.sample(tasks)
  }
  return { history, sample, clock }
}

it('Rates and means apply to the time between two samples, and are sums over the tasks of a connector', async () => {
  const { history, sample, clock } = start()
  const [a, b] = [taskOf('c'), taskOf('c')]
  await sample(a, b)
  Object.assign(a.counters, { recordsIn: 100, recordsOut: 50, batches: 2, batchMsTotal: 30, latencyMsTotal: 1_000 })
  Object.assign(b.counters, { recordsIn: 100, recordsLag: 7, errors: 3, deadLetters: 2 })
  await sample(a, b)
  await sample(a, b)
  expect(history.read('c')).toEqual({
    times: [2, 1, 0].map((ago) => clock.nowMs() - ago * SAMPLE_INTERVAL_MS),
    series: {
      recordsIn: [0, 20, 0],
      recordsOut: [0, 5, 0],
      lag: [0, 7, 7],
      latencyMs: [null, 20, null],
      batchMs: [null, 15, null],
      errors: [0, 3, 0],
      deadLetters: [0, 2, 0],
    },
    lags: {},
    isIncomplete: false,
  })
  expect(history.loads(() => true)).toEqual({ c: { recordsPerSecond: 0, lag: 7, errors: 3 } })
  expect(history.loads(() => false)).toEqual({})
  expect(history.read('other')).toBeUndefined()
})

it('A task that counts from 0 again leaves a gap, not a negative rate', async () => {
  const { history, sample } = start()
  const task = taskOf('c')
  task.counters.recordsOut = 100
  await sample(task)
  task.counters.recordsOut = 40
  await sample(task)
  task.counters.recordsOut = 60
  await sample(task)
  expect(history.read('c')?.series.recordsOut).toEqual([10, null, 2])
})

it('The lag of a source is the age that it reports', async () => {
  const { history, sample } = start()
  const task = taskOf('c')
  task.counters.sourceLagMs = 1_234.5
  await sample(task)
  expect(history.read('c')?.series).toEqual({ latencyMs: [1_235] })
})

it('Lags are kept by partition, of at most 16 partitions', async () => {
  const { history, sample } = start()
  const many = Array.from({ length: 20 }, (_, at): PartitionLag => [`t-${at}`, at + 1])
  await sample(taskOf('c', [['t-19', 5]]))
  await sample(taskOf('c', many))
  await sample(taskOf('c'))
  const { lags = {} } = history.read('c') ?? {}
  expect(Object.keys(lags)).toHaveLength(16)
  expect(lags['t-19']).toEqual([5, 20, null])
})

it('The history has one hour, also of a connector whose tasks have gone', async () => {
  const { history, sample } = start()
  const task = taskOf('c')
  for (let at = 0; at < SAMPLES_MAX + 5; at++) {
    task.counters.recordsOut += 10
    await sample(task)
  }
  expect(history.read('c')?.times).toHaveLength(SAMPLES_MAX)
  expect(history.read('c')?.series.recordsOut).toEqual(new Array(SAMPLES_MAX).fill(1))
  await sample()
  expect(history.read('c')?.series.recordsOut?.slice(-2)).toEqual([1, null])
  expect(history.loads(() => true)).toEqual({})
  for (let at = 0; at < SAMPLES_MAX; at++) await sample()
  expect([history.read('c'), history.seriesCount]).toEqual([undefined, 0])
})

it('A series of zeros has no memory, and a series that has been 0 for an hour loses it', async () => {
  const { history, sample } = start()
  const task = taskOf('c')
  await sample(task)
  expect([history.read('c')?.series, history.seriesCount]).toEqual([{}, 0])
  task.counters.errors = 1
  await sample(task)
  expect(history.seriesCount).toBe(1)
  for (let at = 0; at < 2 * SAMPLES_MAX; at++) await sample(task)
  expect(history.seriesCount).toBe(0)
})

it('A connector that somebody reads gets the memory of one that nobody reads', async () => {
  const { history, sample } = start(2)
  const tasks = ['a', 'b', 'c'].map((name) => taskOf(name))
  const step = async () => {
    for (const { counters } of tasks) counters.recordsOut += 10
    await sample(...tasks)
  }
  await step()
  expect(history.read('b')).toMatchObject({ isIncomplete: false, series: { recordsOut: [1] } })
  expect(history.read('c')).toMatchObject({ isIncomplete: true, series: {} })
  await step()
  expect(history.read('c')).toMatchObject({ isIncomplete: false, series: { recordsOut: [1] } })
  expect(history.read('b')).toMatchObject({ series: { recordsOut: [1, 1] } })
  expect(history.read('a')).toMatchObject({ isIncomplete: true, series: {} })
  expect(history.seriesCount).toBeLessThanOrEqual(2)
})

it('A deleted connector is forgotten, and one of the same name begins anew', async () => {
  const { history, sample } = start()
  const task = taskOf('c')
  task.counters.recordsOut = 10
  await sample(task)
  history.delete('c')
  expect([history.read('c'), history.seriesCount]).toEqual([undefined, 0])
  const next = taskOf('c')
  next.counters.recordsOut = 20
  await sample(next)
  expect(history.read('c')?.series.recordsOut).toEqual([2])
})
