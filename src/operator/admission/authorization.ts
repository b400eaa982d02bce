import { isPermitted } from '../../clients/kubernetes/access-review.ts'
import type { KubernetesApi } from '../../clients/kubernetes/kubernetes-api.ts'
import { messageOf } from '../../common/errors.ts'
import { API_GROUP } from '../../common/resource-api.ts'
import { pluralOf } from '../resources/custom-resource-definition.ts'
import type { ResourceKind } from '../resources/resource.ts'
import type { AdmissionDecision, DeleteRequest, WriteRequest } from './admission-review.ts'

/** A field whose value needs a verb of its own. */
type GuardedField = {
  readonly field: string
  readonly value: unknown
  readonly verb: string
  /** Whether deleting the object carries out what the field declares. */
  readonly guardsDeletion: boolean
}

/** Custom verbs: Kubernetes does not define them, but roles can grant them. */
export const GUARDED_FIELDS: Readonly<Partial<Record<ResourceKind, GuardedField>>> = {
  Subject: { field: 'deletionPolicy', value: 'HardDelete', verb: 'harddelete', guardsDeletion: true },
  RegistryMode: { field: 'force', value: true, verb: 'force', guardsDeletion: false },
}

type Refused = Extract<AdmissionDecision, { allowed: false }> | undefined

/**
 * Denies a write that sets a guarded field without the permission; undefined allows it. When the permission cannot be
 * checked, the write is denied.
 */
export async function denyUnauthorizedWrite(
  { kind, object, before, by }: WriteRequest,
  api: Pick<KubernetesApi, 'send'>,
): Promise<Refused> {
  const guard = GUARDED_FIELDS[kind]
  if (guard === undefined || !setsField(guard, object.spec)) return undefined
  // The stored value was authorized when it was written, except in a suspended object, which is not sent to the
  // webhook.
  const { suspend } = (before?.spec ?? {}) as { readonly suspend?: boolean }
  if (before !== undefined && !suspend && setsField(guard, before.spec)) return undefined
  return refusalBy(guard, { kind, object, by }, api)
}

/**
 * Deletes the content of a deleted namespace. Only cluster administrators may delete namespaces. The garbage collector
 * is not exempt: everybody who may edit a Subject can make it depend on an object of their own.
 */
const NAMESPACE_CONTROLLER = 'system:serviceaccount:kube-system:namespace-controller'

/** Denies a deletion without the permission; undefined allows it. */
export async function denyUnauthorizedDelete(
  deletion: DeleteRequest,
  api: Pick<KubernetesApi, 'send'>,
): Promise<Refused> {
  const guard = GUARDED_FIELDS[deletion.kind]
  if (!guard?.guardsDeletion || !setsField(guard, deletion.object.spec)) return undefined
  if (deletion.by.username === NAMESPACE_CONTROLLER) return undefined
  return refusalBy(guard, deletion, api)
}

async function refusalBy(
  guard: GuardedField,
  { kind, object, by }: DeleteRequest,
  api: Pick<KubernetesApi, 'send'>,
): Promise<Refused> {
  const { namespace, name } = object.metadata
  const resourceAttributes = { group: API_GROUP, resource: pluralOf(kind), verb: guard.verb, namespace, name }
  const what = `spec.${guard.field}: ${guard.value} needs the verb ${guard.verb} on ${pluralOf(kind)}.${API_GROUP} in namespace ${namespace}`
  const refused = (why: string) => ({ allowed: false, reason: 'Forbidden', message: `${what}, ${why}` }) as const
  try {
    return (await isPermitted(api, by, resourceAttributes))
      ? undefined
      : refused(`which ${by.username} does not have: the role weir-admin grants it`)
  } catch (error) {
    return refused(`but the permission of ${by.username} could not be checked: ${messageOf(error)}`)
  }
}

function setsField({ field, value }: GuardedField, spec: unknown): boolean {
  return (spec as Readonly<Record<string, unknown>> | undefined)?.[field] === value
}
