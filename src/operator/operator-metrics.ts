import { Counter, Gauge, Histogram } from 'prom-client'
import type { Metrics } from '../common/metrics-registry.ts'
import type { ControllerMetrics, QueueState, ReconcileOutcome } from './controller/controller-metrics.ts'
import { findCondition } from './resources/condition.ts'
import { RESOURCE_KINDS, type Resource, type ResourceKind } from './resources/resource.ts'

/** The state of the operator, read when metrics are scraped. */
export type OperatorState = {
  readonly isLeader: () => boolean
  /** Reconciles of one kind against one runtime that may run at the same time. */
  readonly concurrency: number
  readonly resources: () => readonly Resource[]
  /** Undefined while this process does not lead. */
  readonly queue: (kind: ResourceKind) => QueueState | undefined
  /** Time since each watch last received data. */
  readonly watches: () => readonly { readonly resource: string; readonly silentMs: number }[]
  /** Time since each worker and registry was last listed. */
  readonly pollLags: () => readonly {
    readonly cluster: string
    readonly runtime: 'worker' | 'registry'
    readonly lagMs: number
  }[]
}

/** Receives what the operator does. */
export type OperatorMetrics = {
  controller(kind: ResourceKind): ControllerMetrics
  /** A request to a runtime has ended. Status 0: no response. */
  runtimeCallEnded(
    cluster: string,
    runtime: 'worker' | 'registry',
    call: { method: string; path: string },
    status: number,
  ): void
  /** A request to the API server has ended. Status 0: no response. */
  apiCallEnded(method: string, host: string, status: number, tookMs: number): void
  watchRestarted(resource: string, reason: string): void
  /** An Event was recorded. */
  eventRecorded(kind: ResourceKind, reason: string): void
}

const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
/** Each condition of each resource is a series: beyond this number only the sums are exposed. */
const RESOURCES_MAX = 10_000
const EVENTS = {
  DriftDetected: ['weir_drift_total', 'Changes by other clients that were detected or corrected.'],
  DriftCorrected: ['weir_drift_total', 'Changes by other clients that were detected or corrected.'],
  AutoRestarted: ['weir_autorestart_total', 'Automatic restarts of failed connectors and tasks.'],
} as const

/**
 * Registers the counters and histograms of the operator. Metrics that controller-runtime also has keep its names, so that
 * its dashboards can be used.
 */
export function registerOperatorMetrics(metrics: Metrics): OperatorMetrics {
  const make = new MetricFamilies(metrics)
  const controller = controllerMetrics(make)
  const { runtimeCallEnded, apiCallEnded, watchRestarted } = callMetrics(make)
  const { eventRecorded } = eventMetrics(make)
  return { controller, runtimeCallEnded, apiCallEnded, watchRestarted, eventRecorded }
}

/** Registers the gauges, which read the state of the operator when the metrics are scraped. */
export function registerOperatorGauges(metrics: Metrics, state: OperatorState): void {
  const make = new MetricFamilies(metrics)
  make.gauge('leader_election_master_status', 'Whether this process is the leader (1) or on standby (0).', [], (set) =>
    set({}, Number(state.isLeader())),
  )
  queueGauges(make, state)
  resourceGauges(make, state)
  make.gauge('weir_cache_staleness_seconds', 'Time since a watch last received data.', ['resource'], (set) => {
    const byResource = Map.groupBy(state.watches(), ({ resource }) => resource)
    for (const [resource, watches] of byResource)
      set({ resource }, Math.max(...watches.map(({ silentMs }) => silentMs)) / 1_000)
  })
  make.gauge(
    'weir_observe_lag_seconds',
    'Time since the objects of a runtime were last listed.',
    ['cluster', 'runtime'],
    (set) => {
      for (const { cluster, runtime, lagMs } of state.pollLags()) set({ cluster, runtime }, lagMs / 1_000)
    },
  )
}

type Collect = (set: (labels: Readonly<Record<string, string>>, value: number) => void) => void

/** Makes metric families in one registry. */
class MetricFamilies {
  readonly #registers: [Metrics]

  constructor(metrics: Metrics) {
    this.#registers = [metrics]
  }

  /** A gauge whose values are read at each scrape. */
  gauge(name: string, help: string, labelNames: readonly string[], collect: Collect): void {
    new Gauge({
      name,
      help,
      labelNames,
      registers: this.#registers,
      collect() {
        this.reset()
        collect((of, value) => this.set(of, value))
      },
    })
  }

  level<L extends string>(name: string, help: string, labelNames: readonly L[]): Gauge<L> {
    return new Gauge({ name, help, labelNames, registers: this.#registers })
  }

  counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: this.#registers })
  }

  histogram<L extends string>(name: string, help: string, labelNames: readonly L[]): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets: SECONDS, registers: this.#registers })
  }
}

const CONTROLLER = ['controller'] as const
const QUEUE = ['name', 'controller'] as const
const ofController = (kind: ResourceKind) => ({ controller: kind.toLowerCase() })
const ofQueue = (kind: ResourceKind) => ({ name: kind.toLowerCase(), controller: kind.toLowerCase() })

function queueGauges(make: MetricFamilies, state: OperatorState): void {
  const families: readonly (readonly [string, string, (reading: QueueState) => number])[] = [
    ['workqueue_depth', 'Resources that wait to be reconciled.', ({ waiting }) => waiting],
    [
      'workqueue_unfinished_work_seconds',
      'Total duration of the reconciles that are running.',
      ({ workingMs }) => workingMs.reduce((sum, ms) => sum + ms, 0) / 1_000,
    ],
    [
      'workqueue_longest_running_processor_seconds',
      'Duration of the longest reconcile that is running.',
      ({ workingMs }) => Math.max(0, ...workingMs) / 1_000,
    ],
  ]
  for (const [name, help, of] of families) {
    make.gauge(name, help, QUEUE, (set) => {
      for (const kind of RESOURCE_KINDS) set(ofQueue(kind), of(state.queue(kind) ?? NOTHING))
    })
  }
  make.gauge('controller_runtime_active_workers', 'Running reconciles.', CONTROLLER, (set) => {
    for (const kind of RESOURCE_KINDS) set(ofController(kind), state.queue(kind)?.workingMs.length ?? 0)
  })
  make.gauge(
    'controller_runtime_max_concurrent_reconciles',
    'Reconciles of one kind against one runtime that may run at the same time.',
    CONTROLLER,
    (set) => {
      for (const kind of RESOURCE_KINDS) set(ofController(kind), state.concurrency)
    },
  )
}

function resourceGauges(make: MetricFamilies, state: OperatorState): void {
  make.gauge('weir_resources', 'Resources by the status and reason of Ready.', ['kind', 'ready', 'reason'], (set) => {
    const counts = Map.groupBy(state.resources(), ({ kind, status }) => {
      const ready = findCondition(status.conditions, 'Ready')
      return JSON.stringify({ kind, ready: ready?.status ?? 'Unknown', reason: ready?.reason ?? 'Pending' })
    })
    for (const [labels, { length }] of counts) set(JSON.parse(labels), length)
  })
  const labels = ['kind', 'namespace', 'name', 'type', 'status'] as const
  make.gauge(
    'weir_resource_condition',
    'Conditions of each resource. Absent if there are more than 10,000 resources.',
    labels,
    (set) => {
      const resources = state.resources()
      if (resources.length > RESOURCES_MAX) return
      for (const { kind, metadata, status } of resources) {
        const { namespace, name } = metadata
        for (const condition of status.conditions) {
          set({ kind, namespace, name, type: condition.type, status: condition.status }, 1)
        }
      }
    },
  )
}

function controllerMetrics(make: MetricFamilies): OperatorMetrics['controller'] {
  const results = make.counter('controller_runtime_reconcile_total', 'Reconciles by result.', ['controller', 'result'])
  const failures = make.counter('controller_runtime_reconcile_errors_total', 'Reconciles that failed.', CONTROLLER)
  const panics = make.counter(
    'controller_runtime_reconcile_panics_total',
    'Reconciles that failed because of a bug.',
    CONTROLLER,
  )
  const timeouts = make.counter(
    'controller_runtime_reconcile_timeouts_total',
    'Reconciles that exceeded their time limit.',
    CONTROLLER,
  )
  const stuck = make.counter(
    'controller_runtime_terminal_reconcile_errors_total',
    'Reconciles that ended with a terminal error.',
    CONTROLLER,
  )
  const seconds = make.histogram('controller_runtime_reconcile_time_seconds', 'Duration of reconciles.', CONTROLLER)
  const added = make.counter('workqueue_adds_total', 'Resources that were added to the queue.', QUEUE)
  const retried = make.counter('workqueue_retries_total', 'Resources that were requeued with backoff.', QUEUE)
  const waited = make.histogram('workqueue_queue_duration_seconds', 'Time that resources waited in the queue.', QUEUE)
  const worked = make.histogram('workqueue_work_duration_seconds', 'Duration of reconciles.', QUEUE)
  return (kind) => {
    const labels = ofController(kind)
    const both = ofQueue(kind)
    for (const family of [failures, panics, timeouts, stuck]) family.inc(labels, 0)
    for (const family of [added, retried]) family.inc(both, 0)
    return {
      added: () => added.inc(both),
      retried: () => retried.inc(both),
      dequeued: (waitedMs) => waited.observe(both, waitedMs / 1_000),
      failedTerminally: () => stuck.inc(labels),
      reconciled(outcome, tookMs) {
        const failed = FAILED.has(outcome)
        results.inc({ ...labels, result: failed ? 'error' : outcome })
        if (failed) failures.inc(labels)
        if (outcome === 'panic') panics.inc(labels)
        if (outcome === 'timeout') timeouts.inc(labels)
        seconds.observe(labels, tookMs / 1_000)
        worked.observe(both, tookMs / 1_000)
      },
    }
  }
}

function callMetrics(
  make: MetricFamilies,
): Pick<OperatorMetrics, 'runtimeCallEnded' | 'apiCallEnded' | 'watchRestarted'> {
  const calls = make.counter(
    'weir_runtime_requests_total',
    'Requests to workers and registries. Code 0: no response.',
    ['cluster', 'endpoint', 'code'],
  )
  const up = make.level('weir_runtime_up', 'Whether a runtime responded to the last request (1) or not (0).', [
    'cluster',
    'runtime',
  ])
  const requests = make.counter('rest_client_requests_total', 'Requests to the API server. Code 0: no response.', [
    'code',
    'method',
    'host',
  ])
  const took = make.histogram(
    'rest_client_request_duration_seconds',
    'Time until the API server begins its response.',
    ['verb', 'host'],
  )
  const restarts = make.counter('weir_watch_restarts_total', 'Restarts of watches.', ['resource', 'reason'])
  return {
    runtimeCallEnded(cluster, runtime, { method, path }, status) {
      calls.inc({ cluster, endpoint: `${method} ${templateOf(path)}`, code: String(status) })
      up.set({ cluster, runtime }, Number(status > 0))
    },
    apiCallEnded(method, host, status, tookMs) {
      requests.inc({ code: String(status), method, host })
      took.observe({ verb: method, host }, tookMs / 1_000)
    },
    watchRestarted: (resource, reason) => restarts.inc({ resource, reason }),
  }
}

function eventMetrics(make: MetricFamilies): Pick<OperatorMetrics, 'eventRecorded'> {
  const families = new Map<string, Counter<'kind'>>()
  for (const [name, help] of Object.values(EVENTS)) {
    if (!families.has(name)) families.set(name, make.counter(name, help, ['kind']))
  }
  return {
    eventRecorded(kind, reason) {
      const event = EVENTS[reason as keyof typeof EVENTS]
      if (event !== undefined) families.get(event[0])?.inc({ kind })
    },
  }
}

const NOTHING: QueueState = { waiting: 0, workingMs: [] }
const FAILED: ReadonlySet<ReconcileOutcome> = new Set(['error', 'panic', 'timeout'])

/** Fixed path segments of the runtimes' APIs; every other segment is a name. */
const WORDS = new Set(
  [
    'connectors connector-plugins config validate status offsets restart pause resume stop tasks topics',
    'subjects versions mode schemas ids latest compatibility referencedby',
  ].flatMap((words) => words.split(' ')),
)

function templateOf(path: string): string {
  const [bare = ''] = path.split('?')
  return bare
    .split('/')
    .map((part) => (part === '' || WORDS.has(part) ? part : '{}'))
    .join('/')
}
