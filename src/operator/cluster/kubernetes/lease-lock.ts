import { ClusterError } from '../../../clients/kubernetes/cluster-error.ts'
import { ApiError, ignoreNotFound, type KubernetesApi } from '../../../clients/kubernetes/kubernetes-api.ts'
import type { Lease, LeaseLock, VersionedLease } from '../../controller/leader-elector.ts'

const API_VERSION = 'coordination.k8s.io/v1'

type LeaseObject = {
  readonly metadata: { readonly resourceVersion: string }
  readonly spec?: {
    readonly holderIdentity?: string
    readonly leaseDurationSeconds?: number
    readonly leaseTransitions?: number
    readonly acquireTime?: string
    readonly renewTime?: string
  }
}

/**
 * Reads and writes the Lease object of a leader election, like client-go's `LeaseLock`. `controller/leader-elector.ts`
 * decides when to acquire, renew and release it.
 */
export function createLeaseLock(api: KubernetesApi, namespace: string, name: string): LeaseLock {
  const leases = `/apis/${API_VERSION}/namespaces/${encodeURIComponent(namespace)}/leases`
  const path = `${leases}/${encodeURIComponent(name)}`
  return {
    name: `${namespace}/${name}`,
    async read(signal) {
      const asked = api.send<LeaseObject>({ method: 'GET', path, signal })
      const found = await ignoreNotFound(asked).catch((error: unknown) => {
        throw explained(error)
      })
      return found && toSeen(found)
    },
    async write(lease, version, signal) {
      const metadata = { namespace, name, ...(version !== undefined && { resourceVersion: version }) }
      const body = { apiVersion: API_VERSION, kind: 'Lease', metadata, spec: toSpec(lease) }
      const where =
        version === undefined ? ({ method: 'POST', path: leases } as const) : ({ method: 'PUT', path } as const)
      try {
        return toSeen(await api.send<LeaseObject>({ ...where, body, signal }))
      } catch (error) {
        if (error instanceof ApiError && error.status === 409) return undefined
        throw explained(error)
      }
    },
  }
}

/** The name of the Lease contains the configured instance, which may differ from the one in the granted rules. */
function explained(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.code !== 'forbidden') return error
  const message = `${error.message}: grant create, get and update, as weir crds --rbac --instance NAME prints it`
  return new ClusterError('forbidden', message, { cause: error })
}

function toSeen({ metadata, spec = {} }: LeaseObject): VersionedLease {
  const lease: Lease = {
    holder: spec.holderIdentity ?? '',
    durationMs: (spec.leaseDurationSeconds ?? 0) * 1_000,
    transitions: spec.leaseTransitions ?? 0,
    acquiredAt: spec.acquireTime ?? '',
    renewedAt: spec.renewTime ?? '',
  }
  return { lease, version: metadata.resourceVersion }
}

function toSpec({ holder, durationMs, transitions, acquiredAt, renewedAt }: Lease): LeaseObject['spec'] {
  return {
    holderIdentity: holder,
    leaseDurationSeconds: Math.round(durationMs / 1_000),
    leaseTransitions: transitions,
    acquireTime: toMicroTime(acquiredAt),
    renewTime: toMicroTime(renewedAt),
  }
}

/** Kubernetes' MicroTime. */
function toMicroTime(time: string): string {
  return time.replace(/(\.\d{3})Z$/, '$1000Z')
}
