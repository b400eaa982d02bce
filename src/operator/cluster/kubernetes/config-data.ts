import {
  APPLY_PATCH,
  ApiError,
  ignoreNotFound,
  type KubernetesApi,
} from '../../../clients/kubernetes/kubernetes-api.ts'
import { type ConfigData, type SecretData, WRITE_MS } from '../cluster.ts'
import { type ConfigDataResource, collectionPath } from './metadata-informer.ts'

const MANAGER = 'weir-operator-export'

type ConfigMap = { readonly data?: Readonly<Record<string, string>> }
type Secret = ConfigMap & { readonly metadata: { readonly resourceVersion: string } }

/** Data of a ConfigMap; undefined when it does not exist. */
export async function readConfigMap(
  api: KubernetesApi,
  namespace: string,
  name: string,
): Promise<ConfigData | undefined> {
  const found = await ignoreNotFound(
    api.send<ConfigMap>({ method: 'GET', path: pathTo('configmaps', namespace, name) }),
  )
  return found && new Map(Object.entries(found.data ?? {}))
}

/** Data of a Secret as text; undefined when it does not exist. */
export async function readSecret(api: KubernetesApi, namespace: string, name: string): Promise<SecretData | undefined> {
  const found = await ignoreNotFound(api.send<Secret>({ method: 'GET', path: pathTo('secrets', namespace, name) }))
  if (found === undefined) return undefined
  const data = Object.entries(found.data ?? {}).map(
    ([key, value]) => [key, Buffer.from(value, 'base64').toString()] as const,
  )
  return { version: found.metadata.resourceVersion, data: new Map(data) }
}

/** Returns false where another manager owns one of these keys. */
export async function writeConfigMap(
  api: KubernetesApi,
  namespace: string,
  name: string,
  data: Readonly<Record<string, string>>,
): Promise<boolean> {
  try {
    await api.send({
      method: 'PATCH',
      path: pathTo('configmaps', namespace, name),
      query: { fieldManager: MANAGER },
      contentType: APPLY_PATCH,
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data },
      timeoutMs: WRITE_MS,
    })
    return true
  } catch (error) {
    if (error instanceof ApiError && error.status === 409) return false
    throw error
  }
}

function pathTo(resource: ConfigDataResource, namespace: string, name: string): string {
  return `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}`
}
