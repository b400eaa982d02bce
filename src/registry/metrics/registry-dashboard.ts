import type { Dashboard } from '../../common/monitoring.ts'

/** The metrics of `registry-metrics.ts`. */
export const REGISTRY_DASHBOARD: Dashboard = {
  title: 'Weir / Schema registry',
  present: 'kafka_schema_registry_master_slave_role',
  panels: [
    {
      title: 'Leader',
      unit: 'short',
      queries: {
        '{{pod}}': 'kafka_schema_registry_master_slave_role{}',
      },
    },
    {
      title: 'Requests',
      unit: 'reqps',
      queries: {
        '{{status}}': 'sum by (status) (rate(weir_registry_requests_total{}[5m]))',
      },
    },
    {
      title: 'Ratio of failed requests',
      unit: 'percentunit',
      about: 'An alert fires above 1 %.',
      queries: {
        '{{pod}}': 'weir_registry_request_error_ratio{}',
      },
    },
    {
      title: 'Response time',
      unit: 's',
      queries: {
        p50: 'histogram_quantile(0.5, sum by (le) (rate(weir_registry_request_duration_seconds_bucket{}[5m])))',
        p99: 'histogram_quantile(0.99, sum by (le) (rate(weir_registry_request_duration_seconds_bucket{}[5m])))',
      },
    },
    {
      title: 'Duration of schema operations',
      unit: 's',
      about: 'An alert fires above 100 ms.',
      queries: {
        '{{type}} {{operation}}':
          'histogram_quantile(0.95, sum by (le, type, operation) (rate(weir_registry_schema_operation_duration_seconds_bucket{}[5m])))',
      },
    },
    {
      title: 'Schemas read from the topic',
      unit: 'short',
      queries: {
        registered: 'max(kafka_schema_registry_registered_count_registered_count{})',
        deleted: 'max(kafka_schema_registry_deleted_count_deleted_count{})',
      },
    },
    {
      title: 'Open connections',
      unit: 'short',
      queries: {
        '{{pod}}': 'kafka_schema_registry_jetty_metrics_connections_active{}',
      },
    },
    {
      title: 'Latency of the event loop',
      unit: 's',
      queries: {
        '{{pod}}': 'nodejs_eventloop_lag_p99_seconds{}',
      },
    },
  ],
}
