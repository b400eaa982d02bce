import { Gauge } from 'prom-client'
import type { Metrics } from '../../common/metrics-registry.ts'
import type { ConnectionChange } from '../../http/server.ts'
import { Meter } from './meter.ts'
import { CONFLUENT_PREFIX } from './metric-names.ts'
import { registerGauge } from './prometheus-gauges.ts'

/** Registers the metrics of connections. The returned function is called when one is opened or closed. */
export function connectionMetrics(metrics: Metrics, nowMs: () => number): (change: ConnectionChange) => void {
  const meters = { opened: new Meter(nowMs), closed: new Meter(nowMs) }
  const prefix = `${CONFLUENT_PREFIX}_jetty_metrics_connections`
  const active = new Gauge({ name: `${prefix}_active`, help: 'Open connections.', registers: [metrics] })
  for (const [change, meter] of Object.entries(meters)) {
    const help = `Connections ${change} per second, over the last minute.`
    registerGauge(metrics, `${prefix}_${change}_rate`, help, () => meter.read().rate)
  }
  return (change) => {
    meters[change].add(0, false)
    if (change === 'opened') active.inc()
    else active.dec()
  }
}
