import { hostname } from 'node:os'
import type { Clock } from '../../config/clock.ts'
import type { Logger } from '../../config/logger.ts'
import type { LeaseLock } from '../controller/leader-elector.ts'
import { DEFAULT_INSTANCE } from '../controllers.ts'
import type { OperatorMetrics } from '../metrics.ts'
import type { Cluster } from './cluster.ts'
import { DirectoryCluster } from './directory/directory-cluster.ts'

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
      /** Whether it may know when Secrets change. Default: no. */
      readonly watchesSecrets?: boolean
    }

/** Where resources live, and what else is kept there. */
export type OpenedCluster = {
  readonly cluster: Cluster
  /** The operator's own. */
  readonly namespace: string
  readonly leaseLock?: LeaseLock
  watches(): readonly { readonly resource: string; readonly silentMs: number }[]
}

export type OpenClusterOptions = { readonly cluster: ClusterAddress; readonly instance?: string }
type Parts = { readonly clock: Clock; readonly logger: Logger; readonly operatorMetrics: OperatorMetrics }

export async function openCluster(
  options: OpenClusterOptions,
  { clock, logger, operatorMetrics }: Parts,
): Promise<OpenedCluster> {
  const address = options.cluster
  const parts = { clock, logger }
  if (address.kind === 'directory') {
    return { cluster: new DirectoryCluster({ path: address.path, ...parts }), namespace: 'default', watches: () => [] }
  }
  // Half a second and 80 MB that a folder of manifests does not need.
  const { openKubernetesApi } = await import('../../clients/kubernetes/api.ts')
  const { KubernetesCluster } = await import('./kubernetes/kubernetes-cluster.ts')
  const { createLeaseLock } = await import('./kubernetes/lease-lock.ts')
  const { kubeconfig, namespaces, watchesSecrets = false } = address
  const api = openKubernetesApi(kubeconfig, operatorMetrics.apiCallEnded)
  const { leaseNamespace = api.namespace } = address
  const resourceOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)
  const cluster = new KubernetesCluster({
    ...parts,
    api,
    namespaces,
    watchesSecrets,
    identity: hostname(),
    onRestart: (path, reason) => operatorMetrics.watchRestarted(resourceOf(path), reason),
  })
  return {
    cluster,
    namespace: leaseNamespace,
    leaseLock: createLeaseLock(api, leaseNamespace, `${options.instance ?? DEFAULT_INSTANCE}-operator`),
    watches: () => cluster.watches().map(({ path, silentMs }) => ({ resource: resourceOf(path), silentMs })),
  }
}
