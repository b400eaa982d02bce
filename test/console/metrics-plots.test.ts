import { expect, it } from 'vitest'
import {
  formatValue,
  type MetricsPart,
  metricsPlots,
  plotPath,
  plotSpanMs,
  plotTable,
} from '../../src/console/page/metrics-plots.ts'

const START_MS = 1_000_000_000

function part(own: Partial<MetricsPart>, times: readonly number[] = [0, 10_000, 20_000]): MetricsPart {
  return { worker: 'w', tasks: [], times: times.map((ms) => START_MS + ms), series: {}, lags: {}, ...own }
}

const plotsOf = (type: string, ...workers: readonly MetricsPart[]) => metricsPlots({ workers, missing: [] }, type)
const linesOf = (plots: ReturnType<typeof plotsOf>, title: string) =>
  plots.find((plot) => plot.title === title)?.lines.map(({ label, values }) => [label, ...values])

it('Rates of several workers are added, and of their latencies the highest is shown', () => {
  const plots = plotsOf(
    'sink',
    part({ series: { recordsOut: [1, 2, null], latencyMs: [10, null, null] } }),
    // This worker samples 3 s later.
    part({ series: { recordsOut: [5, 5, 5], latencyMs: [30, 7, null] } }, [3_000, 13_000, 23_000]),
  )
  expect(linesOf(plots, 'Throughput')).toEqual([
    ['accepted', 6, 7, 5],
    ['read from topics', 0, 0, 0],
  ])
  expect(linesOf(plots, 'Latency')).toEqual([['mean age', 30, 7, null]])
  expect(plots.map(({ title }) => title)).toEqual(['Throughput', 'Lag', 'Latency', 'Errors'])
})

it('A worker that has no sample of the last 10 s yet counts with the one before, and no longer', () => {
  const early = part({ series: { recordsOut: [5, 5] } }, [0, 10_000])
  const late = part({ series: { recordsOut: [1, 1, 1, 1] } }, [9_000, 19_000, 29_000, 39_000])
  expect(linesOf(plotsOf('source', early, late), 'Throughput')?.[0]).toEqual(['written to topics', 6, 6, 6, 1])
})

it('A source has no lag, and only durations that have values are shown', () => {
  const plots = plotsOf('source', part({ series: { batchMs: [null, 4, null], errors: [0, 1, 0] } }))
  expect(linesOf(plots, 'Mean durations')).toEqual([['poll', null, 4, null]])
  expect(linesOf(plots, 'Errors')).toEqual([
    ['failed', 0, 1, 0],
    ['dead letters', 0, 0, 0],
  ])
  expect(plots.map(({ title }) => title)).toEqual(['Throughput', 'Mean durations', 'Errors'])
})

it('The lag is that of the partitions with the highest lags', () => {
  const lags = Object.fromEntries(Array.from({ length: 7 }, (_, at) => [`t-${at}`, [at, null, 1]]))
  const [, lag] = plotsOf('sink', part({ lags }), part({ lags: { 't-0': [null, 99, null] } }))
  expect(lag?.lines.map(({ label }) => label)).toEqual(['t-0', 't-6', 't-5', 't-4', 't-3'])
  expect(lag?.lines[0]?.values).toEqual([0, 99, 1])
  expect(lag?.note).toBe('The 5 of 7 partitions with the highest lag.')
  expect(linesOf(plotsOf('sink', part({ series: { lag: [3, 4, 5] } })), 'Lag')).toEqual([['all partitions', 3, 4, 5]])
})

it('There is no plot without samples', () => {
  expect(plotsOf('sink')).toEqual([])
  expect(plotsOf('sink', { worker: 'w', tasks: [] }, part({ times: [] }))).toEqual([])
})

it('A path is interrupted where values are missing', () => {
  const times = [0, 10_000, 20_000, 60_000]
  const area = { times, endMs: 60_000, spanMs: 60_000, top: 10, width: 60, height: 10 }
  expect(plotPath([0, 5, null, 10], area)).toBe('M0.0 10.0h1L10.0 5.0M60.0 0.0h1')
  expect(plotPath([null, null, null, null], area)).toBe('')
})

it('A plot shows 5 minutes at least and an hour at most', () => {
  expect([plotSpanMs([]), plotSpanMs([0, 330_000]), plotSpanMs([0, 9_000_000])]).toEqual([300_000, 360_000, 3_600_000])
})

it('The table has the last value of each minute, the newest first', () => {
  const times = [0, 50_000, 60_000, 130_000]
  const lines = [
    { label: 'a', values: [1, 2, 3, null] },
    { label: 'b', values: [1, null, null, 4] },
  ]
  expect(plotTable({ title: '', unit: '', times, lines })).toEqual([
    { time: 120_000, values: [null, 4] },
    { time: 60_000, values: [3, null] },
    { time: 0, values: [2, 1] },
  ])
})

it('Values have three digits, or whole thousands', () => {
  expect([0, 0.01234, 12.345, 1_234.5, undefined].map(formatValue)).toEqual(['0', '0.012', '12.3', '1,235', 'no value'])
})
