import type { AlertRule } from '../common/monitoring.ts'

/** Alerts about the metrics of `operator-metrics.ts`. */
export const OPERATOR_ALERTS: readonly AlertRule[] = [
  {
    alert: 'WeirOperatorNoLeader',
    severity: 'critical',
    // Without any replica there is no series.
    expr: '(sum(leader_election_master_status{}) or vector(0)) != 1',
    for: '2m',
    summary: 'There is not exactly one active operator',
    description: '{{ $value }} operators are active. Without an active operator, resources are not reconciled.',
  },
  {
    alert: 'WeirRuntimeDown',
    severity: 'critical',
    expr: 'weir_runtime_up{} == 0',
    for: '5m',
    summary: 'A runtime does not respond',
    description: 'The {{ $labels.runtime }} {{ $labels.cluster }} did not respond to the last request.',
  },
  {
    alert: 'WeirWatchSilent',
    severity: 'critical',
    expr: 'weir_cache_staleness_seconds{} > 900',
    for: '5m',
    summary: 'The operator receives nothing from the API server',
    description: 'The watch of {{ $labels.resource }} received nothing for {{ $value | humanizeDuration }}.',
  },
  {
    alert: 'WeirResourcesNotReady',
    severity: 'warning',
    expr: 'sum by (kind, reason) (weir_resources{ready="False"}) > 0',
    for: '15m',
    summary: 'Resources are not Ready',
    description: '{{ $value }} of kind {{ $labels.kind }}: {{ $labels.reason }}. See docs/operator.md for remedies.',
  },
  {
    alert: 'WeirReconcileErrors',
    severity: 'warning',
    // Failing reconciles are repeated after 5 minutes at most.
    expr: 'sum by (controller) (increase(controller_runtime_reconcile_errors_total{}[10m])) > 0',
    for: '20m',
    summary: 'Reconciles keep failing',
    description:
      'Reconciles of {{ $labels.controller }} have failed for 20 minutes. The log of the operator has the error.',
  },
  {
    alert: 'WeirOperatorErrors',
    severity: 'warning',
    expr: 'increase(controller_runtime_reconcile_panics_total{}[10m]) > 0',
    for: '0m',
    summary: 'An internal error of the operator',
    description:
      'Reconciles of {{ $labels.controller }} failed because of a bug. Report it with the stack trace in the log of the operator.',
  },
  {
    alert: 'WeirDrift',
    severity: 'info',
    expr: 'increase(weir_drift_total{}[1h]) > 3',
    for: '0m',
    summary: 'Another client keeps changing resources',
    description:
      'Other clients made {{ $value | humanize }} changes to resources of kind {{ $labels.kind }} in one hour.',
  },
]
