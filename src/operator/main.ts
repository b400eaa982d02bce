import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { type Clock, systemClock } from '../config/clock.ts'
import { startAll } from '../config/lifecycle.ts'
import type { Logger } from '../config/logger.ts'
import type { Cluster } from './cluster/cluster.ts'
import { DirectoryCluster } from './cluster/directory/directory.ts'
import { LeaderElector, type LeaderElectorOptions, type LeaseHome } from './controller/leader-elector.ts'
import { type Fence, type Office, UNRIVALLED } from './controller/leadership.ts'
import { INSTANCE, type Leader, type LeaderOptions, startLeader } from './leader.ts'
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
