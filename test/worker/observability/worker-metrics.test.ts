import { expect, it } from 'vitest'
import { createMetrics } from '../../../src/common/metrics-registry.ts'
import { registerWorkerMetrics } from '../../../src/worker/observability/worker-metrics.ts'
import { countersIn } from '../../../src/worker/tasks/task-counters.ts'

const CONNECTOR = { name: 'out', kind: 'sink', className: 'FileStreamSink', version: '1.0', state: 'running' } as const
const REBALANCES = { count: 5, msTotal: 100, msMax: 60, sinceLastMs: 300, isInProgress: true }

it('exposes the state of the worker, its tasks and its group at the time of the scrape', async () => {
  const metrics = createMetrics()
  const [source, sink] = [countersIn(), countersIn()]
  const starts = { connectorAttempts: 3, connectorFailures: 1, taskAttempts: 4, taskFailures: 2 }
  registerWorkerMetrics(metrics, {
    worker: () => ({ connectors: [CONNECTOR, { ...CONNECTOR, name: 'in' }], tasks: 2, starts }),
    group: () => ({ rebalances: REBALANCES, generation: 7, isLeader: true }),
    tasks: () => [
      { connector: 'in', task: 0, kind: 'source', state: 'running', counters: source },
      { connector: 'out', task: 1, kind: 'sink', state: 'paused', counters: sink },
      { connector: 'out', task: 2, kind: 'sink', state: 'failed' },
    ],
  })
  Object.assign(source, { recordsIn: 11, commitFailures: 1, commitMsTotal: 5, batches: 2, batchMsTotal: 9 })
  Object.assign(sink, { recordsOut: 12, deadLetters: 13, recordsLag: 14, latencyMsTotal: 15, latencyMsMax: 16 })
  const lines = (await metrics.metrics()).split('\n').filter((line) => line.startsWith('kafka_connect_'))
  // First, the seven metrics that dashboards and alerts use.
  for (const line of [
    'worker_metrics_connector_count 2',
    'worker_metrics_task_count 2',
    'worker_metrics_connector_startup_failure_total 1',
    'source_task_metrics_source_record_poll_total{connector="in",task="0"} 11',
    'sink_task_metrics_sink_record_send_total{connector="out",task="1"} 12',
    'connector_task_metrics_offset_commit_failure_total{connector="in",task="0"} 1',
    'task_error_metrics_deadletterqueue_produce_total{connector="out",task="1"} 13',
    'worker_metrics_task_startup_failure_total 2',
    'worker_rebalance_metrics_completed_rebalances_total 5',
    'worker_rebalance_metrics_epoch 7',
    'worker_rebalance_metrics_rebalancing 1',
    'worker_rebalance_metrics_rebalance_avg_time_ms 20',
    'worker_rebalance_metrics_time_since_last_rebalance_ms 300',
    'worker_rebalance_metrics_leader 1',
    'sink_task_metrics_sink_record_lag_max{connector="out",task="1"} 14',
    'sink_task_metrics_record_latency_ms_total{connector="out",task="1"} 15',
    'sink_task_metrics_record_latency_max_ms{connector="out",task="1"} 16',
    'source_task_metrics_poll_batch_avg_time_ms{connector="in",task="0"} 4.5',
    'connector_task_metrics_offset_commit_avg_time_ms{connector="in",task="0"} 5',
    'connector_task_metrics_status{connector="out",task="2",status="failed"} 1',
    'worker_metrics_connector_total_task_count{connector="out"} 2',
    'worker_metrics_connector_running_task_count{connector="out"} 0',
    'worker_metrics_connector_failed_task_count{connector="out"} 1',
    'connector_metrics_status{connector="out",status="running",connector_type="sink",connector_class="FileStreamSink",connector_version="1.0"} 1',
  ]) {
    expect(lines).toContain(`kafka_connect_${line}`)
  }
  expect(lines.filter((line) => line.includes('source_task') && line.includes('"out"'))).toEqual([])
})
