import { createRegistryClient } from '../clients/registry-client.ts'
import { createWorkerClient } from '../clients/worker-client.ts'
import type { Clock } from '../common/clock.ts'
import { Lifecycle } from '../common/lifecycle.ts'
import { type Logger, secretMaskerOf } from '../common/logging/logger.ts'
import type { CompatibilityWorker } from '../compatibility-worker/compatibility-worker.ts'
import type { Cluster } from './cluster/cluster.ts'
import type { QueueState } from './controller/controller-metrics.ts'
import { type Fence, NotLeaderError, type Stoppable } from './controller/leader-fence.ts'
import type { Priority } from './controller/priority-queue.ts'
import { createControllers, createReconcilers, createWorkQueues } from './controllers.ts'
import type { OperatorMetrics, OperatorState } from './operator-metrics.ts'
import { kindOfKey, RESOURCE_KINDS, type ResourceKey, type ResourceKind, resourceKeyOf } from './resources/resource.ts'
import { RuntimeConnections } from './runtime-connections.ts'
import { createRuntimePollers } from './runtime-pollers.ts'
import {
  createRuntimes,
  type RegistryRuntimeConfig,
  type RuntimeKind,
  type RuntimesConfig,
  type WorkerRuntimeConfig,
} from './runtimes.ts'
import { sortByReferences } from './subject/reference-order.ts'
import { requestsForRuntime } from './watch-mapping.ts'

export type ActiveOperatorOptions = {
  readonly cluster: Cluster
  readonly clock: Clock
  readonly logger: Logger
  /** Parses and compares large or complex schemas. */
  readonly compatibilityWorker: Pick<CompatibilityWorker, 'run'>
  readonly runtimesConfig: RuntimesConfig
  /** The namespace that the operator runs in. */
  readonly operatorNamespace: string
  /** Part of the ownership marker of connectors. */
  readonly instance?: string
  /** How often a healthy resource is reconciled; absent: `observeInterval` of its runtime. */
  readonly resyncPeriodMs?: number
  /** How often a worker is listed; absent: `observeInterval` of its configuration. */
  readonly observeWorkerIntervalMs?: number
  readonly operatorMetrics: OperatorMetrics
}

/** The part of the operator that runs only while this process leads. */
export type ActiveOperator = Stoppable & {
  enqueue(key: ResourceKey, priority: Priority): void
  queue(kind: ResourceKind): QueueState
  pollLags(): ReturnType<OperatorState['pollLags']>
}

/** How long running reconciles may take to end when the operator stops; then their calls to runtimes are aborted. */
const DRAIN_MS = 3_000

/** Enqueues every resource, and starts the controllers and the pollers of the runtimes. */
export function startActiveOperator(options: ActiveOperatorOptions, leaderFence: Fence): ActiveOperator {
  const { cluster, clock, logger, runtimesConfig, operatorNamespace, operatorMetrics } = options
  const { instance, resyncPeriodMs, observeWorkerIntervalMs, compatibilityWorker } = options
  const life = new Lifecycle(logger)
  const halting = new AbortController()
  const fence: Fence = { ...leaderFence, signal: AbortSignal.any([leaderFence.signal, halting.signal]) }
  const queues = createWorkQueues({ cluster, clock, operatorMetrics })
  const enqueue = (key: ResourceKey, priority: Priority): void => queues[kindOfKey(key)].add(key, priority)
  const enqueueRuntime = (runtime: RuntimeKind, name: string): void => {
    for (const key of requestsForRuntime(runtime, name, cluster)) enqueue(key, 'routine')
  }
  const connections = new RuntimeConnections({
    fence,
    clock,
    logger,
    operatorMetrics,
    onAvailabilityChange: enqueueRuntime,
  })
  const pollers = createRuntimePollers({
    runtimesConfig,
    cluster,
    clock,
    logger,
    ...(observeWorkerIntervalMs !== undefined && { observeWorkerIntervalMs }),
    connect: {
      worker: (config: WorkerRuntimeConfig) => createWorkerClient(connections.endpoint('worker', config)),
      registry: (config: RegistryRuntimeConfig) => createRegistryClient(connections.endpoint('registry', config)),
    },
    enqueue,
    onAvailabilityChange: enqueueRuntime,
  })
  const runtimes = createRuntimes(runtimesConfig, { operatorNamespace, cluster }, (runtime, config) =>
    connections.endpoint(runtime, config),
  )
  const reconcilers = createReconcilers({
    cluster,
    runtimes,
    clock,
    compatibilityWorker,
    ...(instance !== undefined && { instance }),
    secrets: secretMaskerOf(logger),
    ...(resyncPeriodMs !== undefined && { resyncPeriodMs }),
    isPolled: pollers.isPolled,
    countResources: (kind) => cluster.count(kind),
    isKnownAbsent: pollers.isKnownAbsent,
  })
  const controllers = createControllers(queues, reconcilers, { cluster, clock, logger, fence, operatorMetrics })
  for (const kind of RESOURCE_KINDS) {
    const resources = kind === 'Subject' ? sortByReferences(cluster.list(kind)) : cluster.list(kind)
    for (const resource of resources) enqueue(resourceKeyOf(resource), 'routine')
  }
  for (const { key } of cluster.manifestErrors()) if (key !== undefined) enqueue(key, 'routine')
  for (const controller of controllers) controller.start()
  pollers.start()
  // Stopped in reverse order: no reconcile starts while a poll ends.
  life.onStop('pollers', () => pollers.stop())
  life.onStop('controllers', () => Promise.all(controllers.map((controller) => controller.stop())))
  return {
    enqueue,
    queue: (kind) => queues[kind].state(),
    pollLags: () => pollers.lags(),
    async stop() {
      const stopped = new AbortController()
      const halt = (): void => halting.abort(new NotLeaderError('the operator is stopping'))
      clock.sleep(DRAIN_MS, stopped.signal).then(halt, () => undefined)
      await life.stop()
      stopped.abort()
      halt()
    },
  }
}
