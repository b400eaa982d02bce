import { hostname } from 'node:os'
import type { Clock } from '../../common/clock.ts'
import type { Logger } from '../../common/logging/logger.ts'
import type { LeaseLock } from '../controller/leader-elector.ts'
import type { OperatorMetrics } from '../operator-metrics.ts'
import type { Cluster } from './cluster.ts'
import { DirectoryCluster } from './directory/directory-cluster.ts'

/** Name of an installation that is not configured with another one. */
export const DEFAULT_INSTANCE = 'weir'

/** Where resources are declared: a folder of manifests, or a Kubernetes cluster. */
export type ClusterAddress =
  | { readonly kind: 'directory'; readonly path: string }
  | {
      readonly kind: 'kubernetes'
      /** Absent: the default of kubectl, or the service account of the pod. */
      readonly kubeconfig?: string
      /** Namespaces to watch; empty: all. */
      readonly namespaces: readonly string[]
      /** Namespace of the Lease of the leader election; absent: that of the kubeconfig, or of the pod. */
      readonly leaseNamespace?: string
      /** Whether to watch the metadata of Secrets. Default: false. */
      readonly watchesSecrets?: boolean
    }

/** A cluster that is not started yet, and what comes with it. */
export type OpenedCluster = {
  readonly cluster: Cluster
  /** The namespace that the operator runs in. */
  readonly operatorNamespace: string
  /** Absent where only one operator can exist. */
  readonly election?: Election
  /** The watches of the API server, with the time since each last received something. */
  readonly watches: () => readonly { readonly resource: string; readonly silentMs: number }[]
}

export type Election = {
  readonly lock: LeaseLock
  /** Resolves when the cache of the cluster is as new as this call. The cache of a standby may be minutes old. */
  readonly refresh: () => Promise<void>
}

export type OpenClusterOptions = {
  readonly address: ClusterAddress
  readonly instance?: string
  readonly clock: Clock
  readonly logger: Logger
  readonly operatorMetrics: OperatorMetrics
}

/** Opens a folder of manifests or a Kubernetes cluster. Makes no call to the API server. */
export async function openCluster(options: OpenClusterOptions): Promise<OpenedCluster> {
  const { address, instance = DEFAULT_INSTANCE, clock, logger, operatorMetrics } = options
  if (address.kind === 'directory') {
    const cluster = new DirectoryCluster({ path: address.path, clock, logger })
    return { cluster, operatorNamespace: 'default', watches: () => [] }
  }
  // Loaded on demand: the Kubernetes client takes half a second and 80 MB, which a folder of manifests does not need.
  const { openKubernetesApi } = await import('../../clients/kubernetes/kubernetes-api.ts')
  const { KubernetesCluster } = await import('./kubernetes/kubernetes-cluster.ts')
  const { createLeaseLock } = await import('./kubernetes/lease-lock.ts')
  const { kubeconfig, namespaces, watchesSecrets = false } = address
  const api = openKubernetesApi(kubeconfig, operatorMetrics.apiCallEnded)
  const { leaseNamespace = api.namespace } = address
  const resourceOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)
  const cluster = new KubernetesCluster({
    api,
    clock,
    logger,
    namespaces,
    watchesSecrets,
    identity: hostname(),
    onRestart: (path, reason) => operatorMetrics.watchRestarted(resourceOf(path), reason),
  })
  return {
    cluster,
    operatorNamespace: leaseNamespace,
    election: {
      lock: createLeaseLock(api, leaseNamespace, `${instance}-operator`),
      refresh: () => cluster.refresh(),
    },
    watches: () => cluster.watches().map(({ path, silentMs }) => ({ resource: resourceOf(path), silentMs })),
  }
}
