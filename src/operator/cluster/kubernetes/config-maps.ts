import { APPLY, ApiError, type KubernetesApi } from '../../../clients/kubernetes/api.ts'
import type { Clock } from '../../../config/clock.ts'
import type { Logger } from '../../../config/logger.ts'
import { WRITE_MS } from '../cluster.ts'
import { type OnRestart, type RawObject, Reflector } from './reflector.ts'

export type ConfigMapsOptions = {
  readonly api: KubernetesApi
  readonly clock: Clock
  readonly logger: Logger
  readonly random?: () => number
  /** Namespaces; undefined stands for all. */
  readonly scopes: readonly (string | undefined)[]
  readonly onChange: (namespace: string, name: string) => void
  readonly onRestart?: OnRestart
}

const MANAGER = 'weir-operator-export'

type ConfigMap = { readonly data?: Readonly<Record<string, string>> }

const metadataOnly = (kind: string) => `application/json;as=${kind};v=v1;g=meta.k8s.io`
const METADATA_ONLY = { list: metadataOnly('PartialObjectMetadataList'), watch: metadataOnly('PartialObjectMetadata') }

/** ConfigMaps are many and large: only that they change is watched, what they hold is fetched when somebody asks. */
export class ConfigMaps {
  readonly #options: ConfigMapsOptions
  readonly #reflectors: readonly Reflector<RawObject>[]

  constructor(options: ConfigMapsOptions) {
    this.#options = options
    this.#reflectors = options.scopes.map((namespace) => this.#reflectorOf(namespace))
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

  /** Undefined when there is none. */
  async data(namespace: string, name: string): Promise<Readonly<Record<string, string>> | undefined> {
    try {
      const path = `${pathOf(namespace)}/${encodeURIComponent(name)}`
      return (await this.#options.api.send<ConfigMap>({ method: 'GET', path })).data ?? {}
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined
      throw error
    }
  }

  /** False where another manager has one of these keys. */
  async write(namespace: string, name: string, data: Readonly<Record<string, string>>): Promise<boolean> {
    try {
      await this.#options.api.send({
        method: 'PATCH',
        path: `${pathOf(namespace)}/${encodeURIComponent(name)}`,
        query: { fieldManager: MANAGER },
        contentType: APPLY,
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data },
        signal: AbortSignal.timeout(WRITE_MS),
      })
      return true
    } catch (error) {
      if (error instanceof ApiError && error.status === 409) return false
      throw error
    }
  }

  #reflectorOf(scope: string | undefined): Reflector<RawObject> {
    const { onChange, api, clock, logger, random, onRestart } = this.#options
    const versions = new Map<string, string>()
    const note = ({ metadata: { namespace = '', name, resourceVersion } }: RawObject) => {
      const key = `${namespace}/${name}`
      if (versions.get(key) === resourceVersion) return
      versions.set(key, resourceVersion)
      onChange(namespace, name)
    }
    const forget = ({ metadata: { namespace = '', name } }: RawObject) => {
      if (versions.delete(`${namespace}/${name}`)) onChange(namespace, name)
    }
    const store = {
      replace: (objects: readonly RawObject[]) => {
        const present = new Set(objects.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`))
        for (const key of [...versions.keys()].filter((known) => !present.has(known))) {
          const [namespace = '', name = ''] = key.split('/')
          versions.delete(key)
          onChange(namespace, name)
        }
        for (const object of objects) note(object)
      },
      put: note,
      remove: forget,
    }
    const path = pathOf(scope)
    const optional = { ...(random && { random }), ...(onRestart && { onRestart }) }
    return new Reflector({ api, path, accept: METADATA_ONLY, clock, logger, store, ...optional })
  }
}

function pathOf(namespace: string | undefined): string {
  return namespace === undefined
    ? '/api/v1/configmaps'
    : `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps`
}
