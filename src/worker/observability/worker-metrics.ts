import { Gauge } from 'prom-client'
import type { Metrics } from '../../config/metrics.ts'
import type { RebalanceMetrics } from '../membership/worker-group.ts'
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
  ofSources('source_record_poll_total', 'Records polled.', (c) => c.recordsIn),
  ofSources('source_record_write_total', 'Records written and acknowledged.', (c) => c.recordsOut),
  ofSources('source_record_active_count', 'Records under way.', (c) => c.recordsActive),
  ofSources('poll_batch_avg_time_ms', 'Mean time of a poll, ms.', (c) => mean(c.batchMsTotal, c.batches)),
  ofSources('poll_batch_max_time_ms', 'Time of the longest poll, ms.', (c) => c.batchMsMax),
  ofSinks('sink_record_read_total', 'Records read.', (c) => c.recordsIn),
  ofSinks('sink_record_send_total', 'Records given to the sink.', (c) => c.recordsOut),
  ofSinks('sink_record_active_count', 'Records under way.', (c) => c.recordsActive),
  ofSinks('sink_record_lag_max', 'Records that wait in the log, where most do.', (c) => c.recordsLag),
  ofSinks('partition_count', 'Partitions that the task has.', (c) => c.partitions),
  ofSinks('offset_commit_completion_total', 'Commits of offsets that succeeded.', (c) => c.commits),
  ofSinks('put_batch_avg_time_ms', 'Mean time of a put, ms.', (c) => mean(c.batchMsTotal, c.batches)),
  ofSinks('put_batch_max_time_ms', 'Time of the longest put, ms.', (c) => c.batchMsMax),
  ofSinks('record_latency_ms_total', 'Age of all records when the sink had them, ms.', (c) => c.latencyMsTotal),
  ofSinks('record_latency_max_ms', 'Age of the oldest record in the last batch, ms.', (c) => c.latencyMsMax),
  ofTasks('connector_task_metrics_batch_total', 'Batches.', (c) => c.batches),
  ofTasks('connector_task_metrics_batch_size_avg', 'Mean records of a batch.', (c) => mean(c.recordsIn, c.batches)),
  ofTasks('connector_task_metrics_batch_size_max', 'Records of the largest batch.', (c) => c.batchRecordsMax),
  ofTasks('connector_task_metrics_offset_commit_total', 'Commits of offsets that succeeded.', (c) => c.commits),
  ofTasks('connector_task_metrics_offset_commit_failure_total', 'Those that failed.', (c) => c.commitFailures),
  ofTasks('connector_task_metrics_offset_commit_avg_time_ms', 'Mean time of a commit, ms.', (c) =>
    mean(c.commitMsTotal, c.commits + c.commitFailures),
  ),
  ofTasks('connector_task_metrics_offset_commit_max_time_ms', 'Time of the longest commit, ms.', (c) => c.commitMsMax),
  ofTasks('task_error_metrics_total_record_errors', 'Records that failed, tolerated or not.', (c) => c.errors),
  ofTasks(
    'task_error_metrics_total_record_failures',
    'Steps that failed, tried again or not.',
    (c) => c.errors + c.retries,
  ),
  ofTasks('task_error_metrics_total_records_skipped', 'Records that were stepped over.', (c) => c.skipped),
  ofTasks('task_error_metrics_total_retries', 'Steps that were tried again.', (c) => c.retries),
  ofTasks('task_error_metrics_total_errors_logged', 'Errors of records that were logged.', (c) => c.errorsLogged),
  ofTasks(
    'task_error_metrics_deadletterqueue_produce_requests',
    'Records meant for dead letters.',
    (c) => c.deadLetters + c.deadLetterFailures,
  ),
  ofTasks('task_error_metrics_deadletterqueue_produce_total', 'Records in dead letters.', (c) => c.deadLetters),
  ofTasks('task_error_metrics_deadletterqueue_produce_failures', 'Those that failed.', (c) => c.deadLetterFailures),
  ofTasks('task_error_metrics_last_error_timestamp', 'When a record last failed, ms since 1970.', (c) => c.lastErrorMs),
]

type WorkerFamily = readonly [name: string, help: string, read: (worker: WorkerMetrics) => number]

const WORKER_FAMILIES: readonly WorkerFamily[] = [
  ['connector_count', 'Connectors that run here.', (w) => w.connectors.length],
  ['task_count', 'Tasks that run here.', (w) => w.tasks],
  ['connector_startup_attempts_total', 'Starts of connectors.', ({ starts }) => starts.connectorAttempts],
  [
    'connector_startup_success_total',
    'Starts of connectors that succeeded.',
    ({ starts }) => starts.connectorAttempts - starts.connectorFailures,
  ],
  ['connector_startup_failure_total', 'Starts of connectors that failed.', ({ starts }) => starts.connectorFailures],
  ['task_startup_attempts_total', 'Starts of tasks.', ({ starts }) => starts.taskAttempts],
  [
    'task_startup_success_total',
    'Starts of tasks that succeeded.',
    ({ starts }) => starts.taskAttempts - starts.taskFailures,
  ],
  ['task_startup_failure_total', 'Starts of tasks that failed.', ({ starts }) => starts.taskFailures],
]

type GroupFamily = readonly [name: string, help: string, read: (group: GroupMetrics) => number]

const GROUP_FAMILIES: readonly GroupFamily[] = [
  [
    'completed_rebalances_total',
    'Rounds of the group that this worker took part in.',
    ({ rebalances: rounds }) => rounds.count,
  ],
  ['rebalancing', '1: a round goes on.', ({ rebalances: rounds }) => Number(rounds.isUnderWay)],
  [
    'rebalance_avg_time_ms',
    'Mean time of a round, ms.',
    ({ rebalances: rounds }) => mean(rounds.msTotal, rounds.count),
  ],
  ['rebalance_max_time_ms', 'Time of the longest round, ms.', ({ rebalances: rounds }) => rounds.msMax],
  [
    'time_since_last_rebalance_ms',
    'Since the end of the last round, ms.',
    ({ rebalances: rounds }) => rounds.sinceLastMs,
  ],
  ['epoch', 'Generation of the group.', (group) => group.generation],
  ['leader', '1: this worker leads its group.', (group) => Number(group.isLeader)],
]

/** Registers the metrics of the worker. Values are collected on each scrape. */
export function registerWorkerMetrics(metrics: Metrics, readings: MetricsSources): void {
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
    gauge(`worker_metrics_${name}`, help, [], (one) => one.set(read(readings.worker())))
  }
  for (const [name, help, read] of GROUP_FAMILIES) {
    gauge(`worker_rebalance_metrics_${name}`, help, [], (one) => {
      const group = readings.group()
      one.set(group === undefined ? 0 : read(group))
    })
  }
  for (const { name, help, kind, read } of TASK_FAMILIES) {
    gauge(name, help, ['connector', 'task'], (one) => {
      for (const { connector, task, kind: its, counters = NOTHING } of readings.tasks()) {
        if (kind === undefined || kind === its) one.set({ connector, task: String(task) }, read(counters))
      }
    })
  }
  stateMetrics(gauge, readings)
}

type MakeGauge = (name: string, help: string, labels: readonly string[], collect: (gauge: Gauge) => void) => unknown

/** The states of connectors and tasks, as labels and as counts by connector. */
function stateMetrics(gauge: MakeGauge, { worker, tasks }: MetricsSources): void {
  const about = ['connector', 'status', 'connector_type', 'connector_class', 'connector_version']
  gauge('connector_metrics_status', '1: how the connector is.', about, (one) => {
    for (const { name: connector, state: status, kind, className, version } of worker().connectors) {
      one.set({ connector, status, connector_type: kind, connector_class: className, connector_version: version }, 1)
    }
  })
  gauge('connector_task_metrics_status', '1: how the task is.', ['connector', 'task', 'status'], (one) => {
    for (const { connector, task, state: status } of tasks()) one.set({ connector, task: String(task), status }, 1)
  })
  for (const state of ['total', ...STATES] as const) {
    gauge(
      `worker_metrics_connector_${state}_task_count`,
      `Tasks of a connector here: ${state}.`,
      ['connector'],
      (one) => {
        for (const { connector, state: its } of tasks())
          one.inc({ connector }, Number(state === 'total' || state === its))
      },
    )
  }
}

/** The counters of a task that could not be started. */
const NOTHING = countersIn()

function mean(total: number, count: number): number {
  return count === 0 ? 0 : total / count
}
