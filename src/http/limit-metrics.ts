import { Counter } from 'prom-client'
import type { Metrics } from '../common/metrics-registry.ts'

/** Why a connection was closed or a request rejected. */
export type LimitReason =
  | 'connections'
  | 'connections_per_address'
  | 'connection_evicted'
  | 'request_timeout'
  | 'malformed_request'
  | 'body_too_large'
  | 'body_too_slow'
  | 'body_structure'
  | 'bodies_bytes'
  | 'responses_bytes'
  | 'response_stalled'

export type CountLimit = (reason: LimitReason) => void

const NAME = 'weir_http_limited_total'

/** Programs in one process share the metrics. */
export function limitCounter(metrics: Metrics | undefined): CountLimit {
  if (!metrics) return () => undefined
  const known = metrics.getSingleMetric(NAME) as Counter<'reason'> | undefined
  const counter =
    known ??
    new Counter({
      name: NAME,
      help: 'Connections closed and requests rejected because of a limit of the HTTP server.',
      labelNames: ['reason'],
      registers: [metrics],
    })
  return (reason) => counter.inc({ reason })
}
