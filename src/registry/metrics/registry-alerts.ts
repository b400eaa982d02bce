import type { AlertRule } from '../../common/monitoring.ts'

/** Alerts about the metrics of `registry-metrics.ts`. */
export const REGISTRY_ALERTS: readonly AlertRule[] = [
  {
    alert: 'WeirRegistryNoLeader',
    severity: 'critical',
    // Without any instance there is no series.
    expr: '(sum(kafka_schema_registry_master_slave_role{}) or vector(0)) != 1',
    for: '2m',
    summary: 'The registry does not have exactly one leader',
    description: '{{ $value }} replicas are leader. Without a leader, no schema can be registered.',
  },
  {
    alert: 'WeirRegistryErrors',
    severity: 'warning',
    expr: 'weir_registry_request_error_ratio{} > 0.01',
    for: '5m',
    summary: 'More than 1 % of the requests fail',
    description: '{{ $value | humanizePercentage }} of the requests of {{ $labels.instance }} got a 5xx response.',
  },
  {
    alert: 'WeirSchemaOperationsSlow',
    severity: 'warning',
    expr: 'histogram_quantile(0.95, sum by (le, type) (rate(weir_registry_schema_operation_duration_seconds_bucket{}[5m]))) > 0.1',
    for: '5m',
    summary: 'Schema operations take more than 100 ms',
    description:
      'One in twenty operations on {{ $labels.type }} schemas takes {{ $value | humanizeDuration }} or more.',
  },
  {
    alert: 'WeirRegistryCertificateEnds',
    severity: 'warning',
    expr:
      '0 < kafka_schema_registry_certificate_expiration_keystore_certificate_expiration_keystore{}' +
      ' < 1000 * (time() + 14 * 86400)',
    for: '15m',
    summary: 'The certificate of the registry expires soon',
    description: 'It expires in less than two weeks. Replace it in its Secret; the registry reloads it.',
  },
  {
    alert: 'WeirRegistryLeaderChanged',
    severity: 'info',
    expr: 'changes(kafka_schema_registry_master_slave_role{}[10m]) > 0',
    for: '0m',
    summary: 'The registry leader changed',
    description: '{{ $labels.instance }} became or is no longer the leader.',
  },
]
