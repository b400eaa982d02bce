import { expect, it } from 'vitest'
import { createMetrics } from '../../../src/common/metrics-registry.ts'
import { DurationHistogram } from '../../../src/registry/metrics/duration-histogram.ts'

it('exports cumulative buckets, the sum and the count of each label value', async () => {
  const metrics = createMetrics()
  const histogram = new DurationHistogram(metrics, 'durations_seconds', 'Durations.', 'endpoint', [0.5, 1])
  const counts = histogram.of('a')
  for (const seconds of [0.25, 0.5, 0.75, 8]) counts.add(seconds)
  histogram.of('b').add(1)
  expect(histogram.of('a')).toBe(counts)
  expect((await metrics.metrics()).trim().split('\n')).toEqual([
    '# HELP durations_seconds Durations.',
    '# TYPE durations_seconds histogram',
    'durations_seconds_bucket{endpoint="a",le="0.5"} 2',
    'durations_seconds_bucket{endpoint="a",le="1"} 3',
    'durations_seconds_bucket{endpoint="a",le="+Inf"} 4',
    'durations_seconds_sum{endpoint="a"} 9.5',
    'durations_seconds_count{endpoint="a"} 4',
    'durations_seconds_bucket{endpoint="b",le="0.5"} 0',
    'durations_seconds_bucket{endpoint="b",le="1"} 1',
    'durations_seconds_bucket{endpoint="b",le="+Inf"} 1',
    'durations_seconds_sum{endpoint="b"} 1',
    'durations_seconds_count{endpoint="b"} 1',
  ])
})
