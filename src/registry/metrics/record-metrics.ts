import type { Metrics } from '../../common/metrics-registry.ts'
import { SCHEMA_TYPES } from '../../formats/load-format.ts'
import type { RegistryRecord } from '../store/registry-record.ts'
import type { ApplyResult } from '../store/registry-state.ts'
import { mbeanMetric } from './metric-names.ts'
import { registerCounter } from './prometheus-gauges.ts'

/** Called for each record that was read from the topic. `record` is undefined if it could not be decoded. */
export type OnRecord = (applied: ApplyResult | 'unreadable', record?: RegistryRecord) => void

/** Registers counters of the records in the registry's topic. */
export function recordMetrics(metrics: Metrics): OnRecord {
  const counters = {
    registered: registerCounter(metrics, mbeanMetric('registered_count'), 'Records that register a schema.'),
    deleted: registerCounter(metrics, mbeanMetric('deleted_count'), 'Records that delete a schema.'),
    unreadable: registerCounter(
      metrics,
      'weir_registry_unreadable_records_total',
      'Records of the topic that could not be decoded and were skipped.',
    ),
    'id-conflict': registerCounter(
      metrics,
      'weir_registry_id_conflicts_total',
      'Records that assign another schema to an existing ID and were skipped.',
    ),
  }
  const byType = new Map(
    SCHEMA_TYPES.flatMap((type) =>
      (['created', 'deleted'] as const).map((event) => {
        const name = mbeanMetric(`${type.toLowerCase()}_schemas_${event}`)
        return [`${type} ${event}`, registerCounter(metrics, name, `${type} schemas ${event}.`)] as const
      }),
    ),
  )
  return (applied, record) => {
    if (applied === 'other') return
    counters[applied].inc()
    if (record?.kind !== 'schema' || !record.value || applied === 'id-conflict') return
    byType.get(`${record.value.content.type} ${record.value.deleted ? 'deleted' : 'created'}`)?.inc()
  }
}
