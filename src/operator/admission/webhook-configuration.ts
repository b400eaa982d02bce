import { pluralOf } from '../resources/crd.ts'
import { API_VERSION, RESOURCE_KINDS, type ResourceKind } from '../resources/resource.ts'
import { GUARDED_FIELDS } from './authorization.ts'

/** How the API server reaches the webhook. */
export type WebhookAddress =
  | { readonly url: string }
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port: number } }

export const ADMISSION_PATH = '/admission'

const [GROUP, VERSION] = API_VERSION.split('/')

type Guard = NonNullable<(typeof GUARDED_FIELDS)[ResourceKind]>
const guards = Object.entries(GUARDED_FIELDS) as readonly (readonly [ResourceKind, Guard])[]
const deletionsOf = guards.filter(([, { guardsDeletion }]) => guardsDeletion)

/** As CEL: whether an object asks for what needs a verb of its own. */
function asks({ field, value }: Guard, object: 'object' | 'oldObject'): string {
  return `(has(${object}.spec.${field}) && ${object}.spec.${field} == ${JSON.stringify(value).replaceAll('"', "'")})`
}

/** What is being deleted can still be told to delete more. */
function guarded(): string {
  return guards.map(([, guard]) => asks(guard, 'object')).join(' || ')
}

/**
 * What tells the API server to ask. It asks about new specs only, and goes on without an answer when it gets none:
 * a resource that was not judged is judged by its first pass.
 */
export function webhookConfiguration(options: {
  readonly name: string
  readonly address: WebhookAddress
  /** PEM; absent: whom the API server trusts anyway. */
  readonly ca: string | undefined
  /** Empty: all. */
  readonly namespaces: readonly string[]
}): object {
  const { name, address, ca, namespaces } = options
  const where =
    'url' in address
      ? { url: `${address.url}${ADMISSION_PATH}` }
      : { service: { ...address.service, path: ADMISSION_PATH } }
  const within =
    namespaces.length > 0 ? { operator: 'In', values: namespaces } : { operator: 'NotIn', values: ['kube-system'] }
  const common = {
    clientConfig: { ...where, ...(ca !== undefined && { caBundle: Buffer.from(ca).toString('base64') }) },
    namespaceSelector: { matchExpressions: [{ key: 'kubernetes.io/metadata.name', ...within }] },
    admissionReviewVersions: ['v1'],
    matchPolicy: 'Equivalent',
    sideEffects: 'None',
    timeoutSeconds: 5,
  }
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name, labels: { 'app.kubernetes.io/name': 'weir' } },
    webhooks: [
      {
        ...common,
        name: 'resources.weir.dev',
        rules: [
          {
            apiGroups: [GROUP],
            apiVersions: [VERSION],
            operations: ['CREATE', 'UPDATE'],
            resources: RESOURCE_KINDS.map(pluralOf),
            scope: 'Namespaced',
          },
        ],
        matchConditions: [
          { name: 'new-spec', expression: 'oldObject == null || object.spec != oldObject.spec' },
          { name: 'not-suspended', expression: '!has(object.spec.suspend) || !object.spec.suspend' },
          { name: 'not-deleted', expression: `!has(object.metadata.deletionTimestamp) || ${guarded()}` },
        ],
        failurePolicy: 'Ignore',
      },
      {
        ...common,
        name: 'deletions.weir.dev',
        rules: [
          {
            apiGroups: [GROUP],
            apiVersions: [VERSION],
            operations: ['DELETE'],
            resources: deletionsOf.map(([kind]) => pluralOf(kind)),
            scope: 'Namespaced',
          },
        ],
        matchConditions: [
          { name: 'guarded', expression: deletionsOf.map(([, guard]) => asks(guard, 'oldObject')).join(' || ') },
        ],
        // Without the operator nothing deletes for good: to refuse meanwhile takes nothing from anybody.
        failurePolicy: 'Fail',
      },
    ],
  }
}
