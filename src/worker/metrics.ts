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

/** Registers the worker's families; they are read from the running tasks when somebody asks. */
export function workerMetrics(metrics: Metrics, readTasks: () => readonly TaskReading[]): void {
  for (const { name, help, kind, read } of FAMILIES) {
    new Gauge({
      name: `kafka_connect_${name}`,
      help,
      labelNames: ['connector', 'task'],
      registers: [metrics],
      collect() {
        this.reset()
        for (const reading of readTasks()) {
          if (kind === undefined || kind === reading.kind) {
            this.set({ connector: reading.connector, task: String(reading.task) }, read(reading.counters))
          }
        }
      },
    })
  }
}
