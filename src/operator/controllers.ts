import type { Clock } from '../common/clock.ts'
import type { Logger } from '../common/logging/logger.ts'
import type { SecretMasker } from '../common/secrets/secret-masker.ts'
import type { CompatibilityWorker } from '../compatibility-worker/compatibility-worker.ts'
import type { Cluster, ClusterReader } from './cluster/cluster.ts'
import { DEFAULT_INSTANCE } from './cluster/open-cluster.ts'
import { ConnectorReconciler } from './connector/connector-reconciler.ts'
import { Controller } from './controller/controller.ts'
import type { Fence } from './controller/leader-fence.ts'
import { ReconcileLoop } from './controller/reconcile-loop.ts'
import type { Reconciler } from './controller/reconciler.ts'
import { WorkQueue } from './controller/work-queue.ts'
import type { OperatorMetrics } from './operator-metrics.ts'
import { RegistryModeReconciler } from './registry-mode/registry-mode-reconciler.ts'
import type { ResourceKey, ResourceKind } from './resources/resource.ts'
import type { RuntimeConfig, RuntimeKind, Runtimes } from './runtimes.ts'
import { SubjectReconciler } from './subject/subject-reconciler.ts'
import { runtimeNameOf } from './watch-mapping.ts'

export type ReconcilerOptions = {
  readonly cluster: ClusterReader
  readonly runtimes: Runtimes
  readonly clock: Clock
  /** Parses and compares large or complex schemas. */
  readonly compatibilityWorker: Pick<CompatibilityWorker, 'run'>
  /** Part of the ownership marker of connectors: distinguishes installations that share a worker. */
  readonly instance?: string
  /** Masks secret values in the log; the values of each Connector are added to it. */
  readonly secrets?: SecretMasker
  /** How often a healthy resource is reconciled; absent: `observeInterval` of its runtime. */
  readonly resyncPeriodMs?: number
  /** Whether changes in a runtime enqueue its resources, so that polling them is not needed; absent: they do not. */
  readonly isPolled?: (runtime: RuntimeKind, name: string) => boolean
  /** Number of resources of a kind. With many of them, the resync period of polled resources is longer; absent: 0. */
  readonly countResources?: (kind: ResourceKind) => number
  /** Whether the last list of a runtime did not contain an object; absent: runtimes are not listed. */
  readonly isKnownAbsent?: (runtime: RuntimeKind, name: string, object: string) => boolean
}

/** How many resources of one kind are reconciled against one runtime at the same time. */
export const CONCURRENCY = 4
/**
 * Resync period of resources whose runtime is polled. Lists do not show everything, such as a deleted old version.
 */
const POLLED_RESYNC_MS = 600_000
/** With many resources, the period is longer: 30,000 Subjects in ten minutes would be 150 requests a second to their registry. */
const POLLED_RESYNCS_PER_SECOND_MAX = 10

export type Reconcilers = { readonly [K in ResourceKind]: Reconciler<K> }

export function createReconcilers({
  cluster,
  runtimes,
  clock,
  compatibilityWorker,
  instance = DEFAULT_INSTANCE,
  secrets,
  resyncPeriodMs,
  isPolled: isObserved = () => false,
  countResources = () => 0,
  isKnownAbsent = () => false,
}: ReconcilerOptions): Reconcilers {
  const observeIntervalMs = resyncPeriodMs === undefined ? {} : { observeIntervalMs: resyncPeriodMs }
  const polledResyncMs = (kind: ResourceKind) =>
    Math.max(POLLED_RESYNC_MS, (countResources(kind) / POLLED_RESYNCS_PER_SECOND_MAX) * 1_000)
  const healthyResyncMs = (runtime: RuntimeKind, kind: ResourceKind) => (config: RuntimeConfig) =>
    resyncPeriodMs ?? (isObserved(runtime, config.name) ? polledResyncMs(kind) : config.observeIntervalMs)
  const isKnownAbsentIn = (runtime: RuntimeKind) => (config: RuntimeConfig, object: string) =>
    isKnownAbsent(runtime, config.name, object)
  return {
    RegistryMode: new RegistryModeReconciler({ cluster, runtimes, clock, ...observeIntervalMs }),
    Subject: new SubjectReconciler({
      cluster,
      runtimes,
      clock,
      compatibilityWorker,
      ...observeIntervalMs,
      healthyResyncMs: healthyResyncMs('registry', 'Subject'),
      isKnownAbsent: isKnownAbsentIn('registry'),
    }),
    Connector: new ConnectorReconciler({
      cluster,
      runtimes,
      clock,
      instance,
      ...(secrets && { secrets }),
      ...observeIntervalMs,
      healthyResyncMs: healthyResyncMs('worker', 'Connector'),
      isKnownAbsent: isKnownAbsentIn('worker'),
    }),
  }
}

export type ControllerDependencies = {
  readonly cluster: Cluster
  readonly clock: Clock
  readonly logger: Logger
  readonly fence: Fence
  readonly operatorMetrics: OperatorMetrics
}

/** The work queue of each kind; the runtime of a resource is its flow, so that a slow runtime delays no other one. */
export type WorkQueues = Readonly<Record<ResourceKind, WorkQueue<ResourceKey>>>

export function createWorkQueues({
  cluster,
  clock,
  operatorMetrics,
}: Pick<ControllerDependencies, 'cluster' | 'clock' | 'operatorMetrics'>): WorkQueues {
  const queueOf = (kind: ResourceKind) =>
    new WorkQueue<ResourceKey>({
      clock,
      metrics: operatorMetrics.controller(kind),
      flowConcurrency: CONCURRENCY,
      // A resource that no longer exists calls no runtime.
      flowOf(key) {
        const resource = cluster.get(key)
        return resource === undefined ? '' : runtimeNameOf(resource)
      },
    })
  return { RegistryMode: queueOf('RegistryMode'), Subject: queueOf('Subject'), Connector: queueOf('Connector') }
}

/** One controller for each kind, so that failing connectors delay no subjects. */
export function createControllers(
  queues: WorkQueues,
  reconcilers: Reconcilers,
  dependencies: ControllerDependencies,
): readonly Controller<ResourceKey>[] {
  const { RegistryMode, Subject, Connector } = reconcilers
  return [
    controllerOf(queues.RegistryMode, RegistryMode, dependencies),
    controllerOf(queues.Subject, Subject, dependencies),
    controllerOf(queues.Connector, Connector, dependencies),
  ]
}

function controllerOf<K extends ResourceKind>(
  queue: WorkQueue<ResourceKey>,
  reconciler: Reconciler<K>,
  { cluster, clock, logger, fence, operatorMetrics }: ControllerDependencies,
): Controller<ResourceKey> {
  const metrics = operatorMetrics.controller(reconciler.kind)
  const onEvent = (reason: string) => operatorMetrics.eventRecorded(reconciler.kind, reason)
  const loop = new ReconcileLoop(reconciler, { cluster, clock, logger, fence, metrics, onEvent })
  return new Controller<ResourceKey>({
    queue,
    clock,
    logger,
    metrics,
    reconcile: (key) => loop.reconcile(key as ResourceKey<K>),
  })
}
