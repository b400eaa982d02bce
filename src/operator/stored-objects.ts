import { ClusterError } from '../clients/kubernetes/cluster-error.ts'
import { ignoreNotFound, type KubernetesApi, MERGE_PATCH } from '../clients/kubernetes/kubernetes-api.ts'
import { API_VERSION, STORED_VERSION } from '../common/resource-api.ts'
import { crdName, pluralOf } from './resources/custom-resource-definition.ts'
import { RESOURCE_KINDS, type ResourceKind } from './resources/resource.ts'

/** The part of a CustomResourceDefinition that says in which versions objects are stored. */
type Definition = {
  readonly metadata: { readonly resourceVersion: string }
  readonly spec: { readonly versions: readonly { readonly name: string; readonly storage: boolean }[] }
  readonly status?: { readonly storedVersions?: readonly string[] }
}
type ObjectList = {
  readonly metadata: { readonly continue?: string }
  readonly items: readonly { readonly metadata: { readonly namespace: string; readonly name: string } }[] | null
}

export type MigratedKind = {
  /** Name of the definition. */
  readonly definition: string
  /** Number of objects that were written; undefined: the definition lists no older version. */
  readonly objects: number | undefined
}

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const METADATA_ONLY = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json'
const PAGE_OBJECTS = 500

/**
 * Writes each object of Weir's kinds without a change, so that the API server stores it in the current version, and then
 * removes older versions from the definition. A later version of Weir can serve an older one no longer only after that.
 * It can be interrupted and repeated.
 */
export async function migrateStoredObjects(api: KubernetesApi): Promise<readonly MigratedKind[]> {
  const migrated: MigratedKind[] = []
  for (const kind of RESOURCE_KINDS) migrated.push(await migrateKind(api, kind))
  return migrated
}

async function migrateKind(api: KubernetesApi, kind: ResourceKind): Promise<MigratedKind> {
  const definition = crdName(kind)
  const path = `${DEFINITIONS}/${definition}`
  const { metadata, spec, status } = await api.send<Definition>({ method: 'GET', path })
  const stored = spec.versions.find(({ storage }) => storage)?.name
  if (stored !== STORED_VERSION) {
    const remedy = 'install the definitions of this version first (weir crds | kubectl apply --server-side -f -)'
    throw new ClusterError('refused', `${definition} stores ${stored}, not ${STORED_VERSION}: ${remedy}`)
  }
  const isCurrent = (status?.storedVersions ?? []).every((version) => version === STORED_VERSION)
  if (isCurrent) return { definition, objects: undefined }
  const objects = await rewriteObjects(api, kind)
  // With the version that was read first: if somebody installed other definitions meanwhile, the API server refuses this.
  const { resourceVersion } = metadata
  const body = { metadata: { resourceVersion }, status: { storedVersions: [STORED_VERSION] } }
  await api.send({ method: 'PATCH', path: `${path}/status`, contentType: MERGE_PATCH, body })
  return { definition, objects }
}

/** The API server writes an object that is patched without a change if its stored form has another version. */
async function rewriteObjects(api: KubernetesApi, kind: ResourceKind): Promise<number> {
  const resources = `/apis/${API_VERSION}`
  const query = { limit: PAGE_OBJECTS }
  let count = 0
  let next: string | undefined
  do {
    const { metadata, items } = await api.send<ObjectList>({
      method: 'GET',
      path: `${resources}/${pluralOf(kind)}`,
      query: { ...query, continue: next },
      accept: METADATA_ONLY,
    })
    for (const { metadata: object } of items ?? []) {
      const at = `namespaces/${encodeURIComponent(object.namespace)}/${pluralOf(kind)}/${encodeURIComponent(object.name)}`
      const call = { method: 'PATCH', path: `${resources}/${at}`, contentType: MERGE_PATCH, body: {} } as const
      if ((await ignoreNotFound(api.send(call))) !== undefined) count += 1
    }
    next = metadata.continue
  } while (next)
  return count
}
