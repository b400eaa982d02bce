import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../common/clock.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { packageVersion } from '../../common/package-version.ts'
import { traced } from '../../common/tracing.ts'
import type { Cluster, EventReason, ResourceEvent } from '../cluster/cluster.ts'
import { requestOf } from '../resources/annotations.ts'
import type { Condition } from '../resources/common-status.ts'
import { buildConditions, type ObservedCondition, type ReadyCondition } from '../resources/condition.ts'
import { externalObjectIndex } from '../resources/index-values.ts'
import {
  type Resource,
  type ResourceKey,
  type ResourceKind,
  type ResourceStatus,
  resourceKeyOf,
} from '../resources/resource.ts'
import { abandonDeletion, deletionTimeLeftMs, isDeletionForced } from './abandon-deletion.ts'
import { CircuitOpenError } from './circuit-breaker.ts'
import { conditionEvents } from './condition-events.ts'
import type { Requeue } from './controller.ts'
import { type ControllerMetrics, NO_METRICS } from './controller-metrics.ts'
import { DeferredStatuses } from './deferred-statuses.ts'
import { DriftFights, toDriftFight, withDriftReported } from './drift-fights.ts'
import { outcomeOfError, outcomeOfTransientState } from './error-outcome.ts'
import { FailureTimes } from './failure-times.ts'
import { type FencedCluster, fenceWrites } from './fenced-cluster.ts'
import { ensureFinalizer, removeFinalizer } from './finalizer.ts'
import { type Fence, NotLeaderError } from './leader-fence.ts'
import { mergeStatus } from './merge-status.ts'
import { causeOf, TerminalError } from './reconcile-error.ts'
import type { ReconcileResult, Reconciler } from './reconciler.ts'

export type ReconcileLoopOptions = {
  readonly cluster: Cluster
  readonly clock: Clock
  readonly logger: Logger
  readonly fence: Fence
  readonly metrics?: ControllerMetrics
  readonly onEvent?: (reason: EventReason) => void
}

/**
 * Reconciles single resources of one kind: sets the finalizer, calls the reconciler, and writes the status if it
 * differs. This is the only place that turns errors into conditions.
 */
export class ReconcileLoop<K extends ResourceKind> {
  readonly #reconciler: Reconciler<K>
  readonly #cluster: FencedCluster
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #metrics: ControllerMetrics
  readonly #recordEvent: (resource: Resource<K>, event: ResourceEvent) => void
  readonly #failureTimes: FailureTimes
  readonly #driftFights: DriftFights<ResourceKey>
  readonly #deferredStatuses: DeferredStatuses

  constructor(reconciler: Reconciler<K>, options: ReconcileLoopOptions) {
    const { cluster, clock, logger, fence, metrics = NO_METRICS, onEvent } = options
    this.#reconciler = reconciler
    this.#cluster = fenceWrites(cluster, fence)
    this.#clock = clock
    this.#logger = logger
    this.#metrics = metrics
    this.#recordEvent = (resource, event) => {
      cluster.recordEvent(resource, event)
      onEvent?.(event.reason)
    }
    this.#failureTimes = new FailureTimes(clock)
    this.#driftFights = new DriftFights(clock)
    this.#deferredStatuses = new DeferredStatuses(clock)
  }

  /** Rejects with the error of a write to the cluster, or with `NotLeaderError`. */
  reconcile(key: ResourceKey<K>): Promise<Requeue> {
    const [kind, namespace = '', name = ''] = key.split('/')
    const attributes = { 'weir.resource.kind': kind ?? '', 'k8s.namespace.name': namespace, 'weir.resource.name': name }
    return traced(`reconcile ${kind}`, { kind: 'internal', isRoot: true, attributes }, () => this.#reconcile(key))
  }

  async #reconcile(key: ResourceKey<K>): Promise<Requeue> {
    await this.#cluster.confirm(key)
    const stored = await ensureFinalizer(key, (resource) => this.#reconciler.needsFinalizer(resource), this.#cluster)
    if (stored === undefined) {
      this.#failureTimes.forget(key)
      this.#driftFights.forget(key)
      this.#deferredStatuses.forget(key)
      return this.#reportUnreadable(key)
    }
    const resource = this.#deferredStatuses.withDeferredStatus(stored)
    const isKept = stored.metadata.deletionTimestamp !== undefined && !this.#reconciler.needsFinalizer(stored)
    const result = isKept ? resultOfRetention(resource) : await this.#resultFor(resource)
    if (result.readyCondition.progress === 'stalled') this.#metrics.failedTerminally()
    const conditions = conditionsAfter(resource, result.readyCondition, this.#clock.nowMs())
    if (result.removeFinalizer) await removeFinalizer(key, this.#cluster)
    else await this.#writeStatus(key, stored, result, statusOf(resource, result, conditions))
    // Recorded after the write: an event is reported once, and only for what has happened.
    const events = [...(result.events ?? []), ...conditionEvents(resource.status.conditions, conditions)]
    for (const event of events) this.#recordEvent(stored, event)
    return result.removeFinalizer ? 'none' : result.requeue
  }

  /** Writes only the condition of an object that cannot be read: what it declares, also for its deletion, is unknown. */
  async #reportUnreadable(key: ResourceKey<K>): Promise<Requeue> {
    const unreadable = this.#cluster.unreadable(key)
    if (unreadable === undefined) return 'none'
    const { metadata, status, reason } = unreadable
    const { generation, deletionTimestamp } = metadata
    const isDeleted = deletionTimestamp !== undefined
    if (isDeleted && isDeletionForced(unreadable)) {
      await removeFinalizer(key, this.#cluster)
      return 'none'
    }
    const fault = `version ${VERSION} of the operator cannot read the object: ${reason}`
    const message = isDeleted ? `${fault}; its deletion waits for that, or for weir.dev/force-delete: "true"` : fault
    const readyCondition: ReadyCondition = { status: 'False', reason: 'UnsupportedSpec', message, progress: 'stalled' }
    const conditions = buildConditions(readyCondition, status.conditions, generation, this.#clock.nowMs())
    const reported = { ...status, observedGeneration: generation, conditions } as ResourceStatus[K]
    const isReported = isDeepStrictEqual(status, reported) || (await this.#cluster.writeStatus(key, reported))
    return isReported ? 'none' : 'rate-limited'
  }

  async #resultFor(resource: Resource<K>): Promise<ReconcileResult<K>> {
    const key = resourceKeyOf(resource)
    try {
      const result = await this.#reconcileWithoutFight(resource)
      if (result.exportedConfigMap !== undefined) await this.#export(resource, result.exportedConfigMap)
      if (result.isTransient) return { ...result, ...this.#outcomeOfTransientState(resource, result) }
      this.#failureTimes.forget(key)
      return result
    } catch (error) {
      if (error instanceof NotLeaderError) throw error
      const abandoned = abandonDeletion(resource, error, this.#reconciler, this.#clock.nowMs())
      if (abandoned === undefined) return this.#resultForError(resource, error)
      // Logged, because a namespace that is being deleted accepts no new Events.
      const left = externalObjectIndex(resource)
      this.#logger.warn({ err: error, resource: key, left }, 'deletion abandoned: the external object is left in place')
      return abandoned
    }
  }

  /** Corrects drift, unless another writer keeps reverting the correction. */
  async #reconcileWithoutFight(resource: Resource<K>): Promise<ReconcileResult<K>> {
    const key = resourceKeyOf(resource)
    const suppressedForMs = this.#driftFights.suppressedForMs(key)
    if (suppressedForMs === 0) {
      const result = await this.#reconciler.reconcile(resource)
      if (result.events?.some(({ reason }) => reason === 'DriftCorrected')) this.#driftFights.recordCorrection(key)
      return result
    }
    const result = await this.#reconciler.reconcile(withDriftReported(resource))
    const { readyCondition, requeue } = result
    const otherConditions = readyCondition.otherConditions?.map(toDriftFight) ?? []
    const afterMs = typeof requeue === 'string' ? suppressedForMs : Math.min(suppressedForMs, requeue.afterMs)
    return { ...result, readyCondition: { ...readyCondition, otherConditions }, requeue: { afterMs } }
  }

  #outcomeOfTransientState(resource: Resource<K>, { readyCondition }: ReconcileResult<K>) {
    return outcomeOfTransientState(readyCondition, {
      previous: resource.status.conditions,
      generation: resource.metadata.generation,
      sinceMs: this.#failureTimes.record(resourceKeyOf(resource)),
      readinessGracePeriodMs: this.#reconciler.readinessGracePeriodMs(resource),
    })
  }

  #resultForError(resource: Resource<K>, error: unknown): ReconcileResult<K> {
    const key = resourceKeyOf(resource)
    const { observedGeneration: _, conditions, ...statusFields } = resource.status as ResourceStatus[K]
    const sinceMs = this.#failureTimes.record(key)
    // Without access to the runtime there is no grace period, and the status of a deletion shows at once why it waits.
    const hasGracePeriod = !(error instanceof TerminalError) && resource.metadata.deletionTimestamp === undefined
    const graceMs = hasGracePeriod ? this.#reconciler.readinessGracePeriodMs(resource) : 0
    const outcome = outcomeOfError(error, {
      runtime: this.#reconciler.runtime,
      previous: conditions,
      generation: resource.metadata.generation,
      sinceMs,
      readinessGracePeriodMs: graceMs,
    })
    if (outcome === undefined) {
      this.#logger.error({ err: error, resource: key }, 'reconcile failed')
      return { readyCondition: INTERNAL_ERROR, statusFields, requeue: 'rate-limited' }
    }
    if (!(causeOf(error) instanceof CircuitOpenError)) return { ...outcome, statusFields }
    // The circuit breaker requeues every resource when the runtime answers: until then only the deadlines matter.
    const deletionMs = deletionTimeLeftMs(resource, this.#reconciler, this.#clock.nowMs())
    return { ...outcome, statusFields, requeue: earliestOf([graceMs - sinceMs, deletionMs]) }
  }

  async #writeStatus(
    key: ResourceKey<K>,
    read: Resource<K>,
    { mayDeferStatus }: ReconcileResult<K>,
    status: ResourceStatus[K],
  ): Promise<void> {
    if (mayDeferStatus && this.#deferredStatuses.defer(read, status)) return
    // What this reconcile has done must be recorded, also while others change the resource all the time.
    for (let attempt = 1; !(await this.#writeMergedStatus(key, read, status, attempt)); attempt += 1)
      await this.#cluster.confirm(key)
    this.#deferredStatuses.forget(key)
  }

  /** False: the resource has changed, and nothing was written. */
  async #writeMergedStatus(
    key: ResourceKey<K>,
    read: Resource<K>,
    status: ResourceStatus[K],
    attempt: number,
  ): Promise<boolean> {
    const stored = this.#cluster.get(key)
    if (stored?.metadata.uid !== read.metadata.uid) return true
    const merged = mergeStatus<K>(status, read.status, stored.status)
    const isForced = attempt === STATUS_ATTEMPTS_MAX
    return isDeepStrictEqual(stored.status, merged) || this.#cluster.writeStatus(key, merged, isForced)
  }

  async #export(
    { metadata: { namespace } }: Resource,
    { configMap, data }: NonNullable<ReconcileResult<K>['exportedConfigMap']>,
  ): Promise<void> {
    if (await this.#cluster.writeConfigMap(namespace, configMap, data)) return
    const keys = Object.keys(data).join(', ')
    const message = `${keys} of ConfigMap ${configMap} is owned by another field manager: use another ConfigMap`
    throw new TerminalError('Conflict', message)
  }
}

const VERSION = packageVersion()

/** Of several attempts to write a status while others change its resource, the last one replaces whatever is stored. */
const STATUS_ATTEMPTS_MAX = 5

const INTERNAL_ERROR: ReadyCondition = {
  status: 'Unknown',
  reason: 'InternalError',
  message: 'internal error of the operator: see its log',
  progress: 'reconciling',
}

/**
 * Completes a deletion that leaves the external object as it is: the policy was changed to Retain, and the resource
 * deleted before its finalizer was removed.
 */
function resultOfRetention<K extends ResourceKind>(resource: Resource<K>): ReconcileResult<K> {
  const { observedGeneration: _, conditions: __, ...statusFields } = resource.status as ResourceStatus[K]
  const message = 'the external object is left in place: spec.deletionPolicy is Retain'
  return {
    readyCondition: { status: 'False', reason: 'Deleting', message },
    statusFields,
    requeue: 'none',
    removeFinalizer: true,
  }
}

/** Requeues at the earliest of these times that is in the future. */
function earliestOf(timesMs: readonly number[]): Requeue {
  const future = timesMs.filter((ms) => ms > 0 && Number.isFinite(ms))
  return future.length === 0 ? 'none' : { afterMs: Math.min(...future) }
}

function statusOf<K extends ResourceKind>(
  resource: Resource<K>,
  { statusFields }: ReconcileResult<K>,
  conditions: readonly Condition[],
): ResourceStatus[K] {
  const { generation } = resource.metadata
  const lastHandledReconcile = requestOf(resource, 'reconcile') ?? resource.status.lastHandledReconcile
  return {
    ...statusFields,
    ...(lastHandledReconcile !== undefined && { lastHandledReconcile }),
    observedGeneration: generation,
    conditions,
  } as ResourceStatus[K]
}

function conditionsAfter(resource: Resource, readyCondition: ReadyCondition, nowMs: number): readonly Condition[] {
  const { status, metadata } = resource
  return buildConditions(withSuspension(resource, readyCondition), status.conditions, metadata.generation, nowMs)
}

/** A suspended resource is still observed, but it is neither Reconciling nor Stalled. */
function withSuspension(resource: Resource, readyCondition: ReadyCondition): ReadyCondition {
  if (!resource.spec.suspend) return readyCondition
  const { progress: _, otherConditions = [], ...rest } = readyCondition
  const suspended: ObservedCondition = {
    type: 'Suspended',
    status: 'True',
    reason: 'Suspended',
    message: 'spec.suspend is true: the operator observes the resource and writes nothing',
  }
  return { ...rest, otherConditions: [...otherConditions, suspended] }
}
