import type { Dashboard } from '../common/monitoring.ts'

/** The metrics of `operator-metrics.ts`. */
export const OPERATOR_DASHBOARD: Dashboard = {
  title: 'Weir / Operator',
  present: 'weir_resources',
  panels: [
    {
      title: 'Resources',
      unit: 'short',
      about: 'By kind, and by status and reason of the condition Ready.',
      queries: {
        '{{kind}} {{ready}} {{reason}}': 'sum by (kind, ready, reason) (weir_resources{})',
      },
    },
    {
      title: 'Active operator',
      unit: 'short',
      queries: {
        '{{pod}}': 'leader_election_master_status{}',
      },
    },
    {
      title: 'Reconciles',
      unit: 'ops',
      queries: {
        '{{controller}} {{result}}': 'sum by (controller, result) (rate(controller_runtime_reconcile_total{}[5m]))',
      },
    },
    {
      title: 'Duration of reconciles',
      unit: 's',
      queries: {
        'p50 {{controller}}':
          'histogram_quantile(0.5, sum by (le, controller) (rate(controller_runtime_reconcile_time_seconds_bucket{}[5m])))',
        'p99 {{controller}}':
          'histogram_quantile(0.99, sum by (le, controller) (rate(controller_runtime_reconcile_time_seconds_bucket{}[5m])))',
      },
    },
    {
      title: 'Queue depth',
      unit: 'short',
      queries: {
        '{{name}}': 'sum by (name) (workqueue_depth{})',
      },
    },
    {
      title: 'Runtimes that respond',
      unit: 'short',
      queries: {
        '{{runtime}} {{cluster}}': 'min by (runtime, cluster) (weir_runtime_up{})',
      },
    },
    {
      title: 'Drift and restarts per hour',
      unit: 'short',
      queries: {
        'drift {{kind}}': 'sum by (kind) (increase(weir_drift_total{}[1h]))',
        'restarts {{kind}}': 'sum by (kind) (increase(weir_autorestart_total{}[1h]))',
      },
    },
    {
      title: 'Time since the last update',
      unit: 's',
      queries: {
        'API server, {{resource}}': 'max by (resource) (weir_cache_staleness_seconds{})',
        'worker {{cluster}}': 'max by (cluster) (weir_observe_lag_seconds{})',
      },
    },
    {
      title: 'Requests to the API server',
      unit: 'reqps',
      queries: {
        '{{method}} {{code}}': 'sum by (method, code) (rate(rest_client_requests_total{}[5m]))',
      },
    },
    {
      title: 'Memory',
      unit: 'bytes',
      queries: {
        '{{pod}}': 'process_resident_memory_bytes{}',
      },
    },
  ],
}
