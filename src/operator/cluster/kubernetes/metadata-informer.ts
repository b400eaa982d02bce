import { isDeepStrictEqual } from 'node:util'
import type { KubernetesApi } from '../../../clients/kubernetes/kubernetes-api.ts'
import { type KubernetesObject, type OnWatchRestart, Reflector } from '../../../clients/kubernetes/reflector.ts'
import type { Clock } from '../../../common/clock.ts'
import type { Logger } from '../../../common/logging/logger.ts'

export type MetadataInformerOptions<T> = {
  readonly api: KubernetesApi
  readonly clock: Clock
  readonly logger: Logger
  readonly random?: () => number
  /** Namespaces to watch; undefined stands for all. */
  readonly scopes: readonly (string | undefined)[]
  /** The part of the metadata to keep: a change is reported only when this part changes. */
  readonly project: (metadata: KubernetesObject['metadata']) => T
  readonly onChange: (namespace: string, name: string) => void
  readonly onRestart?: OnWatchRestart
}

/** The resources with configuration data. */
export type ConfigDataResource = 'configmaps' | 'secrets'
export type InformerResource = ConfigDataResource | 'namespaces'

const metadataOnly = (kind: string) => `application/json;as=${kind};v=v1;g=meta.k8s.io`
const METADATA_ONLY = { list: metadataOnly('PartialObjectMetadataList'), watch: metadataOnly('PartialObjectMetadata') }

/**
 * Watches the metadata of objects, but not their content: the objects are many and large, and some are confidential.
 */
export class MetadataInformer<T> {
  readonly #cache = new Map<string, T>()
  readonly #reflectors: readonly Reflector<KubernetesObject>[]

  constructor(resource: InformerResource, options: MetadataInformerOptions<T>) {
    this.#reflectors = options.scopes.map((scope) => this.#reflectorOf(resource, scope, options))
  }

  async start(): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.start()))
  }

  /** Resolves when the cache is as new as this call. */
  async refresh(): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.refresh()))
  }

  watchStates() {
    return this.#reflectors.map((reflector) => reflector.watchState())
  }

  async stop(): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.stop()))
  }

  /** The kept part of the metadata of an object; undefined when it does not exist. */
  get(namespace: string, name: string): T | undefined {
    return this.#cache.get(`${namespace}/${name}`)
  }

  #reflectorOf(
    resource: InformerResource,
    scope: string | undefined,
    options: MetadataInformerOptions<T>,
  ): Reflector<KubernetesObject> {
    const { onChange, project: toKept, api, clock, logger, random, onRestart } = options
    const cache = this.#cache
    const put = ({ metadata }: KubernetesObject) => {
      const key = keyOf(metadata)
      const now = toKept(metadata)
      if (isDeepStrictEqual(cache.get(key), now)) return
      cache.set(key, now)
      notify(key)
    }
    const drop = (key: string) => {
      if (cache.delete(key)) notify(key)
    }
    const notify = (key: string) => {
      const [namespace = '', name = ''] = key.split('/')
      onChange(namespace, name)
    }
    const isInScope = (key: string) => scope === undefined || key.startsWith(`${scope}/`)
    const store = {
      replace: (objects: readonly KubernetesObject[]) => {
        const present = new Set(objects.map(({ metadata }) => keyOf(metadata)))
        for (const key of [...cache.keys()]) if (isInScope(key) && !present.has(key)) drop(key)
        for (const object of objects) put(object)
      },
      put,
      remove: ({ metadata }: KubernetesObject) => drop(keyOf(metadata)),
    }
    const optional = { ...(random && { random }), ...(onRestart && { onRestart }) }
    const accept = METADATA_ONLY
    return new Reflector({ api, ...collection(resource, scope), accept, clock, logger, store, ...optional })
  }
}

/** A namespace is stored under its own name. */
function keyOf({ name, namespace = name }: KubernetesObject['metadata']): string {
  return `${namespace}/${name}`
}

function collection(resource: InformerResource, scope: string | undefined): { path: string; fieldSelector?: string } {
  if (resource !== 'namespaces') return { path: collectionPath(resource, scope) }
  const path = `/api/v1/${resource}`
  return scope === undefined ? { path } : { path, fieldSelector: `metadata.name=${scope}` }
}

export function collectionPath(resource: ConfigDataResource, namespace: string | undefined): string {
  return namespace === undefined
    ? `/api/v1/${resource}`
    : `/api/v1/namespaces/${encodeURIComponent(namespace)}/${resource}`
}
