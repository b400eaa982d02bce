import { pluralOf } from '../resources/crd.ts'
import { API_VERSION, KINDS } from '../resources/resource.ts'

/** How the API server reaches the webhook. */
export type WebhookAddress =
  | { readonly url: string }
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port: number } }

export const ADMISSION_PATH = '/admission'

const [GROUP, VERSION] = API_VERSION.split('/')

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
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name, labels: { 'app.kubernetes.io/name': 'weir' } },
    webhooks: [
      {
        name: 'resources.weir.dev',
        clientConfig: { ...where, ...(ca !== undefined && { caBundle: Buffer.from(ca).toString('base64') }) },
        rules: [
          {
            apiGroups: [GROUP],
            apiVersions: [VERSION],
            operations: ['CREATE', 'UPDATE'],
            resources: KINDS.map(pluralOf),
            scope: 'Namespaced',
          },
        ],
        namespaceSelector: { matchExpressions: [{ key: 'kubernetes.io/metadata.name', ...within }] },
        matchConditions: [
          { name: 'new-spec', expression: 'oldObject == null || object.spec != oldObject.spec' },
          { name: 'not-suspended', expression: '!has(object.spec.suspend) || !object.spec.suspend' },
          { name: 'not-deleted', expression: '!has(object.metadata.deletionTimestamp)' },
        ],
        admissionReviewVersions: ['v1'],
        failurePolicy: 'Ignore',
        matchPolicy: 'Equivalent',
        sideEffects: 'None',
        timeoutSeconds: 5,
      },
    ],
  }
}
