import { expect, it } from 'vitest'
import { createMetrics } from '../../src/config/metrics.ts'
import { workerMetrics } from '../../src/worker/metrics.ts'
import { countersIn } from '../../src/worker/tasks/task-counters.ts'

it('tells what the worker, its tasks and its group are, as they are when somebody asks', async () => {
  const metrics = createMetrics()
  const [source, sink] = [countersIn(), countersIn()]
  const starts = { connectorAttempts: 3, connectorFailures: 1, taskAttempts: 4, taskFailures: 2 }
  workerMetrics(metrics, {
    worker: () => ({ connectors: 2, tasks: 2, starts }),
    group: () => ({ rounds: 5, generation: 7, isLeader: true }),
    tasks: () => [
      { connector: 'in', task: 0, kind: 'source', counters: source },
      { connector: 'out', task: 1, kind: 'sink', counters: sink },
    ],
  })
  Object.assign(source, { recordsIn: 11, commitFailures: 1 })
  Object.assign(sink, { recordsOut: 12, deadLetters: 13, recordsLag: 14 })
  const lines = (await metrics.metrics()).split('\n').filter((line) => line.startsWith('kafka_connect_'))
  // The seven that operators watch, first.
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
    'worker_rebalance_metrics_leader 1',
    'sink_task_metrics_sink_record_lag_max{connector="out",task="1"} 14',
  ]) {
    expect(lines).toContain(`kafka_connect_${line}`)
  }
  expect(lines.filter((line) => line.includes('source_task') && line.includes('"out"'))).toEqual([])
})
