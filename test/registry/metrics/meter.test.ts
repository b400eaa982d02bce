import { expect, it } from 'vitest'
import { Meter } from '../../../src/registry/metrics/meter.ts'

const NO_FLOW = { rate: 0, average: 0 }
const NOTHING = { rate: 0, failedRate: 0, averageMs: 0, maxMs: 0, p95Ms: 0, p99Ms: 0, received: NO_FLOW, sent: NO_FLOW }

it('returns rates and latencies of the last minute, and totals since the start', () => {
  let nowMs = 0
  const meter = new Meter(() => nowMs)
  expect(meter.read()).toEqual({ total: 0, failedTotal: 0, ...NOTHING })
  for (let ms = 1; ms <= 100; ms++) {
    nowMs += 300
    meter.add(ms, ms % 10 === 0, 30, 6 * ms)
  }
  expect(meter.read()).toEqual({
    total: 100,
    failedTotal: 10,
    rate: 100 / 60,
    failedRate: 10 / 60,
    averageMs: 50.5,
    maxMs: 100,
    p95Ms: 95,
    p99Ms: 99,
    received: { rate: 50, average: 30 },
    sent: { rate: 505, average: 303 },
  })
  nowMs += 60_000
  expect(meter.read()).toEqual({ total: 100, failedTotal: 10, ...NOTHING })
})

it('computes percentiles from a bounded number of latencies', () => {
  const meter = new Meter(() => 0)
  for (let count = 0; count < 10_000; count++) meter.add(count < 9_000 ? 1_000 : 1, false)
  // The sample contains the latest latencies; the maximum covers all.
  expect(meter.read()).toMatchObject({ total: 10_000, maxMs: 1_000, p99Ms: 1 })
})
