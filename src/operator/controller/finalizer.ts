import type { Cluster } from '../cluster/cluster.ts'
import type { Resource, ResourceKey, ResourceKind } from '../resources/resource.ts'

/** Keeps a deleted resource until the operator has cleaned up its external object. */
export const FINALIZER: Readonly<Record<ResourceKind, string>> = {
  Connector: 'weir.dev/connector',
  Subject: 'weir.dev/subject',
  RegistryMode: 'weir.dev/registrymode',
}

/**
 * Adds the finalizer before the first reconcile of a resource that needs one, and removes it when it is no longer
 * needed. A deleted resource keeps the finalizer that it has. Returns the resource as it is stored afterwards; undefined
 * when nothing is left to do for it.
 */
export async function ensureFinalizer<K extends ResourceKind>(
  key: ResourceKey<K>,
  needsFinalizer: (resource: Resource<K>) => boolean,
  cluster: Pick<Cluster, 'get' | 'setFinalizer'>,
): Promise<Resource<K> | undefined> {
  const resource = cluster.get(key)
  if (resource === undefined) return undefined
  const { deletionTimestamp, finalizers } = resource.metadata
  const hasFinalizer = finalizers.length > 0
  if (deletionTimestamp !== undefined) return hasFinalizer ? resource : undefined
  const isNeeded = needsFinalizer(resource)
  if (isNeeded !== hasFinalizer) await cluster.setFinalizer(key, isNeeded)
  const stored = cluster.get(key)
  // It was deleted meanwhile, so removing the finalizer has completed its deletion.
  const isGone = stored?.metadata.deletionTimestamp !== undefined && stored.metadata.finalizers.length === 0
  return isGone ? undefined : stored
}

/** Lets the API server delete a resource whose external object was cleaned up, or is abandoned. */
export async function removeFinalizer(key: ResourceKey, cluster: Pick<Cluster, 'setFinalizer'>): Promise<void> {
  await cluster.setFinalizer(key, false)
}
