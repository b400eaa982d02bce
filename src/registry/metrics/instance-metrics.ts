import { Gauge } from 'prom-client'
import type { Metrics } from '../../common/metrics-registry.ts'
import { mbeanMetric, PREFIXES } from './metric-names.ts'
import { registerGauge } from './prometheus-gauges.ts'

/**
 * Registers the metrics of this instance and its role. The returned function records how long the instance took to
 * become the leader, in milliseconds.
 */
export function instanceMetrics(metrics: Metrics, isLeader: () => boolean): (electionMs: number) => void {
  for (const prefix of PREFIXES) {
    const help = 'Role of this instance: 1 for the leader, 0 for a follower.'
    registerGauge(metrics, `${prefix}_master_slave_role`, help, () => (isLeader() ? 1 : 0))
  }
  const nodes = '1 for each instance; the sum over all instances is their number.'
  registerGauge(metrics, mbeanMetric('node_count'), nodes, () => 1)
  const providers = 'Schema types in addition to AVRO, JSON and PROTOBUF; always 0.'
  registerGauge(metrics, mbeanMetric('custom_schema_provider_count'), providers, () => 0)
  const latency = new Gauge({
    name: mbeanMetric('leader_initialization_latency'),
    help: 'Time that this instance took to become the leader, in ms.',
    registers: [metrics],
  })
  return (electionMs) => latency.set(electionMs)
}
