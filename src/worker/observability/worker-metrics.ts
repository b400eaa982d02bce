import { Gauge } from 'prom-client'
import type { Metrics } from '../../common/metrics-registry.ts'
import type { RebalanceMetrics } from '../membership/rebalance-times.ts'
import { countersIn, type TaskCounters } from '../tasks/task-counters.ts'

/** The metrics of one task. */
export type TaskMetrics = {
  readonly connector: string
  readonly task: number
  readonly kind: Kind
  readonly state: (typeof STATES)[number]
  /** Undefined when the task could not be started. */
  readonly counters?: TaskCounters
}

/** The metrics of a connector that runs on this worker, without its tasks. */
export type ConnectorMetrics = {
  readonly name: string
  readonly kind: Kind
  readonly className: string
  readonly version: string
  readonly state: string
}

/** The metrics of this worker. */
export type WorkerMetrics = {
  readonly connectors: readonly ConnectorMetrics[]
  readonly tasks: number
  /** Counters since the start of the worker. */
  readonly starts: {
    readonly connectorAttempts: number
    readonly connectorFailures: number
    readonly taskAttempts: number
    readonly taskFailures: number
  }
}

/** The metrics of this worker's group membership. */
export type GroupMetrics = {
  readonly rebalances: RebalanceMetrics
  readonly generation: number
  readonly isLeader: boolean
}

export type MetricsSources = {
  readonly worker: () => WorkerMetrics
  /** Undefined before the first rebalance. */
  readonly group: () => GroupMetrics | undefined
  readonly tasks: () => readonly TaskMetrics[]
}

const STATES = ['running', 'paused', 'failed', 'unassigned'] as const

type Kind = 'source' | 'sink' | 'unknown'
type Read = (counters: TaskCounters) => number
type TaskFamily = { readonly name: string; readonly help: string; readonly kind: Kind | undefined; readonly read: Read }

// Names are those of Kafka Connect's metrics as the JMX exporter usually writes them. Rates are omitted, because
// Prometheus computes them from the totals. Maxima and means apply to the time since the start of the task.

function ofTasks(name: string, help: string, read: Read): TaskFamily {
  return { name, help, kind: undefined, read }
}
function ofSources(name: string, help: string, read: Read): TaskFamily {
  return { name: `source_task_metrics_${name}`, help, kind: 'source', read }
}
function ofSinks(name: string, help: string, read: Read): TaskFamily {
  return { name: `sink_task_metrics_${name}`, help, kind: 'sink', read }
}

const TASK_FAMILIES: readonly TaskFamily[] = [
  ofSources('source_record_poll_total', 'Records that the source polled.', (c) => c.recordsIn),
  ofSources('source_record_write_total', 'Records that the brokers acknowledged.', (c) => c.recordsOut),
  ofSources(
    'source_record_active_count',
    'Records that were polled and are not yet acknowledged.',
    (c) => c.recordsActive,
  ),
  ofSources(
    'source_lag_ms',
    'Age of the last data that the source read, in ms, if it reports it.',
    (c) => c.sourceLagMs,
  ),
  ofSources(
    'source_lag_bytes',
    'Data of the external system that is not delivered, in bytes, if the source reports it.',
    (c) => c.sourceLagBytes,
  ),
  ofSources(
    'source_retained_bytes',
    'Data that the external system retains for the source, in bytes, if the source reports it.',
    (c) => c.sourceRetainedBytes,
  ),
  ofSources('source_snapshot_rows', 'Rows of its snapshot that the source has read.', (c) => c.sourceSnapshotRows),
  ofSources(
    'source_snapshot_percent',
    'Progress of the snapshot of the source: 100 when it is complete, 0 if the task has read none.',
    (c) => c.sourceSnapshotPercent,
  ),
  ofSources(
    'source_snapshot_remaining_ms',
    'Estimated remaining time of the snapshot of the source, in ms; 0 if it is complete or not known.',
    (c) => c.sourceSnapshotRemainingMs,
  ),
  ofSources('poll_batch_avg_time_ms', 'Mean duration of a poll, in ms.', (c) => mean(c.batchMsTotal, c.batches)),
  ofSources('poll_batch_max_time_ms', 'Duration of the longest poll, in ms.', (c) => c.batchMsMax),
  ofSinks('sink_record_read_total', 'Records that were read from the topics.', (c) => c.recordsIn),
  ofSinks('sink_record_send_total', 'Records that the sink accepted.', (c) => c.recordsOut),
  ofSinks(
    'sink_record_active_count',
    'Records that were passed to the sink and are not yet accepted.',
    (c) => c.recordsActive,
  ),
  ofSinks(
    'sink_record_lag_max',
    'Highest consumer lag among the partitions of the task, in records.',
    (c) => c.recordsLag,
  ),
  ofSinks('partition_count', 'Partitions that are assigned to the task.', (c) => c.partitions),
  ofSinks('offset_commit_completion_total', 'Successful offset commits.', (c) => c.commits),
  ofSinks('put_batch_avg_time_ms', 'Mean duration of a put, in ms.', (c) => mean(c.batchMsTotal, c.batches)),
  ofSinks('put_batch_max_time_ms', 'Duration of the longest put, in ms.', (c) => c.batchMsMax),
  ofSinks(
    'record_latency_ms_total',
    'Sum of the ages of records when the sink accepted them, in ms.',
    (c) => c.latencyMsTotal,
  ),
  ofSinks('record_latency_max_ms', 'Age of the oldest record in the last batch, in ms.', (c) => c.latencyMsMax),
  ofTasks('connector_task_metrics_batch_total', 'Batches that were polled or put.', (c) => c.batches),
  ofTasks('connector_task_metrics_batch_size_avg', 'Mean number of records in a batch.', (c) =>
    mean(c.recordsIn, c.batches),
  ),
  ofTasks('connector_task_metrics_batch_size_max', 'Number of records in the largest batch.', (c) => c.batchRecordsMax),
  ofTasks('connector_task_metrics_offset_commit_total', 'Successful offset commits.', (c) => c.commits),
  ofTasks('connector_task_metrics_offset_commit_failure_total', 'Failed offset commits.', (c) => c.commitFailures),
  ofTasks('connector_task_metrics_offset_commit_avg_time_ms', 'Mean duration of an offset commit, in ms.', (c) =>
    mean(c.commitMsTotal, c.commits + c.commitFailures),
  ),
  ofTasks(
    'connector_task_metrics_offset_commit_max_time_ms',
    'Duration of the longest offset commit, in ms.',
    (c) => c.commitMsMax,
  ),
  ofTasks('task_error_metrics_total_record_errors', 'Records that failed, tolerated or not.', (c) => c.errors),
  ofTasks(
    'task_error_metrics_total_record_failures',
    'Failed operations on records, retried or not.',
    (c) => c.errors + c.retries,
  ),
  ofTasks('task_error_metrics_total_records_skipped', 'Records that were skipped because of errors.', (c) => c.skipped),
  ofTasks('task_error_metrics_total_retries', 'Retried operations on records.', (c) => c.retries),
  ofTasks('task_error_metrics_total_errors_logged', 'Record errors that were logged.', (c) => c.errorsLogged),
  ofTasks(
    'task_error_metrics_deadletterqueue_produce_requests',
    'Attempts to write a record to the dead-letter topic.',
    (c) => c.deadLetters + c.deadLetterFailures,
  ),
  ofTasks(
    'task_error_metrics_deadletterqueue_produce_total',
    'Records that were written to the dead-letter topic.',
    (c) => c.deadLetters,
  ),
  ofTasks(
    'task_error_metrics_deadletterqueue_produce_failures',
    'Failed writes to the dead-letter topic.',
    (c) => c.deadLetterFailures,
  ),
  ofTasks(
    'task_error_metrics_last_error_timestamp',
    'Time of the last record error, in ms since 1970; 0 if there was none.',
    (c) => c.lastErrorMs,
  ),
]

type WorkerFamily = readonly [name: string, help: string, read: (worker: WorkerMetrics) => number]

const WORKER_FAMILIES: readonly WorkerFamily[] = [
  ['connector_count', 'Connectors that run on this worker.', (w) => w.connectors.length],
  ['task_count', 'Tasks that run on this worker.', (w) => w.tasks],
  ['connector_startup_attempts_total', 'Attempts to start a connector.', ({ starts }) => starts.connectorAttempts],
  [
    'connector_startup_success_total',
    'Successful starts of connectors.',
    ({ starts }) => starts.connectorAttempts - starts.connectorFailures,
  ],
  ['connector_startup_failure_total', 'Failed starts of connectors.', ({ starts }) => starts.connectorFailures],
  ['task_startup_attempts_total', 'Attempts to start a task.', ({ starts }) => starts.taskAttempts],
  [
    'task_startup_success_total',
    'Successful starts of tasks.',
    ({ starts }) => starts.taskAttempts - starts.taskFailures,
  ],
  ['task_startup_failure_total', 'Failed starts of tasks.', ({ starts }) => starts.taskFailures],
]

type GroupFamily = readonly [name: string, help: string, read: (group: GroupMetrics) => number]

const GROUP_FAMILIES: readonly GroupFamily[] = [
  ['completed_rebalances_total', 'Rebalances that this worker completed.', ({ rebalances }) => rebalances.count],
  ['rebalancing', '1 while a rebalance is in progress, else 0.', ({ rebalances }) => Number(rebalances.isInProgress)],
  [
    'rebalance_avg_time_ms',
    'Mean duration of a rebalance, in ms.',
    ({ rebalances }) => mean(rebalances.msTotal, rebalances.count),
  ],
  ['rebalance_max_time_ms', 'Duration of the longest rebalance, in ms.', ({ rebalances }) => rebalances.msMax],
  [
    'time_since_last_rebalance_ms',
    'Time since the end of the last rebalance, in ms.',
    ({ rebalances }) => rebalances.sinceLastMs,
  ],
  ['epoch', 'Generation id of the group.', (group) => group.generation],
  ['leader', '1 if this worker is the leader of its group, else 0.', (group) => Number(group.isLeader)],
]

/** Registers the metrics of the worker. Values are collected on each scrape. */
export function registerWorkerMetrics(metrics: Metrics, sources: MetricsSources): void {
  const gauge = (name: string, help: string, labelNames: readonly string[], collect: (gauge: Gauge) => void) =>
    new Gauge({
      name: `kafka_connect_${name}`,
      help,
      labelNames,
      registers: [metrics],
      collect() {
        this.reset()
        collect(this)
      },
    })
  for (const [name, help, read] of WORKER_FAMILIES) {
    gauge(`worker_metrics_${name}`, help, [], (metric) => metric.set(read(sources.worker())))
  }
  for (const [name, help, read] of GROUP_FAMILIES) {
    gauge(`worker_rebalance_metrics_${name}`, help, [], (metric) => {
      const group = sources.group()
      metric.set(group === undefined ? 0 : read(group))
    })
  }
  for (const { name, help, kind, read } of TASK_FAMILIES) {
    gauge(name, help, ['connector', 'task'], (metric) => {
      for (const { connector, task, kind: taskKind, counters = ZERO_COUNTERS } of sources.tasks()) {
        if (kind === undefined || kind === taskKind) metric.set({ connector, task: String(task) }, read(counters))
      }
    })
  }
  stateMetrics(gauge, sources)
}

type MakeGauge = (name: string, help: string, labels: readonly string[], collect: (gauge: Gauge) => void) => unknown

/** The states of connectors and tasks, as labels and as counts by connector. */
function stateMetrics(gauge: MakeGauge, { worker, tasks }: MetricsSources): void {
  const labelNames = ['connector', 'status', 'connector_type', 'connector_class', 'connector_version']
  gauge('connector_metrics_status', '1 for the present state of the connector.', labelNames, (metric) => {
    for (const { name: connector, state: status, kind, className, version } of worker().connectors) {
      metric.set({ connector, status, connector_type: kind, connector_class: className, connector_version: version }, 1)
    }
  })
  gauge(
    'connector_task_metrics_status',
    '1 for the present state of the task.',
    ['connector', 'task', 'status'],
    (metric) => {
      for (const { connector, task, state: status } of tasks()) metric.set({ connector, task: String(task), status }, 1)
    },
  )
  for (const state of ['total', ...STATES] as const) {
    gauge(
      `worker_metrics_connector_${state}_task_count`,
      state === 'total'
        ? 'Tasks of the connector on this worker.'
        : `Tasks of the connector on this worker that are ${state}.`,
      ['connector'],
      (metric) => {
        for (const { connector, state: taskState } of tasks())
          metric.inc({ connector }, Number(state === 'total' || state === taskState))
      },
    )
  }
}

/** The counters of a task that could not be started. */
const ZERO_COUNTERS = countersIn()

function mean(total: number, count: number): number {
  return count === 0 ? 0 : total / count
}
