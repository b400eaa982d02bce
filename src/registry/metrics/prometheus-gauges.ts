import { Counter, Gauge } from 'prom-client'
import type { Metrics } from '../../common/metrics-registry.ts'
import type { Meter, OperationStatistics } from './meter.ts'

/** Bucket limits of duration histograms, in seconds. */
export const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

type Attributes = Readonly<Record<string, (statistics: OperationStatistics) => number>>

/** The attributes of Confluent's MBeans for operations. */
export const OPERATION_ATTRIBUTES: Attributes = {
  request_rate: ({ rate }) => rate,
  request_total: ({ total }) => total,
  request_error_rate: ({ failedRate }) => failedRate,
  request_error_total: ({ failedTotal }) => failedTotal,
  request_latency_avg: ({ averageMs }) => averageMs,
  request_latency_max: ({ maxMs }) => maxMs,
  request_latency_95: ({ p95Ms }) => p95Ms,
  request_latency_99: ({ p99Ms }) => p99Ms,
}
/** The attributes of Confluent's MBeans for HTTP requests. */
export const REQUEST_ATTRIBUTES: Attributes = {
  ...OPERATION_ATTRIBUTES,
  request_byte_rate: ({ received }) => received.rate,
  request_size_avg: ({ received }) => received.average,
  response_byte_rate: ({ sent }) => sent.rate,
  response_size_avg: ({ sent }) => sent.average,
}

/** Registers a gauge whose value is read on every scrape. */
export function registerGauge(metrics: Metrics, name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [metrics],
    collect() {
      this.set(read())
    },
  })
}

export function registerCounter(metrics: Metrics, name: string, help: string): Counter {
  return new Counter({ name, help, registers: [metrics] })
}

/** Registers a counter whose value is read on every scrape. */
export function registerTotal(metrics: Metrics, name: string, help: string, read: () => number): void {
  new Counter({
    name,
    help,
    registers: [metrics],
    collect() {
      this.reset()
      this.inc(read())
    },
  })
}

/** Registers one gauge for each attribute of a meter, named `PREFIX_ATTRIBUTE`. */
export function registerMeterGauges(metrics: Metrics, prefix: string, meter: Meter, attributes: Attributes): void {
  for (const [name, read] of Object.entries(attributes)) {
    const help = 'Rates, latencies (ms) and sizes (bytes) are those of the last minute; totals are since the start.'
    registerGauge(metrics, `${prefix}_${name}`, help, () => read(meter.read()))
  }
}
