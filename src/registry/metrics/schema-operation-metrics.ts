import { Histogram } from 'prom-client'
import type { Metrics } from '../../common/metrics-registry.ts'
import type { SchemaOperation } from '../../compatibility-worker/schema-jobs.ts'
import { SCHEMA_TYPES } from '../../formats/load-format.ts'
import { Meter } from './meter.ts'
import { DURATION_BUCKETS, OPERATION_ATTRIBUTES, registerMeterGauges } from './prometheus-gauges.ts'

/** Registers the metrics of operations on schemas. The returned function is called after each operation. */
export function schemaOperationMetrics(metrics: Metrics, nowMs: () => number): (operation: SchemaOperation) => void {
  const duration = new Histogram({
    name: 'weir_registry_schema_operation_duration_seconds',
    help: 'Durations of operations on schemas, such as parsing and comparing, by schema type and operation.',
    labelNames: ['type', 'operation'] as const,
    buckets: DURATION_BUCKETS,
    registers: [metrics],
  })
  const meters = new Map(SCHEMA_TYPES.map((type) => [type, new Meter(nowMs)]))
  for (const [type, meter] of meters) {
    const prefix = `broker_schema_registry_${type.toLowerCase()}_schema_provider_metrics`
    registerMeterGauges(metrics, prefix, meter, OPERATION_ATTRIBUTES)
  }
  return ({ type, operation, ms, failed }) => {
    duration.observe({ type, operation }, ms / 1_000)
    meters.get(type)?.add(ms, failed)
  }
}
