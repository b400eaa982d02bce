import type { KubernetesObject } from '../../../clients/kubernetes/reflector.ts'
import { API_VERSION } from '../../../common/resource-api.ts'
import { pluralOf } from '../../resources/custom-resource-definition.ts'
import { parseStoredResource } from '../../resources/parse-resource.ts'
import {
  INITIAL_STATUS,
  type ObjectMeta,
  type Resource,
  type ResourceKey,
  type ResourceKind,
  type ResourceStatus,
  resourceKey,
} from '../../resources/resource.ts'
import type { UnreadableResource } from '../cluster.ts'

/** An object of one of Weir's kinds, as the API server returns it. */
export type CustomObject = KubernetesObject & {
  readonly metadata: KubernetesObject['metadata'] & {
    readonly namespace: string
    readonly generation: number
    readonly creationTimestamp: string
    readonly deletionTimestamp?: string
    readonly finalizers?: readonly string[]
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec?: unknown
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly unknown[] }
}

export type ReadResult<K extends ResourceKind> =
  | { readonly resource: Resource<K> }
  | { readonly unreadable: UnreadableResource<K> }

/** Reads an object and fills in defaults as the definition does. An unchanged spec is that of the previous resource. */
export function readObject<K extends ResourceKind>(kind: K, object: CustomObject, previous?: Resource): ReadResult<K> {
  const { name, namespace, uid, generation, creationTimestamp, deletionTimestamp, ...optional } = object.metadata
  const metadata: ObjectMeta = {
    namespace,
    name,
    uid,
    generation,
    creationTimestamp,
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    finalizers: (optional.finalizers ?? []).filter(isOurs),
    labels: optional.labels ?? {},
    annotations: optional.annotations ?? {},
  }
  const status = { ...INITIAL_STATUS, ...object.status } as ResourceStatus[K]
  const isSpecUnchanged = (before: Resource) => before.metadata.uid === uid && before.metadata.generation === generation
  const read = previous !== undefined && isSpecUnchanged(previous) ? previous : readSpec(kind, object)
  if ('reason' in read) return { unreadable: { metadata, status, reason: read.reason } }
  return { resource: { kind, metadata, spec: read.spec, status } as unknown as Resource<K> }
}

function readSpec(
  kind: ResourceKind,
  { metadata: { name, namespace }, spec }: CustomObject,
): { readonly spec: Resource['spec'] } | { readonly reason: string } {
  const { declared, errors } = parseStoredResource({
    apiVersion: API_VERSION,
    kind,
    metadata: { name, namespace },
    spec,
  })
  if (declared !== undefined) return { spec: declared.spec }
  return { reason: errors.map(({ message }) => message).join('; ') }
}

/** Finalizers of other controllers are not ours to remove. */
function isOurs(finalizer: string): boolean {
  return finalizer.startsWith('weir.dev/')
}

/** Whether `one` is older than `other`. Resource versions of an object increase (KEP-5504). */
export function isOlder(one: KubernetesObject, other: KubernetesObject): boolean {
  if (one.metadata.uid !== other.metadata.uid) return false
  return BigInt(one.metadata.resourceVersion) < BigInt(other.metadata.resourceVersion)
}

export function resourcesPath(kind: ResourceKind, namespace: string | undefined): string {
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`
  return `/apis/${API_VERSION}${scope}/${pluralOf(kind)}`
}

export function keyOfObject(kind: ResourceKind, { metadata }: CustomObject): ResourceKey {
  return resourceKey(kind, metadata.namespace, metadata.name)
}

export function toIdentity({ metadata: { namespace, name, uid, resourceVersion } }: CustomObject): KubernetesObject {
  return { metadata: { namespace, name, uid, resourceVersion } }
}

/** With its uid, an apply never creates an object that was deleted. */
export function identityOf(key: ResourceKey, { metadata: { uid } }: KubernetesObject) {
  const [kind, namespace, name] = key.split('/') as [ResourceKind, string, string]
  return { apiVersion: API_VERSION, kind, metadata: { namespace, name, uid } }
}

/** The generation counts changes of `spec`. The operator adds finalizers itself, but others may remove them. */
export function isWantedOtherwise(before: Resource | undefined, after: Resource): boolean {
  if (before === undefined) return true
  const wanted = ({ metadata: { uid, generation, deletionTimestamp, annotations } }: Resource) =>
    JSON.stringify([uid, generation, deletionTimestamp, annotations])
  const isLoosed = before.metadata.finalizers.some((finalizer) => !after.metadata.finalizers.includes(finalizer))
  return isLoosed || wanted(before) !== wanted(after)
}
