import type { Dashboard } from '../../common/monitoring.ts'

/** The metrics of `worker-metrics.ts`. */
export const WORKER_DASHBOARD: Dashboard = {
  title: 'Weir / Workers',
  present: 'kafka_connect_worker_metrics_connector_count',
  panels: [
    {
      title: 'Connectors and tasks',
      unit: 'short',
      queries: {
        connectors: 'sum(kafka_connect_worker_metrics_connector_count{})',
        tasks: 'sum(kafka_connect_worker_metrics_task_count{})',
      },
    },
    {
      title: 'Tasks by state',
      unit: 'short',
      queries: {
        '{{status}}': 'count by (status) (kafka_connect_connector_task_metrics_status{})',
      },
    },
    {
      title: 'Records from sources',
      unit: 'rowsps',
      queries: {
        '{{connector}}': 'sum by (connector) (rate(kafka_connect_source_task_metrics_source_record_write_total{}[5m]))',
      },
    },
    {
      title: 'Records to sinks',
      unit: 'rowsps',
      queries: {
        '{{connector}}': 'sum by (connector) (rate(kafka_connect_sink_task_metrics_sink_record_send_total{}[5m]))',
      },
    },
    {
      title: 'Lag of sinks',
      unit: 'short',
      queries: {
        '{{connector}}': 'max by (connector) (kafka_connect_sink_task_metrics_sink_record_lag_max{})',
      },
    },
    {
      title: 'Errors in five minutes',
      unit: 'short',
      queries: {
        'failed records {{connector}}':
          'sum by (connector) (increase(kafka_connect_task_error_metrics_total_record_errors{}[5m]))',
        'dead letters {{connector}}':
          'sum by (connector) (increase(kafka_connect_task_error_metrics_deadletterqueue_produce_total{}[5m]))',
        'failed commits {{connector}}':
          'sum by (connector) (increase(kafka_connect_connector_task_metrics_offset_commit_failure_total{}[5m]))',
      },
    },
    {
      title: 'Failed starts',
      unit: 'short',
      queries: {
        connectors: 'sum(kafka_connect_worker_metrics_connector_startup_failure_total{})',
        tasks: 'sum(kafka_connect_worker_metrics_task_startup_failure_total{})',
      },
    },
    {
      title: 'Rebalances',
      unit: 'short',
      queries: {
        'completed {{pod}}': 'kafka_connect_worker_rebalance_metrics_completed_rebalances_total{}',
        'in progress {{pod}}': 'kafka_connect_worker_rebalance_metrics_rebalancing{}',
      },
    },
    {
      title: 'Duration of batches',
      unit: 'ms',
      queries: {
        'poll {{connector}}': 'max by (connector) (kafka_connect_source_task_metrics_poll_batch_avg_time_ms{})',
        'put {{connector}}': 'max by (connector) (kafka_connect_sink_task_metrics_put_batch_avg_time_ms{})',
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
