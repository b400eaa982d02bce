import { Counter, Histogram } from 'prom-client'
import type { Metrics } from '../../common/metrics-registry.ts'
import type { CompletedRequest } from '../../http/access-log.ts'
import { Meter } from './meter.ts'
import { CONFLUENT_PREFIX, mbeanMetric, PREFIXES } from './metric-names.ts'
import {
  DURATION_BUCKETS,
  REQUEST_ATTRIBUTES,
  registerCounter,
  registerGauge,
  registerMeterGauges,
} from './prometheus-gauges.ts'

/** The label value of requests that match no endpoint. */
const NO_ENDPOINT = 'none'

/** Registers the metrics of HTTP requests. The returned function is called after every response. */
export function requestMetrics(metrics: Metrics, nowMs: () => number): (request: CompletedRequest) => void {
  const succeeded = registerCounter(metrics, mbeanMetric('api_success_count'), 'Responses with a status below 400.')
  const failed = registerCounter(metrics, mbeanMetric('api_failure_count'), 'Responses with a status of 400 or more.')
  const all = new Meter(nowMs)
  const serverErrors = new Meter(nowMs)
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
    const isError = status >= 400
    ;(isError ? failed : succeeded).inc()
    all.add(ms, isError, receivedBytes, sentBytes)
    if (status >= 500) serverErrors.add(ms, true)
    endpoints.add(request)
  }
}

/** The metrics of one endpoint. They are cached because a label lookup is more expensive than an increment. */
type Endpoint = {
  /** Undefined for requests that match no endpoint. */
  readonly meter: Meter | undefined
  readonly duration: Histogram.Internal<'endpoint'>
  readonly totals: Map<number, Counter.Internal>
}

/** As in Confluent's registry, the metric families of an endpoint exist from its first request. */
class EndpointMetrics {
  readonly #metrics: Metrics
  readonly #nowMs: () => number
  readonly #total: Counter<'endpoint' | 'status'>
  readonly #duration: Histogram<'endpoint'>
  readonly #endpoints = new Map<string, Endpoint>()

  constructor(metrics: Metrics, nowMs: () => number) {
    this.#metrics = metrics
    this.#nowMs = nowMs
    this.#total = new Counter({
      name: 'weir_registry_requests_total',
      help: 'Requests by endpoint and response status.',
      labelNames: ['endpoint', 'status'],
      registers: [metrics],
    })
    this.#duration = new Histogram({
      name: 'weir_registry_request_duration_seconds',
      help: 'Durations of requests, by endpoint.',
      labelNames: ['endpoint'],
      buckets: DURATION_BUCKETS,
      registers: [metrics],
    })
  }

  add({ endpoint: name = NO_ENDPOINT, status, ms, receivedBytes, sentBytes }: CompletedRequest): void {
    const endpoint = this.#endpoints.get(name) ?? this.#register(name)
    const total = endpoint.totals.get(status) ?? this.#total.labels({ endpoint: name, status })
    endpoint.totals.set(status, total)
    total.inc()
    endpoint.duration.observe(ms / 1_000)
    endpoint.meter?.add(ms, status >= 400, receivedBytes, sentBytes)
  }

  #register(name: string): Endpoint {
    const meter = name === NO_ENDPOINT ? undefined : new Meter(this.#nowMs)
    const endpoint = { meter, duration: this.#duration.labels({ endpoint: name }), totals: new Map() }
    this.#endpoints.set(name, endpoint)
    const prefix = `${CONFLUENT_PREFIX}_jersey_metrics_${name.replace(/[^a-zA-Z0-9]+/g, '_')}`
    if (meter) registerMeterGauges(this.#metrics, prefix, meter, REQUEST_ATTRIBUTES)
    return endpoint
  }
}
