import { Gauge } from 'prom-client'
import type { Metrics } from '../config/metrics.ts'
import type { TaskCounters } from './tasks/task-counters.ts'

/** One task as metrics see it. */
export type TaskReading = {
  readonly connector: string
  readonly task: number
  readonly kind: 'source' | 'sink' | 'unknown'
  readonly counters: TaskCounters
}

/** One worker as metrics see it. */
export type WorkerReading = {
  readonly connectors: number
  readonly tasks: number
  /** Since the worker was started. */
  readonly starts: {
    readonly connectorAttempts: number
    readonly connectorFailures: number
    readonly taskAttempts: number
    readonly taskFailures: number
  }
}

/** Its place in the group. */
export type GroupReading = { readonly rounds: number; readonly generation: number; readonly isLeader: boolean }

type Kind = TaskReading['kind']
type Family = {
  readonly name: string
  readonly help: string
  readonly kind?: Kind
  readonly read: (counters: TaskCounters) => number
}

/** By connector and task; names are those of Kafka Connect's metrics as its usual exporter writes them. */
const FAMILIES: readonly Family[] = [
  {
    name: 'source_task_metrics_source_record_poll_total',
    kind: 'source',
    help: 'Records polled.',
    read: (c) => c.recordsIn,
  },
  {
    name: 'source_task_metrics_source_record_write_total',
    kind: 'source',
    help: 'Records written and acknowledged.',
    read: (c) => c.recordsOut,
  },
  {
    name: 'source_task_metrics_source_record_active_count',
    kind: 'source',
    help: 'Records under way.',
    read: (c) => c.recordsActive,
  },
  { name: 'sink_task_metrics_sink_record_read_total', kind: 'sink', help: 'Records read.', read: (c) => c.recordsIn },
  {
    name: 'sink_task_metrics_sink_record_send_total',
    kind: 'sink',
    help: 'Records given to the sink.',
    read: (c) => c.recordsOut,
  },
  {
    name: 'sink_task_metrics_sink_record_active_count',
    kind: 'sink',
    help: 'Records under way.',
    read: (c) => c.recordsActive,
  },
  {
    name: 'sink_task_metrics_sink_record_lag_max',
    kind: 'sink',
    help: 'Records that wait in the log, in the partition where most do.',
    read: (c) => c.recordsLag,
  },
  { name: 'connector_task_metrics_batch_total', help: 'Batches.', read: (c) => c.batches },
  {
    name: 'connector_task_metrics_offset_commit_total',
    help: 'Commits of offsets that succeeded.',
    read: (c) => c.commits,
  },
  {
    name: 'connector_task_metrics_offset_commit_failure_total',
    help: 'Commits of offsets that failed.',
    read: (c) => c.commitFailures,
  },
  {
    name: 'task_error_metrics_total_record_errors',
    help: 'Records that failed, tolerated or not.',
    read: (c) => c.errors,
  },
  { name: 'task_error_metrics_total_records_skipped', help: 'Records that were stepped over.', read: (c) => c.skipped },
  { name: 'task_error_metrics_total_retries', help: 'Steps that were tried again.', read: (c) => c.retries },
  {
    name: 'task_error_metrics_total_errors_logged',
    help: 'Errors of records that were logged.',
    read: (c) => c.errorsLogged,
  },
  {
    name: 'task_error_metrics_deadletterqueue_produce_total',
    help: 'Records in the dead-letter topic.',
    read: (c) => c.deadLetters,
  },
  {
    name: 'task_error_metrics_deadletterqueue_produce_failures',
    help: 'Records that could not be written there.',
    read: (c) => c.deadLetterFailures,
  },
  {
    name: 'task_error_metrics_last_error_timestamp',
    help: 'When a record last failed, ms since 1970.',
    read: (c) => c.lastErrorMs,
  },
]

type WorkerFamily = {
  readonly name: string
  readonly help: string
  readonly read: (worker: WorkerReading, group: GroupReading) => number
}

const WORKER_FAMILIES: readonly WorkerFamily[] = [
  { name: 'worker_metrics_connector_count', help: 'Connectors that run here.', read: (w) => w.connectors },
  { name: 'worker_metrics_task_count', help: 'Tasks that run here.', read: (w) => w.tasks },
  {
    name: 'worker_metrics_connector_startup_attempts_total',
    help: 'Starts of connectors.',
    read: ({ starts }) => starts.connectorAttempts,
  },
  {
    name: 'worker_metrics_connector_startup_failure_total',
    help: 'Starts of connectors that failed.',
    read: ({ starts }) => starts.connectorFailures,
  },
  {
    name: 'worker_metrics_task_startup_attempts_total',
    help: 'Starts of tasks.',
    read: ({ starts }) => starts.taskAttempts,
  },
  {
    name: 'worker_metrics_task_startup_failure_total',
    help: 'Starts of tasks that failed.',
    read: ({ starts }) => starts.taskFailures,
  },
  {
    name: 'worker_rebalance_metrics_completed_rebalances_total',
    help: 'Rounds of the group that this worker took part in.',
    read: (_, group) => group.rounds,
  },
  { name: 'worker_rebalance_metrics_epoch', help: 'Generation of the group.', read: (_, group) => group.generation },
  {
    name: 'worker_rebalance_metrics_leader',
    help: '1: this worker leads its group.',
    read: (_, group) => Number(group.isLeader),
  },
]

export type WorkerReadings = {
  readonly worker: () => WorkerReading
  readonly group: () => GroupReading
  readonly tasks: () => readonly TaskReading[]
}

/** Registers the worker's families; they are read when somebody asks. */
export function workerMetrics(metrics: Metrics, { worker, group, tasks }: WorkerReadings): void {
  for (const { name, help, read } of WORKER_FAMILIES) {
    new Gauge({
      name: `kafka_connect_${name}`,
      help,
      registers: [metrics],
      collect() {
        this.set(read(worker(), group()))
      },
    })
  }
  for (const { name, help, kind, read } of FAMILIES) {
    new Gauge({
      name: `kafka_connect_${name}`,
      help,
      labelNames: ['connector', 'task'],
      registers: [metrics],
      collect() {
        this.reset()
        for (const reading of tasks()) {
          if (kind === undefined || kind === reading.kind) {
            this.set({ connector: reading.connector, task: String(reading.task) }, read(reading.counters))
          }
        }
      },
    })
  }
}
