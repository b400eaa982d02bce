import type { KubernetesApi } from '../../../clients/kubernetes/api.ts'
import type { Clock } from '../../../config/clock.ts'
import type { Logger } from '../../../config/logger.ts'
import { type OnRestart, type RawObject, Reflector } from './reflector.ts'

export type MetadataWatchOptions = {
  readonly api: KubernetesApi
  readonly clock: Clock
  readonly logger: Logger
  readonly random?: () => number
  /** Namespaces; undefined stands for all. */
  readonly scopes: readonly (string | undefined)[]
  readonly onChange: (namespace: string, name: string) => void
  readonly onRestart?: OnRestart
}

export type Resource = 'configmaps' | 'secrets'

const metadataOnly = (kind: string) => `application/json;as=${kind};v=v1;g=meta.k8s.io`
const METADATA_ONLY = { list: metadataOnly('PartialObjectMetadataList'), watch: metadataOnly('PartialObjectMetadata') }

/** They are many and large, and some are nobody's business: only that they change is watched, not what they hold. */
export class MetadataWatch {
  readonly #versions = new Map<string, string>()
  readonly #reflectors: readonly Reflector<RawObject>[]

  constructor(resource: Resource, options: MetadataWatchOptions) {
    this.#reflectors = options.scopes.map((scope) => this.#reflectorOf(resource, scope, options))
  }

  async start(): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.start()))
  }

  readings() {
    return this.#reflectors.map((reflector) => reflector.reading())
  }

  async stop(): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.stop()))
  }

  /** Another one after every change; undefined when there is none. */
  version(namespace: string, name: string): string | undefined {
    return this.#versions.get(`${namespace}/${name}`)
  }

  #reflectorOf(resource: Resource, scope: string | undefined, options: MetadataWatchOptions): Reflector<RawObject> {
    const { onChange, api, clock, logger, random, onRestart } = options
    const versions = this.#versions
    const note = ({ metadata: { namespace = '', name, resourceVersion } }: RawObject) => {
      const key = `${namespace}/${name}`
      if (versions.get(key) === resourceVersion) return
      versions.set(key, resourceVersion)
      onChange(namespace, name)
    }
    const forget = ({ metadata: { namespace = '', name } }: RawObject) => {
      if (versions.delete(`${namespace}/${name}`)) onChange(namespace, name)
    }
    const isInScope = (key: string) => scope === undefined || key.startsWith(`${scope}/`)
    const store = {
      replace: (objects: readonly RawObject[]) => {
        const present = new Set(objects.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`))
        for (const key of [...versions.keys()].filter((known) => isInScope(known) && !present.has(known))) {
          const [namespace = '', name = ''] = key.split('/')
          forget({ metadata: { namespace, name } } as RawObject)
        }
        for (const object of objects) note(object)
      },
      put: note,
      remove: forget,
    }
    const path = pathOf(resource, scope)
    const optional = { ...(random && { random }), ...(onRestart && { onRestart }) }
    return new Reflector({ api, path, accept: METADATA_ONLY, clock, logger, store, ...optional })
  }
}

export function pathOf(resource: Resource, namespace: string | undefined): string {
  return namespace === undefined
    ? `/api/v1/${resource}`
    : `/api/v1/namespaces/${encodeURIComponent(namespace)}/${resource}`
}
