import { Counter, Histogram } from 'prom-client'
import type { Metrics } from '../../common/metrics-registry.ts'
import type { CompletedRequest } from '../../http/access-log.ts'
import { Meter } from './meter.ts'
import { CONFLUENT_PREFIX, mbeanMetric, PREFIXES } from './metric-names.ts'
import {
  DURATION_BUCKETS,
  REQUEST_ATTRIBUTES,
  registerGauge,
  registerMeterGauges,
  registerTotal,
} from './prometheus-gauges.ts'

/** The label value of requests that match no endpoint. */
const NO_ENDPOINT = 'none'

/** Registers the metrics of HTTP requests. The returned function is called after every response. */
export function requestMetrics(metrics: Metrics, nowMs: () => number): (request: CompletedRequest) => void {
  const all = new Meter(nowMs)
  const serverErrors = new Meter(nowMs)
  registerTotal(
    metrics,
    mbeanMetric('api_success_count'),
    'Responses with a status below 400.',
    () => all.succeededTotal,
  )
  registerTotal(
    metrics,
    mbeanMetric('api_failure_count'),
    'Responses with a status of 400 or more.',
    () => all.failedTotal,
  )
  for (const prefix of PREFIXES) registerMeterGauges(metrics, `${prefix}_jersey_metrics`, all, REQUEST_ATTRIBUTES)
  registerGauge(
    metrics,
    'weir_registry_request_error_ratio',
    'Share of the requests of the last minute with a 5xx response.',
    () => {
      const { rate } = all.read()
      return rate === 0 ? 0 : serverErrors.read().rate / rate
    },
  )
  const endpoints = new EndpointMetrics(metrics, nowMs)
  return (request) => {
    const { status, ms, receivedBytes, sentBytes } = request
    all.add(ms, status >= 400, receivedBytes, sentBytes)
    if (status >= 500) serverErrors.add(ms, true)
    endpoints.add(request)
  }
}

/** As in Confluent's registry, the metric families of an endpoint exist from its first request. */
class EndpointMetrics {
  readonly #metrics: Metrics
  readonly #nowMs: () => number
  readonly #totals: Counter<'endpoint' | 'status'>
  readonly #durations: Histogram<'endpoint'>
  readonly #meters = new Map<string, Meter>()

  constructor(metrics: Metrics, nowMs: () => number) {
    this.#metrics = metrics
    this.#nowMs = nowMs
    this.#totals = new Counter({
      name: 'weir_registry_requests_total',
      help: 'Requests by endpoint and response status.',
      labelNames: ['endpoint', 'status'],
      registers: [metrics],
    })
    this.#durations = new Histogram({
      name: 'weir_registry_request_duration_seconds',
      help: 'Durations of requests, by endpoint.',
      labelNames: ['endpoint'],
      buckets: DURATION_BUCKETS,
      registers: [metrics],
    })
  }

  add({ endpoint, status, ms, receivedBytes, sentBytes }: CompletedRequest): void {
    const label = endpoint ?? NO_ENDPOINT
    this.#totals.inc({ endpoint: label, status })
    this.#durations.observe({ endpoint: label }, ms / 1_000)
    if (endpoint !== undefined) this.#meter(endpoint).add(ms, status >= 400, receivedBytes, sentBytes)
  }

  #meter(endpoint: string): Meter {
    const known = this.#meters.get(endpoint)
    if (known) return known
    const meter = new Meter(this.#nowMs)
    this.#meters.set(endpoint, meter)
    const prefix = `${CONFLUENT_PREFIX}_jersey_metrics_${endpoint.replace(/[^a-zA-Z0-9]+/g, '_')}`
    registerMeterGauges(this.#metrics, prefix, meter, REQUEST_ATTRIBUTES)
    return meter
  }
}
