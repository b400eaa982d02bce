import type { AlertRule } from '../../common/monitoring.ts'

/** Alerts about the metrics of `worker-metrics.ts` and `java-host-metrics.ts`. */
export const WORKER_ALERTS: readonly AlertRule[] = [
  {
    alert: 'WeirConnectorFailed',
    severity: 'critical',
    expr: 'max by (connector) (kafka_connect_connector_metrics_status{status="failed"}) > 0',
    for: '5m',
    summary: 'A connector has failed',
    description: 'Connector {{ $labels.connector }} is FAILED. Its status has the stack trace.',
  },
  {
    alert: 'WeirTaskFailed',
    severity: 'critical',
    expr: 'sum by (connector) (kafka_connect_worker_metrics_connector_failed_task_count{}) > 0',
    for: '5m',
    summary: 'Tasks have failed',
    description: 'Connector {{ $labels.connector }} has {{ $value }} failed tasks.',
  },
  {
    alert: 'WeirSinkStalled',
    severity: 'critical',
    // While a sink retries a batch, its lag is not measured, but the records of the batch are active.
    expr:
      '(min_over_time(kafka_connect_sink_task_metrics_sink_record_active_count{}[10m]) > 0' +
      ' or min_over_time(kafka_connect_sink_task_metrics_sink_record_lag_max{}[10m]) > 0)' +
      ' and increase(kafka_connect_sink_task_metrics_sink_record_send_total{}[10m]) == 0' +
      ' unless on (connector, task) kafka_connect_connector_task_metrics_status{status!="running"} == 1',
    for: '5m',
    summary: 'A sink has records to write and writes none',
    description:
      'Task {{ $labels.task }} of connector {{ $labels.connector }} has written nothing for 10 minutes, while records wait.',
  },
  {
    alert: 'WeirSourceStalled',
    severity: 'critical',
    expr:
      'min_over_time(kafka_connect_source_task_metrics_source_record_active_count{}[10m]) > 0' +
      ' and increase(kafka_connect_source_task_metrics_source_record_write_total{}[10m]) == 0',
    for: '5m',
    summary: 'The brokers acknowledge no record of a source',
    description:
      '{{ $value }} records of task {{ $labels.task }} of connector {{ $labels.connector }} have waited for 10 minutes, and none was acknowledged.',
  },
  {
    alert: 'WeirSinkLag',
    severity: 'warning',
    expr: 'max by (connector) (kafka_connect_sink_task_metrics_sink_record_lag_max{}) > $sinkLag',
    for: '10m',
    summary: 'The lag of a sink connector is high',
    description: '{{ $value }} records wait in one partition for connector {{ $labels.connector }}.',
  },
  {
    alert: 'WeirSourceRetainsLog',
    severity: 'warning',
    expr: 'max by (connector) (kafka_connect_source_task_metrics_source_retained_bytes{}) > $sourceRetainedBytes',
    for: '10m',
    summary: 'A database retains much log for a source connector',
    description:
      'A database retains {{ $value | humanize1024 }}B of log for connector {{ $labels.connector }}. Its disk fills until the connector has delivered them.',
  },
  {
    alert: 'WeirDeadLetters',
    severity: 'warning',
    expr: 'sum by (connector) (increase(kafka_connect_task_error_metrics_deadletterqueue_produce_total{}[10m])) > 0',
    for: '0m',
    summary: 'Records were written to a dead letter queue',
    description: 'Connector {{ $labels.connector }} could not process records. `weir dlq show` reports the reasons.',
  },
  {
    alert: 'WeirOffsetCommitFailure',
    severity: 'warning',
    expr: 'increase(kafka_connect_connector_task_metrics_offset_commit_failure_total{}[10m]) > 0',
    for: '0m',
    summary: 'Offsets could not be committed',
    description:
      'Task {{ $labels.task }} of connector {{ $labels.connector }} could not commit offsets. After a restart it processes records a second time.',
  },
  {
    alert: 'WeirConnectorStartupFailure',
    severity: 'warning',
    expr: 'increase(kafka_connect_worker_metrics_connector_startup_failure_total{}[10m]) > 0',
    for: '0m',
    summary: 'A connector did not start',
    description: 'A worker could not start a connector. The stack trace is in the status of the Connector.',
  },
  {
    alert: 'WeirJavaHostExits',
    severity: 'warning',
    expr: 'increase(weir_java_host_exits_total{}[1h]) > 2',
    for: '0m',
    summary: 'JVMs of Java plugins end again and again',
    description:
      'JVMs that Java plugins used ended {{ $value | humanize }} times in one hour. The log of the worker has the reason.',
  },
  {
    alert: 'WeirSourceQuiet',
    severity: 'info',
    expr:
      'sum by (connector) (rate(kafka_connect_source_task_metrics_source_record_poll_total{}[15m]))' +
      ' < 0.1 * sum by (connector) (rate(kafka_connect_source_task_metrics_source_record_poll_total{}[6h]))',
    for: '15m',
    summary: 'A source connector reads much less than before',
    description: 'Connector {{ $labels.connector }} polls less than a tenth of its six-hour average.',
  },
  {
    alert: 'WeirConnectorCount',
    severity: 'warning',
    expr: 'sum(kafka_connect_worker_metrics_connector_count{}) != $expectedConnectors',
    for: '10m',
    summary: 'The number of connectors is not the expected one',
    description: '{{ $value }} connectors run; $expectedConnectors are expected.',
    onlyWith: 'expectedConnectors',
  },
  {
    alert: 'WeirTaskCount',
    severity: 'warning',
    expr: 'sum(kafka_connect_worker_metrics_task_count{}) != $expectedTasks',
    for: '10m',
    summary: 'The number of tasks is not the expected one',
    description: '{{ $value }} tasks run; $expectedTasks are expected.',
    onlyWith: 'expectedTasks',
  },
]
