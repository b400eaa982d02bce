import { Counter } from 'prom-client'
import type { Metrics } from '../../common/metrics-registry.ts'
import type { CompletedRequest } from '../../http/access-log.ts'
import { DurationHistogram } from './duration-histogram.ts'
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

/** The metrics of one endpoint. Those of prom-client look up their labels each time, so only a scrape updates them. */
type Endpoint = {
  /** Undefined for requests that match no endpoint. */
  readonly meter: Meter | undefined
  readonly durations: ReturnType<DurationHistogram['of']>
  readonly totals: Map<number, number>
}

/** As in Confluent's registry, the metric families of an endpoint exist from its first request. */
class EndpointMetrics {
  readonly #metrics: Metrics
  readonly #nowMs: () => number
  readonly #durations: DurationHistogram
  readonly #endpoints = new Map<string, Endpoint>()

  constructor(metrics: Metrics, nowMs: () => number) {
    this.#metrics = metrics
    this.#nowMs = nowMs
    const endpoints = this.#endpoints
    new Counter({
      name: 'weir_registry_requests_total',
      help: 'Requests by endpoint and response status.',
      labelNames: ['endpoint', 'status'],
      registers: [metrics],
      collect() {
        this.reset()
        for (const [endpoint, { totals }] of endpoints) {
          for (const [status, total] of totals) this.inc({ endpoint, status }, total)
        }
      },
    })
    this.#durations = new DurationHistogram(
      metrics,
      'weir_registry_request_duration_seconds',
      'Durations of requests, by endpoint.',
      'endpoint',
      DURATION_BUCKETS,
    )
  }

  add({ endpoint: name = NO_ENDPOINT, status, ms, receivedBytes, sentBytes }: CompletedRequest): void {
    const endpoint = this.#endpoints.get(name) ?? this.#register(name)
    endpoint.totals.set(status, (endpoint.totals.get(status) ?? 0) + 1)
    endpoint.durations.add(ms / 1_000)
    endpoint.meter?.add(ms, status >= 400, receivedBytes, sentBytes)
  }

  #register(name: string): Endpoint {
    const meter = name === NO_ENDPOINT ? undefined : new Meter(this.#nowMs)
    const endpoint = { meter, durations: this.#durations.of(name), totals: new Map<number, number>() }
    this.#endpoints.set(name, endpoint)
    const prefix = `${CONFLUENT_PREFIX}_jersey_metrics_${name.replace(/[^a-zA-Z0-9]+/g, '_')}`
    if (meter) registerMeterGauges(this.#metrics, prefix, meter, REQUEST_ATTRIBUTES)
    return endpoint
  }
}
