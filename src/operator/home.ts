import { hostname } from 'node:os'
import type { Clock } from '../config/clock.ts'
import type { Logger } from '../config/logger.ts'
import type { Cluster } from './cluster/cluster.ts'
import { DirectoryCluster } from './cluster/directory/directory.ts'
import type { LeaseHome } from './controller/leader-elector.ts'
import type { OperatorMeters } from './metrics.ts'
import { INSTANCE } from './reconcilers.ts'

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
export type Home = {
  readonly cluster: Cluster
  /** The operator's own. */
  readonly namespace: string
  readonly leases?: LeaseHome
  watches(): readonly { readonly resource: string; readonly silentMs: number }[]
}

export type HomeOptions = { readonly cluster: ClusterAddress; readonly instance?: string }
type Parts = { readonly clock: Clock; readonly logger: Logger; readonly meters: OperatorMeters }

export async function openHome(options: HomeOptions, { clock, logger, meters }: Parts): Promise<Home> {
  const address = options.cluster
  const parts = { clock, logger }
  if (address.kind === 'directory') {
    return { cluster: new DirectoryCluster({ path: address.path, ...parts }), namespace: 'default', watches: () => [] }
  }
  // Half a second and 80 MB that a folder of manifests does not need.
  const { openKubernetesApi } = await import('../clients/kubernetes/api.ts')
  const { KubernetesCluster } = await import('./cluster/kubernetes/kubernetes.ts')
  const { kubernetesLease } = await import('./cluster/kubernetes/leases.ts')
  const { kubeconfig, namespaces, watchesSecrets = false } = address
  const api = openKubernetesApi(kubeconfig, meters.asked)
  const { leaseNamespace = api.namespace } = address
  const resourceOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)
  const cluster = new KubernetesCluster({
    ...parts,
    api,
    namespaces,
    watchesSecrets,
    identity: hostname(),
    onRestart: (path, reason) => meters.watchRestarted(resourceOf(path), reason),
  })
  return {
    cluster,
    namespace: leaseNamespace,
    leases: kubernetesLease(api, leaseNamespace, `${options.instance ?? INSTANCE}-operator`),
    watches: () => cluster.watches().map(({ path, silentMs }) => ({ resource: resourceOf(path), silentMs })),
  }
}
