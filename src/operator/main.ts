import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { createRegistryClient } from '../clients/registry.ts'
import { createWorkerClient } from '../clients/worker.ts'
import { type Clock, systemClock } from '../config/clock.ts'
import { type Lifecycle, startAll } from '../config/lifecycle.ts'
import type { Logger } from '../config/logger.ts'
import type { WebhookOptions } from './admission/webhook.ts'
import type { Cluster, ClusterView } from './cluster/cluster.ts'
import { DirectoryCluster } from './cluster/directory/directory.ts'
import { LeaderElector, type LeaderElectorOptions, type LeaseHome } from './controller/leader-elector.ts'
import { type Fence, type Office, UNRIVALLED } from './controller/leadership.ts'
import { type Leader, type LeaderOptions, startLeader } from './leader.ts'
import { createReconcilers, INSTANCE } from './reconcilers.ts'
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
      /** Where operators of one installation find out which of them acts; absent: the kubeconfig's, or the pod's. */
      readonly leaseNamespace?: string
    }

export type OperatorOptions = Omit<LeaderOptions, 'cluster' | 'clock'> & {
  readonly cluster: ClusterAddress
  readonly clock?: Clock
  /** Judges what is declared before it is stored, be this process the leader or not; only on Kubernetes. */
  readonly webhook?: WebhookOptions
}

export type Operator = {
  /** How every resource is doing now. */
  rows(): readonly Row[]
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
  const { clock = systemClock } = options
  const logger = options.logger.child({ program: 'operator' })
  return startAll(logger, async (life) => {
    const { cluster, leases } = await openCluster(options, { clock, logger })
    const known = { ...options, cluster, clock, logger }
    let leader: Leader | undefined
    const listeners = new Set<() => void>()
    const unsubscribe = cluster.onChange((change) => {
      for (const key of wokenBy(change, cluster)) leader?.wake(key, 'user')
      for (const listener of listeners) listener()
    })
    life.onStop('watch', unsubscribe)
    life.onStop('cluster', () => cluster.stop())
    await cluster.start()
    const lead = (fence: Fence): Office => {
      const begun = startLeader(known, fence)
      leader = begun
      return {
        async stop() {
          leader = undefined
          await begun.stop()
        },
      }
    }
    // Who keeps a folder of manifests has it alone.
    const office = leases === undefined ? lead(UNRIVALLED) : elect({ leases, clock, logger, lead })
    life.onStop('leader', () => office.stop())
    await serveWebhook(options, known, life)
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

function elect(options: Omit<LeaderElectorOptions, 'identity'>): Office {
  const elector = new LeaderElector({ ...options, identity: `${hostname()}_${randomUUID()}` })
  elector.start()
  return elector
}

type Home = { readonly cluster: Cluster; readonly leases?: LeaseHome }

async function openCluster(options: OperatorOptions, parts: { clock: Clock; logger: Logger }): Promise<Home> {
  const address = options.cluster
  if (address.kind === 'directory') return { cluster: new DirectoryCluster({ path: address.path, ...parts }) }
  // Half a second and 80 MB that a folder of manifests does not need.
  const { openKubernetesApi } = await import('./cluster/kubernetes/api.ts')
  const { KubernetesCluster } = await import('./cluster/kubernetes/kubernetes.ts')
  const { kubernetesLease } = await import('./cluster/kubernetes/leases.ts')
  const { kubeconfig, namespaces } = address
  const api = openKubernetesApi(kubeconfig)
  const { leaseNamespace = api.namespace } = address
  return {
    cluster: new KubernetesCluster({ ...parts, api, namespaces, identity: hostname() }),
    leases: kubernetesLease(api, leaseNamespace, `${options.instance ?? INSTANCE}-operator`),
  }
}

/** The API server waits for no longer. */
const REVIEW_MS = 5_000

async function serveWebhook(
  { cluster: address, webhook }: OperatorOptions,
  known: LeaderOptions,
  life: Lifecycle,
): Promise<void> {
  if (webhook === undefined || address.kind !== 'kubernetes') return
  const { openKubernetesApi } = await import('./cluster/kubernetes/api.ts')
  const { startWebhook } = await import('./admission/webhook.ts')
  const registry = createRegistryClient({ url: known.registryUrl, timeoutMs: REVIEW_MS })
  const worker = createWorkerClient({ url: known.workerUrl, timeoutMs: REVIEW_MS })
  const reviewers = (cluster: ClusterView) => createReconcilers({ ...known, cluster, registry, worker })
  const api = openKubernetesApi(address.kubeconfig)
  const { namespaces, leaseNamespace: home = api.namespace } = address
  const started = startWebhook(webhook, { ...known, api, home, namespaces, reviewers })
  life.onStop('webhook', () => started.stop())
}
