import { API_VERSION } from '../../src/common/resource-api.ts'
/** What an API server stores of the Subject `shop/user`, whose schema is an int. */
export function subjectObject(
  resourceVersion: number,
  more: { readonly metadata?: object; readonly spec?: object; readonly status?: object } = {},
) {
  return {
    apiVersion: API_VERSION,
    kind: 'Subject',
    metadata: {
      namespace: 'shop',
      name: 'user',
      uid: 'u-1',
      generation: 1,
      resourceVersion: String(resourceVersion),
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...more.metadata,
    },
    spec: more.spec ?? { schema: '"int"' },
    ...(more.status && { status: more.status }),
  }
}
