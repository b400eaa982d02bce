import { describe, expect, it } from 'vitest'
import { ThroughputMeter } from '../../../src/cli/up/throughput.ts'
import type { Metrics } from '../../../src/common/metrics-registry.ts'

const WRITTEN = 'kafka_connect_source_task_metrics_source_record_write_total'
const POLLED = 'kafka_connect_source_task_metrics_source_record_poll_total'

describe('the throughput of a connector', () => {
  it('is the sum over its tasks, without a rate at the first sample', async () => {
    const { meter, set } = meterOf([5, 7])
    expect(await meter.read(1_000)).toEqual(new Map([['orders', { records: 12, perSecond: undefined }]]))
    set([15, 17])
    expect(await meter.read(2_000)).toEqual(new Map([['orders', { records: 32, perSecond: 20 }]]))
  })

  it('has no rate when no record moved in the last three seconds', async () => {
    const { meter, set } = meterOf([0])
    await meter.read(0)
    set([99])
    expect(await rate(meter, 250)).toBe(396)
    expect(await rate(meter, 3_000)).toBe(33)
    expect(await rate(meter, 3_250)).toBeUndefined()
  })

  it('restarts the window when the tasks are restarted or the clock is set back', async () => {
    const { meter, set } = meterOf([100])
    await meter.read(1_000)
    set([3])
    expect(await rate(meter, 2_000)).toBeUndefined()
    set([5])
    expect(await rate(meter, 3_000)).toBe(2)
    expect(await rate(meter, 3_000)).toBe(2)
    set([9])
    expect(await rate(meter, 500)).toBeUndefined()
  })
})

async function rate(meter: ThroughputMeter, nowMs: number): Promise<number | undefined> {
  return (await meter.read(nowMs)).get('orders')?.perSecond
}

/** `written`: records by task of the connector. */
function meterOf(written: readonly number[]) {
  let totals = written
  const metrics = {
    getMetricsAsJSON: async () => [
      { name: WRITTEN, values: totals.map((value) => ({ labels: { connector: 'orders' }, value })) },
      { name: POLLED, values: [{ labels: { connector: 'orders' }, value: 1_000 }] },
    ],
  }
  return {
    meter: new ThroughputMeter(metrics as unknown as Metrics),
    set: (next: readonly number[]) => {
      totals = next
    },
  }
}
