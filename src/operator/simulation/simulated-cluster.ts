import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { ClusterReader, ConfigData, NamespaceInfo, SecretData } from '../cluster/cluster.ts'
import { ResourceStore } from '../cluster/resource-store.ts'
import type { IndexValue } from '../resources/index-values.ts'
import type { DeclaredResource } from '../resources/parse-resource.ts'
import {
  INITIAL_STATUS,
  type Resource,
  type ResourceKey,
  type ResourceKind,
  resourceKey,
} from '../resources/resource.ts'

type ManifestData = Readonly<Record<string, string>>
type SecretKey = { readonly name: string; readonly key: string }

/** The declared resources of a simulation, with the statuses that it gives them. */
export class SimulatedCluster implements ClusterReader {
  readonly #resources = new ResourceStore()
  readonly #creationTimestamp: string
  #configMaps: ReadonlyMap<string, ManifestData> = new Map()
  readonly #secrets = new Map<string, ConfigData>()

  /** `createdMs`: when the resources were created, as far as reconcilers are concerned. */
  constructor(createdMs: number) {
    this.#creationTimestamp = new Date(createdMs).toISOString()
  }

  /** Data of the ConfigMaps, by `namespace/name`. */
  setConfigMaps(configMaps: ReadonlyMap<string, ManifestData>): void {
    this.#configMaps = configMaps
  }

  /** Creates a resource, or replaces its spec and keeps its status. */
  declare({ kind, namespace, name, labels, annotations, spec }: DeclaredResource): Resource {
    const key = resourceKey(kind, namespace, name)
    const known = this.#resources.get(key)
    const isChanged = known !== undefined && !isDeepStrictEqual(known.spec, spec)
    const generation = (known?.metadata.generation ?? 1) + Number(isChanged)
    const metadata = {
      namespace,
      name,
      uid: createHash('sha256').update(key).digest('hex'),
      generation,
      creationTimestamp: this.#creationTimestamp,
      finalizers: [],
      labels,
      annotations,
    }
    const resource = { kind, metadata, spec, status: known?.status ?? INITIAL_STATUS } as Resource
    this.put(resource)
    return resource
  }

  put(resource: Resource): void {
    this.#resources.put(resource)
  }

  drop(key: ResourceKey): void {
    this.#resources.drop(key)
  }

  all(): readonly Resource[] {
    return this.#resources.all()
  }

  get<K extends ResourceKind>(key: ResourceKey<K>): Resource<K> | undefined {
    return this.#resources.get(key)
  }

  list<K extends ResourceKind>(kind: K): readonly Resource<K>[] {
    return this.#resources.list(kind)
  }

  find<K extends ResourceKind>(term: IndexValue<K>): readonly Resource<K>[] {
    return this.#resources.find(term)
  }

  async configMap(namespace: string, name: string): Promise<ConfigData | undefined> {
    const data = this.#configMaps.get(`${namespace}/${name}`)
    return data && new Map(Object.entries(data))
  }

  /** Manifests contain no Secrets: sets a value that is assumed, unless the key has one already. */
  assumeSecretValue(namespace: string, { name, key }: SecretKey, value: string): void {
    const secret = `${namespace}/${name}`
    this.#secrets.set(secret, new Map([[key, value], ...(this.#secrets.get(secret) ?? [])]))
  }

  async secret(namespace: string, name: string): Promise<SecretData | undefined> {
    const data = this.#secrets.get(`${namespace}/${name}`)
    return data && { data, version: 'assumed' }
  }

  secretVersion(): string | undefined {
    return undefined
  }

  namespace(): NamespaceInfo | null | undefined {
    return undefined
  }
}
