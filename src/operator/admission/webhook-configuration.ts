import { API_GROUP, STORED_VERSION } from '../../common/resource-api.ts'
import { pluralOf } from '../resources/custom-resource-definition.ts'
import { RESOURCE_KINDS, type ResourceKind } from '../resources/resource.ts'
import { GUARDED_FIELDS } from './authorization.ts'

/** How the API server reaches the webhook. */
export type WebhookAddress =
  | { readonly url: string }
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port: number } }

export const ADMISSION_PATH = '/admission'

type Guard = NonNullable<(typeof GUARDED_FIELDS)[ResourceKind]>
const guards = Object.entries(GUARDED_FIELDS) as readonly (readonly [ResourceKind, Guard])[]
const deletionsOf = guards.filter(([, { guardsDeletion }]) => guardsDeletion)

/** A CEL expression: whether an object sets a guarded field. */
function asks({ field, value }: Guard, object: 'object' | 'oldObject'): string {
  return `(has(${object}.spec.${field}) && ${object}.spec.${field} == ${JSON.stringify(value).replaceAll('"', "'")})`
}

/** An object that is being deleted can still be edited, for example to delete more. */
function guarded(): string {
  return guards.map(([, guard]) => asks(guard, 'object')).join(' || ')
}

/**
 * The registration of the webhook. The API server sends new specs only. If the webhook does not respond, the
 * API server allows the write, and the first reconcile checks the resource.
 */
export function webhookConfiguration(options: {
  readonly name: string
  readonly address: WebhookAddress
  /** PEM; absent: the certificate is publicly trusted. */
  readonly ca: string | undefined
  /** Namespaces whose objects are sent; empty: all. */
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
            apiGroups: [API_GROUP],
            apiVersions: [STORED_VERSION],
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
            apiGroups: [API_GROUP],
            apiVersions: [STORED_VERSION],
            operations: ['DELETE'],
            resources: deletionsOf.map(([kind]) => pluralOf(kind)),
            scope: 'Namespaced',
          },
        ],
        matchConditions: [
          { name: 'guarded', expression: deletionsOf.map(([, guard]) => asks(guard, 'oldObject')).join(' || ') },
        ],
        // Fails closed: while the operator does not run, no deletion would be carried out anyway.
        failurePolicy: 'Fail',
      },
    ],
  }
}
