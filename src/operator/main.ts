import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { type Clock, systemClock } from '../common/clock.ts'
import { type Lifecycle, startAll } from '../common/lifecycle.ts'
import { type Logger, secretMaskerOf } from '../common/logging/logger.ts'
import { createMetrics } from '../common/metrics-registry.ts'
import { CompatibilityWorker } from '../compatibility-worker/compatibility-worker.ts'
import { type ActiveOperatorOptions, startActiveOperator } from './active-operator.ts'
import { ActiveOperatorSupervisor } from './active-operator-supervisor.ts'
import type { WebhookOptions } from './admission/webhook.ts'
import type { Cluster, ClusterReader } from './cluster/cluster.ts'
import { type ClusterAddress, DEFAULT_INSTANCE, type Election, openCluster } from './cluster/open-cluster.ts'
import { ConfigurationWatch } from './configuration-watch.ts'
import { type ConsoleServerOptions, startConsole } from './console-server.ts'
import { LeaderElector } from './controller/leader-elector.ts'
import { type Fence, type Stoppable, UNFENCED } from './controller/leader-fence.ts'
import { CONCURRENCY, createReconcilers } from './controllers.ts'
import { type MonitoringOptions, startMonitoring } from './monitoring-server.ts'
import { registerOperatorGauges, registerOperatorMetrics } from './operator-metrics.ts'
import { type ResourceRow, resourceRows } from './resource-rows.ts'
import { RESOURCE_KINDS, type Resource, type ResourceKind } from './resources/resource.ts'
import { createResponseBudget } from './runtime-connections.ts'
import { RuntimeEventBus, type SubscribeToRuntimeEvents } from './runtime-events.ts'
import {
  createRuntimes,
  type EndpointResolver,
  needsNamespaces,
  type Runtimes,
  type RuntimesConfig,
} from './runtimes.ts'
import { requestsForChange, requestsForRuntimeEvent } from './watch-mapping.ts'

export type { ClusterAddress } from './cluster/open-cluster.ts'
export { readConfiguration } from './operator-configuration.ts'
export { type ResourceRow, resourceState } from './resource-rows.ts'
export type { AnnotationName } from './resources/annotations.ts'
export { parseResource, SERVER_FIELDS } from './resources/parse-resource.ts'
export type { RuntimeEvent } from './runtime-events.ts'
export { DEFAULT_RUNTIME, runtimesConfigFor } from './runtimes.ts'

export type OperatorOptions = Pick<
  ActiveOperatorOptions,
  'logger' | 'instance' | 'resyncPeriodMs' | 'observeWorkerIntervalMs'
> & {
  /** The workers and registries that resources may refer to. Called repeatedly, because they may change. */
  readonly runtimesConfig: () => RuntimesConfig
  readonly cluster: ClusterAddress
  readonly clock?: Clock
  /** Admission webhook, which runs whether this process leads or not; only on Kubernetes. */
  readonly webhook?: WebhookOptions
  readonly monitoring?: MonitoringOptions
  /** The console; absent: none. */
  readonly console?: ConsoleListener
  /** Subscribes to the changes in runtimes of this process; other runtimes are polled. */
  readonly subscribeToRuntimeEvents?: SubscribeToRuntimeEvents
}

export type ConsoleListener = {
  /** `http://host:port`, or `https:`, which needs `certificates`. */
  readonly listener: string
  /** Directory with `tls.crt` and `tls.key`. */
  readonly certificates?: string
  /** Whether users are not identified. Always the case without Kubernetes. */
  readonly isAnonymous?: boolean
}

export type Operator = {
  /** Absent without a console. */
  readonly consoleUrl?: string
  /** The current state of every resource. */
  rows(): readonly ResourceRow[]
  /** Calls the listener whenever `rows` may have changed. Returns a function that removes the listener. */
  onChange(listener: () => void): () => void
  /** When it resolves, nothing is written any more. What is on the worker and in the registry stays as it is. */
  stop(): Promise<void>
}

/** A reconcile that runs for so long is stuck, and the liveness probe fails. */
const STUCK_MS = 300_000

/**
 * Starts the operator. Resolves when every resource of the cluster is known. Runtimes that do not answer, and the lease
 * of another operator, are waited for in the background.
 */
export function startOperator(options: OperatorOptions): Promise<Operator> {
  const { clock = systemClock, monitoring, subscribeToRuntimeEvents } = options
  const { instance, resyncPeriodMs, observeWorkerIntervalMs } = options
  const logger = options.logger.child({ program: 'operator' })
  return startAll(logger, async (life) => {
    const metrics = monitoring?.metrics ?? createMetrics()
    const operatorMetrics = registerOperatorMetrics(metrics)
    const configuration = new ConfigurationWatch({ read: options.runtimesConfig, clock, logger })
    const address = options.cluster
    const { cluster, election, watches, operatorNamespace } = await openCluster({
      address,
      clock,
      logger,
      operatorMetrics,
      ...(instance !== undefined && { instance }),
    })
    const compatibilityWorker = new CompatibilityWorker()
    life.onStop('compatibility worker', () => compatibilityWorker.close())
    const supervisor = new ActiveOperatorSupervisor(configuration.current, (runtimesConfig, fence) =>
      startActiveOperator(
        {
          cluster,
          clock,
          logger,
          compatibilityWorker,
          runtimesConfig,
          operatorNamespace,
          ...(instance !== undefined && { instance }),
          ...(resyncPeriodMs !== undefined && { resyncPeriodMs }),
          ...(observeWorkerIntervalMs !== undefined && { observeWorkerIntervalMs }),
          operatorMetrics,
        },
        fence,
      ),
    )
    const identity = `${hostname()}_${randomUUID()}`
    const elector =
      election &&
      new LeaderElector({
        lock: election.lock,
        identity,
        clock,
        logger,
        onStartedLeading: (fence) => startRefreshed(election, fence, supervisor),
      })
    registerOperatorGauges(metrics, {
      isLeader: () => supervisor.isActive,
      concurrency: CONCURRENCY,
      resources: () => RESOURCE_KINDS.flatMap((kind): readonly Resource[] => cluster.list(kind)),
      queue: (kind) => supervisor.queue(kind),
      watches,
      pollLags: () => supervisor.pollLags(),
    })
    const readiness = { isSynced: false }
    if (monitoring !== undefined) {
      const isStuck = (kind: ResourceKind) => supervisor.queue(kind)?.workingMs.some((ms) => ms > STUCK_MS) ?? false
      const server = await startMonitoring(monitoring, logger, {
        isReady: () => readiness.isSynced && configuration.isValid && elector?.isForbidden !== true,
        isHealthy: () => !RESOURCE_KINDS.some(isStuck),
      })
      life.onStop('monitoring', () => server.stop())
    }
    const watchNamespaces = createNamespaceWatch(cluster, logger)
    configuration.start({
      onChange: (runtimesConfig) => supervisor.reconfigure(runtimesConfig),
      onPoll: (runtimesConfig) => void watchNamespaces(runtimesConfig),
    })
    life.onStop('configuration', () => configuration.stop())
    const stopMapping = cluster.onChange((change) => supervisor.enqueue(requestsForChange(change, cluster), 'user'))
    life.onStop('watch', stopMapping)
    const runtimeEvents = new RuntimeEventBus(clock, (event) =>
      supervisor.enqueue(requestsForRuntimeEvent(event, cluster), 'routine'),
    )
    const unsubscribe = subscribeToRuntimeEvents?.((event) => runtimeEvents.publish(event))
    life.onStop('runtime events', () => {
      unsubscribe?.()
      runtimeEvents.stop()
    })
    life.onStop('cluster', () => cluster.stop())
    await cluster.start()
    await watchNamespaces(configuration.current)
    readiness.isSynced = true
    // A folder of manifests has exactly one operator, so it needs no lease.
    const leadership = elector ?? supervisor.start(UNFENCED)
    elector?.start()
    life.onStop('leader', () => leadership.stop())
    const consoleServer =
      options.console &&
      (await startConsole({
        listener: options.console.listener,
        ...(options.console.certificates !== undefined && { certificates: options.console.certificates }),
        logger,
        cluster,
        instance: instance ?? DEFAULT_INSTANCE,
        runtimesConfig: () => configuration.current,
        isConfigValid: () => configuration.isValid,
        leadership: () => elector && { identity, leader: elector.leader, isForbidden: elector.isForbidden },
        ...(await viewersOf(options.console, { address, clock, life })),
        subscribeToRuntimeEvents,
      }))
    life.onStop('console', async () => consoleServer?.stop())
    const { webhook } = options
    if (webhook !== undefined && address.kind === 'kubernetes') {
      const server = await serveWebhook(webhook, address, {
        cluster,
        clock,
        logger,
        compatibilityWorker,
        operatorNamespace,
        ...(instance !== undefined && { instance }),
        runtimesConfig: () => configuration.current,
      })
      life.onStop('webhook', () => server.stop())
    }
    life.onStop('readiness', () => {
      readiness.isSynced = false
    })
    return {
      ...(consoleServer && { consoleUrl: consoleServer.url }),
      rows: () => resourceRows(cluster),
      onChange: (listener) => cluster.onChange(() => listener()),
      stop: () => life.stop(),
    }
  })
}

/** Starts the active operator when its cache contains what the previous leader has done. */
function startRefreshed({ refresh }: Election, fence: Fence, supervisor: ActiveOperatorSupervisor): Stoppable {
  let active: Stoppable | undefined
  let isStopped = false
  void refresh().then(() => {
    if (!isStopped) active = supervisor.start(fence)
  })
  return {
    async stop() {
      isStopped = true
      await active?.stop()
    },
  }
}

/**
 * Returns a function that starts to watch namespaces when the configuration needs them. It retries until that is
 * allowed.
 */
function createNamespaceWatch(cluster: Cluster, logger: Logger): (runtimesConfig: RuntimesConfig) => Promise<void> {
  let isForbidden = false
  return async (runtimesConfig) => {
    if (!needsNamespaces(runtimesConfig)) return
    try {
      await cluster.watchNamespaces()
      isForbidden = false
    } catch (error) {
      const message = 'cannot watch namespaces: allowedNamespaces selectors and namespace deletions are not evaluated'
      if (!isForbidden) logger.error({ err: error }, message)
      isForbidden = true
    }
  }
}

/** Users of the console are those of the cluster. */
async function viewersOf(
  { isAnonymous = false }: ConsoleListener,
  { address, clock, life }: { readonly address: ClusterAddress; readonly clock: Clock; readonly life: Lifecycle },
): Promise<Pick<ConsoleServerOptions, 'identify'>> {
  if (isAnonymous || address.kind !== 'kubernetes') return {}
  const { openKubernetesApi } = await import('../clients/kubernetes/kubernetes-api.ts')
  const { kubernetesViewers } = await import('./console/viewer.ts')
  const api = openKubernetesApi(address.kubeconfig)
  life.onStop('console users', () => api.close())
  return { identify: kubernetesViewers(api, clock) }
}

/** The timeout that the API server has for the webhook. */
const ADMISSION_TIMEOUT_MS = 5_000

type WebhookContext = Pick<
  ActiveOperatorOptions,
  'cluster' | 'clock' | 'logger' | 'compatibilityWorker' | 'operatorNamespace' | 'instance'
> & {
  readonly runtimesConfig: () => RuntimesConfig
}

async function serveWebhook(
  webhook: WebhookOptions,
  address: Extract<ClusterAddress, { kind: 'kubernetes' }>,
  { cluster, clock, logger, compatibilityWorker, operatorNamespace, instance, runtimesConfig }: WebhookContext,
): Promise<{ stop(): Promise<void> }> {
  const { openKubernetesApi } = await import('../clients/kubernetes/kubernetes-api.ts')
  const { startWebhook } = await import('./admission/webhook.ts')
  const responseBudget = createResponseBudget()
  const resolveEndpoint: EndpointResolver = (_, { endpoint }) => ({
    ...endpoint,
    timeoutMs: ADMISSION_TIMEOUT_MS,
    responseBudget,
  })
  let cached: { readonly config: RuntimesConfig; readonly runtimes: Runtimes } | undefined
  /** Clients are kept until the configuration changes: they cache what they know of schemas. */
  const currentRuntimes = (): Runtimes => {
    const config = runtimesConfig()
    if (cached?.config !== config) {
      cached = { config, runtimes: createRuntimes(config, { operatorNamespace, cluster }, resolveEndpoint) }
    }
    return cached.runtimes
  }
  const dryRunners = (proposed: ClusterReader) =>
    createReconcilers({
      cluster: proposed,
      runtimes: currentRuntimes(),
      clock,
      compatibilityWorker,
      ...(instance !== undefined && { instance }),
      secrets: secretMaskerOf(logger),
    })
  const api = openKubernetesApi(address.kubeconfig)
  const { namespaces, leaseNamespace = api.namespace } = address
  return startWebhook(webhook, {
    api,
    operatorNamespace: leaseNamespace,
    namespaces,
    cluster,
    dryRunners,
    clock,
    logger,
  })
}
