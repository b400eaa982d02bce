import { isDeepStrictEqual } from 'node:util'
import { RequestError } from '../../clients/http.ts'
import type { Clock } from '../../config/clock.ts'
import { messageOf } from '../../config/errors.ts'
import type { Logger } from '../../config/logger.ts'
import { type Cluster, type EventReason, type ResourceEvent, WRITE_MS } from '../cluster/cluster.ts'
import { buildConditions, type ObservedCondition, type ReadyCondition } from '../resources/condition.ts'
import { externalObjectIndex } from '../resources/index-values.ts'
import {
  type Resource,
  type ResourceKey,
  type ResourceKind,
  type ResourceStatus,
  resourceKeyOf,
} from '../resources/resource.ts'
import type { Condition } from '../resources/status.ts'
import { CircuitOpenError } from './circuit-breaker.ts'
import { conditionEvents } from './condition-events.ts'
import type { Requeue } from './controller.ts'
import { type ControllerMetrics, NO_METRICS } from './controller-metrics.ts'
import { DeferredStatuses } from './deferred-statuses.ts'
import { DriftFights, toDriftFight, withDriftReported } from './drift-fights.ts'
import { type Fence, NotLeaderError } from './fence.ts'
import { abandonedEvent } from './finalizer.ts'
import { NotAppliedError, outcomeOfError, outcomeOfTransientState, TerminalError } from './reconcile-error.ts'

/** What one pass found out: how the resource is doing, and what else goes into its status. */
export type ReconcileResult<K extends ResourceKind> = {
  readonly readyCondition: ReadyCondition
  readonly statusFields: Omit<ResourceStatus[K], 'observedGeneration' | 'conditions'>
  readonly requeue: Requeue
  /** What is to be kept in a ConfigMap of its namespace; written before the status, which says that it is. */
  readonly exportedConfigMap?: { readonly configMap: string; readonly data: Readonly<Record<string, string>> }
  /** It is on its way by itself: what was Ready before stays so for the time of grace. */
  readonly isTransient?: boolean
  /** What it says is over in a moment: it need not be written when what follows comes soon. */
  readonly mayDeferStatus?: boolean
  /** What it did, for people. */
  readonly events?: readonly ResourceEvent[]
  /** The deletion is carried out, or given up in a visible way. */
  readonly removeFinalizer?: true
}

/** How one kind is reconciled. It throws `TerminalError`, `DependencyNotReady` or the error of a client; anything else is a bug. */
export interface Reconciler<K extends ResourceKind> {
  readonly kind: K
  readonly runtime: 'Worker' | 'Registry'
  /** Whether deletion of the resource has to wait until something elsewhere is tidied up. */
  needsFinalizer(resource: Resource<K>): boolean
  /** Whether something was ever written to the runtime for it, as far as its status says. */
  wasApplied(resource: Resource<K>): boolean
  reconcile(resource: Resource<K>): Promise<ReconcileResult<K>>
  /** How long a deletion waits for a runtime that does not answer; undefined: for ever. */
  deletionTimeoutMs(resource: Resource<K>): number | undefined
  /** What was Ready stays so for so long while its runtime is in trouble. */
  readinessGracePeriodMs(resource: Resource<K>): number
  /** What `reconcile` would say of it, found out without writing anything: throws what keeps it from coming about. */
  dryRun(resource: Resource<K>): Promise<void>
}

/** The runtime is not this operator's business any more: its configuration has the last word. */
const REVOKED: ReadonlySet<string> = new Set(['UnknownCluster', 'NotAllowed'])
const FORCE_DELETE = 'weir.dev/force-delete'

export type ReconcileLoopOptions = {
  readonly cluster: Cluster
  readonly clock: Clock
  readonly logger: Logger
  readonly fence: Fence
  readonly metrics?: ControllerMetrics
  readonly onEvent?: (reason: EventReason) => void
}

/**
 * Makes passes out of a reconciler: finalizer first, then the pass, then its status, which is written only when it
 * differs. This is the one place where failures become conditions.
 */
export function passesOf<K extends ResourceKind>(reconciler: Reconciler<K>, surroundings: ReconcileLoopOptions) {
  const { clock, logger, metrics = NO_METRICS } = surroundings
  const cluster = fenced(surroundings)
  const tell = (resource: Resource<K>, event: ResourceEvent): void => {
    surroundings.cluster.recordEvent(resource, event)
    surroundings.onEvent?.(event.reason)
  }
  const troubleSinceMs = new Map<ResourceKey, number>()
  const fights = new DriftFights<ResourceKey>(clock)
  const held = new DeferredStatuses(clock)

  /** How long it has been in trouble, this pass included. */
  const troubleMs = (resource: Resource<K>): number => {
    const key = resourceKeyOf(resource)
    const nowMs = clock.monotonicMs()
    const sinceMs = troubleSinceMs.get(key) ?? nowMs
    troubleSinceMs.set(key, sinceMs)
    return nowMs - sinceMs
  }

  const fail = (resource: Resource<K>, error: unknown): ReconcileResult<K> => {
    const key = resourceKeyOf(resource)
    const { observedGeneration: _, conditions, ...statusFields } = resource.status as ResourceStatus[K]
    const { runtime } = reconciler
    const sinceMs = troubleMs(resource)
    // Who may not talk to a runtime has no grace there.
    const readinessGracePeriodMs = error instanceof TerminalError ? 0 : reconciler.readinessGracePeriodMs(resource)
    const { generation } = resource.metadata
    const judged = outcomeOfError(error, { runtime, previous: conditions, generation, sinceMs, readinessGracePeriodMs })
    if (judged !== undefined) {
      // All are woken when it answers again: until then there is only what has to be said, or given up, in time.
      const requeue =
        causeOf(error) instanceof CircuitOpenError
          ? withinMs([readinessGracePeriodMs - sinceMs, deletionTimeoutLeftMs(resource)])
          : judged.requeue
      return { ...judged, requeue, statusFields }
    }
    logger.error({ err: error, resource: key }, 'reconcile failed')
    const message = 'the operator met an error of its own; its log has it'
    const readyCondition: ReadyCondition = {
      status: 'Unknown',
      reason: 'InternalError',
      message,
      progress: 'reconciling',
    }
    return { readyCondition, statusFields, requeue: 'rate-limited' }
  }

  const deletionTimeoutLeftMs = (resource: Resource<K>): number => {
    const { deletionTimestamp } = resource.metadata
    const deletionTimeoutMs = deletionTimestamp === undefined ? undefined : reconciler.deletionTimeoutMs(resource)
    return deletionTimeoutMs === undefined
      ? 0
      : deletionTimeoutMs - clock.nowMs() + Date.parse(deletionTimestamp ?? '') + 1
  }

  /** A deletion that can't be carried out, or that somebody does not want to wait for, ends in leaving things behind. */
  const giveUp = (resource: Resource<K>, error: unknown): ReconcileResult<K> | undefined => {
    const { deletionTimestamp, annotations } = resource.metadata
    if (deletionTimestamp === undefined) return undefined
    const isRevoked =
      error instanceof TerminalError &&
      (REVOKED.has(error.reason) || (error.reason === 'ClusterConfigInvalid' && !reconciler.wasApplied(resource)))
    const deletionTimeoutMs = () => reconciler.deletionTimeoutMs(resource) ?? Number.POSITIVE_INFINITY
    const waitedMs = clock.nowMs() - Date.parse(deletionTimestamp)
    const cause = causeOf(error)
    const isAway = cause instanceof RequestError && cause.retriable
    if (!isRevoked && annotations[FORCE_DELETE] !== 'true' && !(isAway && waitedMs > deletionTimeoutMs()))
      return undefined
    const { observedGeneration: _, conditions: __, ...statusFields } = resource.status as ResourceStatus[K]
    const message = `left as it is: ${messageOf(error)}`
    // A namespace that is being deleted takes no Event any more.
    logger.warn(
      { err: error, resource: resourceKeyOf(resource), left: externalObjectIndex(resource) },
      'a deletion was given up: this stays behind',
    )
    const readyCondition: ReadyCondition = { status: 'False', reason: 'Deleting', message }
    return { readyCondition, statusFields, requeue: 'none', removeFinalizer: true, events: [abandonedEvent(message)] }
  }

  /** Puts right what drifted, unless that has become a fight. */
  const peaceful = async (resource: Resource<K>): Promise<ReconcileResult<K>> => {
    const key = resourceKeyOf(resource)
    const suppressedForMs = fights.suppressedForMs(key)
    if (suppressedForMs === 0) {
      const pass = await reconciler.reconcile(resource)
      if (pass.events?.some(({ reason }) => reason === 'DriftCorrected')) fights.recordCorrection(key)
      return pass
    }
    const { readyCondition, requeue, ...pass } = await reconciler.reconcile(withDriftReported(resource))
    const afterMs = typeof requeue === 'string' ? suppressedForMs : Math.min(suppressedForMs, requeue.afterMs)
    return {
      ...pass,
      readyCondition: { ...readyCondition, otherConditions: readyCondition.otherConditions?.map(toDriftFight) ?? [] },
      requeue: { afterMs },
    }
  }

  const passOver = async (resource: Resource<K>): Promise<ReconcileResult<K>> => {
    try {
      const pass = await peaceful(resource)
      if (pass.exportedConfigMap !== undefined) await keepCopy(cluster, resource, pass.exportedConfigMap)
      if (pass.isTransient) {
        const { conditions: previous } = resource.status
        const { generation } = resource.metadata
        const times = {
          sinceMs: troubleMs(resource),
          readinessGracePeriodMs: reconciler.readinessGracePeriodMs(resource),
        }
        return { ...pass, ...outcomeOfTransientState(pass.readyCondition, { previous, generation, ...times }) }
      }
      troubleSinceMs.delete(resourceKeyOf(resource))
      return pass
    } catch (error) {
      if (error instanceof NotLeaderError) throw error
      return giveUp(resource, error) ?? fail(resource, error)
    }
  }

  const keepStatus = async (
    key: ResourceKey<K>,
    stored: Resource<K>,
    { mayDeferStatus }: ReconcileResult<K>,
    status: ResourceStatus[K],
  ): Promise<void> => {
    if (mayDeferStatus && held.defer(stored, status)) return
    if (!isDeepStrictEqual(stored.status, status)) await cluster.writeStatus(key, status)
    held.forget(key)
  }

  return async (key: ResourceKey<K>): Promise<Requeue> => {
    const stored = await withFinalizer(cluster, reconciler, key)
    if (stored === undefined) {
      troubleSinceMs.delete(key)
      fights.forget(key)
      held.forget(key)
      return 'none'
    }
    const resource = held.withDeferredStatus(stored)
    const pass = await passOver(resource)
    if (pass.readyCondition.progress === 'stalled') metrics.failedTerminally()
    const conditions = conditionsAfter(resource, pass.readyCondition, clock.nowMs())
    if (pass.removeFinalizer) await cluster.setFinalizer(key, false)
    else await keepStatus(key, stored, pass, statusOf(resource, pass, conditions))
    // Once that is done: what is told has happened, and is told once.
    for (const event of [...(pass.events ?? []), ...conditionEvents(resource.status.conditions, conditions)])
      tell(stored, event)
    return pass.removeFinalizer ? 'none' : pass.requeue
  }
}

function causeOf(error: unknown): unknown {
  return error instanceof NotAppliedError ? error.cause : error
}

/** The first of these times that is still to come. */
function withinMs(timesMs: readonly number[]): Requeue {
  const left = timesMs.filter((ms) => ms > 0)
  return left.length === 0 ? 'none' : { afterMs: Math.min(...left) }
}

type Written = Pick<Cluster, 'get' | 'writeStatus' | 'setFinalizer' | 'writeConfigMap'>

/** What a pass reads and writes there; nothing is written by one who may not be the leader any more. */
function fenced({ cluster, fence }: ReconcileLoopOptions): Written {
  return {
    get: (key) => cluster.get(key),
    async writeStatus(key, status) {
      fence.assertFor(WRITE_MS)
      await cluster.writeStatus(key, status)
    },
    async setFinalizer(key, present) {
      fence.assertFor(WRITE_MS)
      await cluster.setFinalizer(key, present)
    },
    async writeConfigMap(namespace, name, data) {
      fence.assertFor(WRITE_MS)
      return cluster.writeConfigMap(namespace, name, data)
    },
  }
}

/** The resource as it is after its finalizer is in place; undefined when there is nothing left to do for it. */
async function withFinalizer<K extends ResourceKind>(
  cluster: Written,
  reconciler: Reconciler<K>,
  key: ResourceKey<K>,
): Promise<Resource<K> | undefined> {
  const resource = cluster.get(key)
  if (resource === undefined) return undefined
  const { deletionTimestamp, finalizers } = resource.metadata
  const held = finalizers.length > 0
  if (deletionTimestamp !== undefined) return held ? resource : undefined
  const wanted = reconciler.needsFinalizer(resource)
  if (wanted !== held) await cluster.setFinalizer(key, wanted)
  return cluster.get(key)
}

function statusOf<K extends ResourceKind>(
  { metadata: { generation } }: Resource<K>,
  { statusFields }: ReconcileResult<K>,
  conditions: readonly Condition[],
): ResourceStatus[K] {
  return { ...statusFields, observedGeneration: generation, conditions } as ResourceStatus[K]
}

function conditionsAfter(resource: Resource, readyCondition: ReadyCondition, nowMs: number): readonly Condition[] {
  const { status, metadata } = resource
  return buildConditions(withSuspension(resource, readyCondition), status.conditions, metadata.generation, nowMs)
}

/** A suspended resource still shows how it is doing, but nobody works on it. */
function withSuspension(resource: Resource, readyCondition: ReadyCondition): ReadyCondition {
  if (!resource.spec.suspend) return readyCondition
  const { progress: _, otherConditions = [], ...rest } = readyCondition
  const suspended: ObservedCondition = {
    type: 'Suspended',
    status: 'True',
    reason: 'Suspended',
    message: 'spec.suspend is set: the operator looks, and writes nothing',
  }
  return { ...rest, otherConditions: [...otherConditions, suspended] }
}

async function keepCopy(
  cluster: Written,
  { metadata: { namespace } }: Resource,
  { configMap, data }: NonNullable<ReconcileResult<ResourceKind>['exportedConfigMap']>,
): Promise<void> {
  if (await cluster.writeConfigMap(namespace, configMap, data)) return
  throw new TerminalError(
    'Conflict',
    `${Object.keys(data).join(', ')} of ConfigMap ${configMap} is kept by somebody else: name another ConfigMap`,
  )
}
