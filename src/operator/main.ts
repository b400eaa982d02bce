import { hostname } from 'node:os'
import { createRegistryClient } from '../clients/registry.ts'
import { createWorkerClient } from '../clients/worker.ts'
import { type Clock, systemClock } from '../config/clock.ts'
import { type Lifecycle, startAll } from '../config/lifecycle.ts'
import type { Logger } from '../config/logger.ts'
import type { Cluster } from './cluster/cluster.ts'
import { DirectoryCluster } from './cluster/directory/directory.ts'
import { connectorName } from './connector/desired.ts'
import { WorkerObserver } from './connector/observer.ts'
import { createConnectorReconciler } from './connector/reconcile.ts'
import { Controller } from './controller/controller.ts'
import { passesOf, type Reconciler } from './controller/reconciler.ts'
import { createRegistryModeReconciler } from './registry-mode/reconcile.ts'
import { KINDS, type Kind, keyOf, kindOf, type ResourceKey } from './resources/resource.ts'
import { createSubjectReconciler } from './subject/reconcile.ts'
import { type Row, rowsOf } from './table.ts'
import { wokenBy } from './wakes.ts'

export type { Row } from './table.ts'

/** Where resources are declared: a folder of manifests, or a Kubernetes cluster. */
export type ClusterAddress =
  | { readonly kind: 'directory'; readonly path: string }
  | {
      readonly kind: 'kubernetes'
      /** Absent: where kubectl looks, or the pod this runs in. */
      readonly kubeconfig?: string
      /** Empty: all. */
      readonly namespaces: readonly string[]
    }

export type OperatorOptions = {
  readonly cluster: ClusterAddress
  readonly registryUrl: string
  readonly workerUrl: string
  readonly logger: Logger
  readonly clock?: Clock
  /** Part of the mark on connectors: tells installations apart that share a worker. */
  readonly instance?: string
  /** How often the worker is looked at as a whole. */
  readonly observeWorkerMs?: number
  /** How often a resource that is fine is looked at again. */
  readonly resyncMs?: number
}

export type Operator = {
  /** How every resource is doing now. */
  rows(): readonly Row[]
  /** From now on called after anything of `rows` may have changed. Returns how to end that. */
  onChange(listener: () => void): () => void
  /** Writes nothing more when it resolves. What is on the worker and in the registry stays as it is. */
  stop(): Promise<void>
}

const OBSERVE_WORKER_MS = 30_000
const RESYNC_MS = 30_000
const REQUEST_MS = 10_000
const CONCURRENCY = 4

/**
 * Keeps what the cluster's resources declare. Resolves when every resource that is there is known and queued; a runtime
 * that does not answer is waited for.
 */
export function startOperator(options: OperatorOptions): Promise<Operator> {
  const { clock = systemClock } = options
  const logger = options.logger.child({ program: 'operator' })
  return startAll(logger, async (life) => {
    const cluster = await openCluster(options.cluster, { clock, logger })
    const known = { ...options, cluster, clock, logger }
    const controllers = createControllers(known)
    const wake = (key: ResourceKey): void => controllers[kindOf(key)].queue.add(key)
    const listeners = new Set<() => void>()
    const unsubscribe = cluster.onChange((change) => {
      for (const key of wokenBy(change, cluster)) wake(key)
      for (const listener of listeners) listener()
    })
    life.onStop('watch', unsubscribe)
    life.onStop('cluster', () => cluster.stop())
    await cluster.start()
    for (const kind of KINDS) {
      controllers[kind].start()
      life.onStop(`${kind} controller`, () => controllers[kind].stop())
    }
    observeWorker(known, wake, life)
    return {
      rows: () => rowsOf(cluster),
      onChange(listener) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
      stop: () => life.stop(),
    }
  })
}

async function openCluster(address: ClusterAddress, parts: { clock: Clock; logger: Logger }): Promise<Cluster> {
  if (address.kind === 'directory') return new DirectoryCluster({ path: address.path, ...parts })
  // Half a second and 80 MB that a folder of manifests does not need.
  const { openKubernetesApi } = await import('./cluster/kubernetes/api.ts')
  const { KubernetesCluster } = await import('./cluster/kubernetes/kubernetes.ts')
  const { kubeconfig, namespaces } = address
  return new KubernetesCluster({ ...parts, api: openKubernetesApi(kubeconfig), namespaces, identity: hostname() })
}

type Known = Omit<OperatorOptions, 'cluster'> & {
  readonly cluster: Cluster
  readonly clock: Clock
  readonly logger: Logger
}

/** One controller a kind, so that trouble with connectors keeps no subject waiting. */
function createControllers(options: Known): Record<Kind, Controller<ResourceKey>> {
  const { cluster, clock, registryUrl, workerUrl, instance = 'weir', resyncMs: observeMs = RESYNC_MS } = options
  const registry = createRegistryClient({ url: registryUrl, timeoutMs: REQUEST_MS })
  const worker = createWorkerClient({ url: workerUrl, timeoutMs: REQUEST_MS })
  return {
    RegistryMode: controllerOf(createRegistryModeReconciler({ cluster, registry, clock, observeMs }), options),
    Subject: controllerOf(createSubjectReconciler({ cluster, registry, clock, observeMs }), options),
    Connector: controllerOf(createConnectorReconciler({ cluster, worker, clock, instance, observeMs }), options),
  }
}

function controllerOf<K extends Kind>(reconciler: Reconciler<K>, options: Known): Controller<ResourceKey> {
  const pass = passesOf(reconciler, options)
  const { clock, logger } = options
  return new Controller<ResourceKey>({
    name: reconciler.kind,
    clock,
    logger,
    concurrency: CONCURRENCY,
    reconcile: (key) => pass(key as ResourceKey<K>),
  })
}

function observeWorker(options: Known, wake: (key: ResourceKey) => void, life: Lifecycle): void {
  const { cluster, clock, logger, workerUrl, observeWorkerMs: intervalMs = OBSERVE_WORKER_MS } = options
  const worker = createWorkerClient({ url: workerUrl, timeoutMs: REQUEST_MS })
  const onChange = (name: string): void => {
    for (const resource of cluster.list('Connector')) if (connectorName(resource) === name) wake(keyOf(resource))
  }
  const observer = new WorkerObserver({ worker, clock, logger, intervalMs, onChange })
  observer.start()
  life.onStop('worker observer', () => observer.stop())
}
