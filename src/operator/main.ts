import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { type Clock, systemClock } from '../config/clock.ts'
import { type Lifecycle, startAll } from '../config/lifecycle.ts'
import { type Logger, secretMaskerOf } from '../config/logger.ts'
import { createMetrics } from '../config/metrics.ts'
import { type ActiveOperator, type ActiveOperatorOptions, CONCURRENCY, startActiveOperator } from './active-operator.ts'
import type { WebhookOptions } from './admission/webhook.ts'
import type { Cluster, ClusterReader } from './cluster/cluster.ts'
import { type ClusterAddress, type OpenedCluster, openCluster } from './cluster/open.ts'
import { ConfigurationWatch } from './configuration-watch.ts'
import { type Fence, type Stoppable, UNFENCED } from './controller/fence.ts'
import { LeaderElector, type LeaderElectorOptions } from './controller/leader-elector.ts'
import { createReconcilers } from './controllers.ts'
import { registerOperatorMetrics } from './metrics.ts'
import { type MonitoringOptions, startMonitoring } from './monitoring.ts'
import { type ResourceRow, resourceRows } from './resource-table.ts'
import { RESOURCE_KINDS, type Resource, type ResourceKind } from './resources/resource.ts'
import { RuntimeEventBus, type SubscribeToRuntimeEvents } from './runtime-events.ts'
import {
  createRuntimes,
  type EndpointResolver,
  needsNamespaces,
  type Runtimes,
  type RuntimesConfig,
} from './runtimes.ts'
import { requestsForChange, requestsForRuntimeEvent } from './watch-mapping.ts'

export type { ClusterAddress } from './cluster/open.ts'
export { readConfiguration } from './configuration.ts'
export type { ResourceRow } from './resource-table.ts'
export type { RuntimeEvent } from './runtime-events.ts'
export { DEFAULT_RUNTIME, runtimesConfigFor } from './runtimes.ts'

export type OperatorOptions = Omit<
  ActiveOperatorOptions,
  'cluster' | 'clock' | 'operatorMetrics' | 'runtimesConfig' | 'operatorNamespace'
> & {
  /** The workers and registries that resources may name; called again and again, since they may change. */
  readonly runtimesConfig: () => RuntimesConfig
  readonly cluster: ClusterAddress
  readonly clock?: Clock
  /** Judges what is declared before it is stored, be this process the leader or not; only on Kubernetes. */
  readonly webhook?: WebhookOptions
  readonly monitoring?: MonitoringOptions
  /** Where runtimes of this process tell what changed; others are looked at again and again. */
  readonly subscribeToRuntimeEvents?: SubscribeToRuntimeEvents
}

export type Operator = {
  /** How every resource is doing now. */
  rows(): readonly ResourceRow[]
  /** From now on called after anything of `rows` may have changed. Returns how to end that. */
  onChange(listener: () => void): () => void
  /** Writes nothing more when it resolves. What is on the worker and in the registry stays as it is. */
  stop(): Promise<void>
}

/**
 * Keeps what the cluster's resources declare. Resolves when every resource that is there is known; a runtime that does not
 * answer is waited for, and so is the lease that says which of several operators acts.
 */
export function startOperator(options: OperatorOptions): Promise<Operator> {
  const { clock = systemClock, monitoring } = options
  const logger = options.logger.child({ program: 'operator' })
  return startAll(logger, async (life) => {
    const place: {
      leader?: ChangingLeader
      elector?: LeaderElector
      home?: OpenedCluster
      runtimesConfig?: ConfigurationWatch
      isKnown?: true
    } = {}
    const operatorMetrics = registerOperatorMetrics(monitoring?.metrics ?? createMetrics(), {
      isLeader: () => place.leader !== undefined,
      concurrency: CONCURRENCY,
      resources: () => RESOURCE_KINDS.flatMap((kind): readonly Resource[] => place.home?.cluster.list(kind) ?? []),
      queue: (kind) => place.leader?.queue(kind),
      watches: () => place.home?.watches() ?? [],
      observers: () => place.leader?.observers() ?? [],
    })
    if (monitoring !== undefined) {
      const isStuck = (kind: ResourceKind) => place.leader?.queue(kind).workingMs.some((ms) => ms > STUCK_MS) ?? false
      const server = await startMonitoring(monitoring, logger, {
        isReady: () =>
          place.isKnown === true && place.runtimesConfig?.isValid === true && place.elector?.isForbidden !== true,
        isHealthy: () => !RESOURCE_KINDS.some(isStuck),
      })
      life.onStop('monitoring', () => server.stop())
    }
    const home = await openCluster(options, { clock, logger, operatorMetrics })
    place.home = home
    const { cluster, leaseLock: leases } = home
    const lookAround = namespacesFor(cluster, logger)
    const runtimesConfig = new ConfigurationWatch({
      ...{ read: options.runtimesConfig, clock, logger },
      onChange: () => place.leader?.restart(),
      onPoll: (current) => void lookAround(current),
    })
    runtimesConfig.start()
    life.onStop('configuration', () => runtimesConfig.stop())
    place.runtimesConfig = runtimesConfig
    const known = { ...options, cluster, clock, logger, operatorMetrics, operatorNamespace: home.namespace }
    const listeners = new Set<() => void>()
    const unsubscribe = cluster.onChange((change) => {
      for (const key of requestsForChange(change, cluster)) place.leader?.enqueue(key, 'user')
      for (const listener of listeners) listener()
    })
    life.onStop('watch', unsubscribe)
    const news = new RuntimeEventBus(clock, (told) => {
      for (const key of requestsForRuntimeEvent(told, cluster)) place.leader?.enqueue(key, 'routine')
    })
    const unhear = options.subscribeToRuntimeEvents?.((told) => news.hear(told))
    life.onStop('news', () => {
      unhear?.()
      news.stop()
    })
    life.onStop('cluster', () => cluster.stop())
    await cluster.start()
    await lookAround(runtimesConfig.current)
    place.isKnown = true
    const lead = (fence: Fence): Stoppable => {
      const leader = changingLeader(() =>
        startActiveOperator({ ...known, runtimesConfig: runtimesConfig.current }, fence),
      )
      place.leader = leader
      return {
        async stop() {
          await leader.stop()
          delete place.leader
        },
      }
    }
    // Who keeps a folder of manifests has it alone.
    if (leases !== undefined) place.elector = elect({ lock: leases, clock, logger, onStartedLeading: lead })
    const office = place.elector ?? lead(UNFENCED)
    life.onStop('leader', () => office.stop())
    await serveWebhook(options, { ...known, runtimesConfig: () => runtimesConfig.current }, life)
    life.onStop('readiness', () => delete place.isKnown)
    return {
      rows: () => resourceRows(cluster),
      onChange(listener) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
      stop: () => life.stop(),
    }
  })
}

/** Follows namespaces once something is configured that goes by what they are like. To be called until it was granted. */
function namespacesFor(cluster: Cluster, logger: Logger): (runtimesConfig: RuntimesConfig) => Promise<void> {
  let isRefused = false
  return async (runtimesConfig) => {
    if (!needsNamespaces(runtimesConfig)) return
    try {
      await cluster.watchNamespaces()
      isRefused = false
    } catch (error) {
      const said = 'namespaces can not be watched: entries that go by what they are like do without'
      if (!isRefused) logger.error({ err: error }, said)
      isRefused = true
    }
  }
}

/** A pass that runs for so long will not end. */
const STUCK_MS = 300_000

type ChangingLeader = ActiveOperator & {
  /** Begins anew, with what is configured now. */
  restart(): void
}

function changingLeader(start: () => ActiveOperator): ChangingLeader {
  let leader = start()
  let hasEnded = false
  let changing = Promise.resolve()
  return {
    enqueue: (key, urgency) => leader.enqueue(key, urgency),
    queue: (kind) => leader.queue(kind),
    observers: () => leader.observers(),
    restart() {
      changing = changing.then(async () => {
        if (hasEnded) return
        await leader.stop()
        leader = start()
      })
    },
    async stop() {
      hasEnded = true
      await changing
      await leader.stop()
    },
  }
}

function elect(options: Omit<LeaderElectorOptions, 'identity'>): LeaderElector {
  const elector = new LeaderElector({ ...options, identity: `${hostname()}_${randomUUID()}` })
  elector.start()
  return elector
}

/** The API server waits for no longer. */
const REVIEW_MS = 5_000

async function serveWebhook(
  { cluster: address, webhook }: OperatorOptions,
  known: Omit<ActiveOperatorOptions, 'runtimesConfig'> & { readonly runtimesConfig: () => RuntimesConfig },
  life: Lifecycle,
): Promise<void> {
  if (webhook === undefined || address.kind !== 'kubernetes') return
  const { openKubernetesApi } = await import('../clients/kubernetes/api.ts')
  const { startWebhook } = await import('./admission/webhook.ts')
  const resolveEndpoint: EndpointResolver = (_, { endpoint }) => ({ ...endpoint, timeoutMs: REVIEW_MS })
  let made: { readonly runtimesConfig: RuntimesConfig; readonly runtimes: Runtimes } | undefined
  const dryRunners = (cluster: ClusterReader) => {
    const runtimesConfig = known.runtimesConfig()
    if (made?.runtimesConfig !== runtimesConfig)
      made = { runtimesConfig, runtimes: createRuntimes(runtimesConfig, known, resolveEndpoint) }
    return createReconcilers({ ...known, cluster, runtimes: made.runtimes, secrets: secretMaskerOf(known.logger) })
  }
  const api = openKubernetesApi(address.kubeconfig)
  const { namespaces, leaseNamespace: home = api.namespace } = address
  const started = startWebhook(webhook, { ...known, api, operatorNamespace: home, namespaces, dryRunners })
  life.onStop('webhook', () => started.stop())
}
