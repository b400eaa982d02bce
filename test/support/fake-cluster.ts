import { API_VERSION } from '../../src/common/resource-api.ts'
import type {
  Cluster,
  NamespaceInfo,
  ResourceChange,
  ResourceEvent,
  UnreadableResource,
} from '../../src/operator/cluster/cluster.ts'
import { FINALIZER } from '../../src/operator/controller/finalizer.ts'
import { type IndexValue, indexValuesOf } from '../../src/operator/resources/index-values.ts'
import { parseResource } from '../../src/operator/resources/parse-resource.ts'
import {
  INITIAL_STATUS,
  type Resource,
  type ResourceKey,
  type ResourceKind,
  type ResourceStatus,
  resourceKeyOf,
} from '../../src/operator/resources/resource.ts'

/** An in-memory `Cluster` whose resources the test declares. */
export class FakeCluster implements Cluster {
  readonly description = 'memory'
  readonly resources = new Map<ResourceKey, Resource>()
  readonly unreadables = new Map<ResourceKey, UnreadableResource>()
  readonly events: ResourceEvent[] = []
  /** Undefined: Secrets are not watched, but can still be read. */
  secretVersions: Map<string, string> | undefined
  readonly secrets = new Map<string, Readonly<Record<string, string>>>()
  /** Undefined: namespaces are not known. */
  namespaces: Map<string, NamespaceInfo> | undefined
  readonly configMaps = new Map<string, Readonly<Record<string, string>>>()
  /** ConfigMaps with another owner. */
  readonly foreignConfigMaps = new Set<string>()
  readonly #listeners = new Set<(change: ResourceChange) => void>()
  #created = 0

  async start(): Promise<void> {}
  async stop(): Promise<void> {}

  onChange(listener: (change: ResourceChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Creates a resource or changes its spec. Returns its key. */
  apply<K extends ResourceKind>(
    kind: K,
    name: string,
    spec: object,
    annotations: Readonly<Record<string, string>> = {},
  ): ResourceKey<K> {
    const { declared, errors } = parseResource({
      apiVersion: API_VERSION,
      kind,
      metadata: { name, annotations },
      spec,
    })
    if (declared === undefined) throw new Error(errors.map(({ message }) => message).join('; '))
    const key: ResourceKey<K> = `${kind}/default/${name}`
    const known = this.resources.get(key)
    this.#created += 1
    const metadata = {
      namespace: 'default',
      name,
      uid: String(this.#created),
      creationTimestamp: new Date(Date.UTC(2026, 0, 1) + this.#created * 1_000).toISOString(),
      finalizers: [],
      labels: {},
      ...known?.metadata,
      annotations,
      generation: (known?.metadata.generation ?? 0) + 1,
    }
    const status = known?.status ?? INITIAL_STATUS
    this.resources.set(key, { kind, metadata, spec: declared.spec, status } as Resource)
    this.#notify({ key, type: 'desired' })
    return key
  }

  /** Requests the deletion of a resource. */
  remove(key: ResourceKey): void {
    const resource = this.#find(key)
    if (resource.metadata.finalizers.length === 0) {
      this.#drop(key)
      return
    }
    const deletionTimestamp = new Date(Date.UTC(2026, 0, 2)).toISOString()
    this.resources.set(key, { ...resource, metadata: { ...resource.metadata, deletionTimestamp } } as Resource)
    this.#notify({ key, type: 'desired' })
  }

  get<K extends ResourceKind>(key: ResourceKey<K>): Resource<K> | undefined {
    return this.resources.get(key) as Resource<K> | undefined
  }

  unreadable<K extends ResourceKind>(key: ResourceKey<K>): UnreadableResource<K> | undefined {
    return this.unreadables.get(key) as UnreadableResource<K> | undefined
  }

  list<K extends ResourceKind>(kind: K): readonly Resource<K>[] {
    return [...this.resources.values()].filter((resource): resource is Resource<K> => resource.kind === kind)
  }

  count(kind: ResourceKind): number {
    return this.list(kind).length
  }

  find<K extends ResourceKind>(term: IndexValue<K>): readonly Resource<K>[] {
    const found = [...this.resources.values()].filter((resource) => indexValuesOf(resource).includes(term))
    return found as readonly Resource[] as readonly Resource<K>[]
  }

  async writeStatus<K extends ResourceKind>(key: ResourceKey<K>, status: ResourceStatus[K]): Promise<boolean> {
    const unreadable = this.unreadables.get(key)
    if (unreadable === undefined) this.resources.set(key, { ...this.#find(key), status } as Resource)
    else this.unreadables.set(key, { ...unreadable, status })
    this.#notify({ key, type: 'status' })
    return true
  }

  async setFinalizer(key: ResourceKey, present: boolean): Promise<void> {
    if (this.unreadables.has(key)) {
      if (!present) this.unreadables.delete(key)
      return
    }
    const resource = this.#find(key)
    if (!present && resource.metadata.deletionTimestamp !== undefined) return this.#drop(key)
    const finalizers = present ? [FINALIZER[resource.kind]] : []
    this.resources.set(key, { ...resource, metadata: { ...resource.metadata, finalizers } } as Resource)
  }

  async confirm(): Promise<void> {}

  recordEvent(_: Resource, event: ResourceEvent): void {
    this.events.push(event)
  }

  async configMap(namespace: string, name: string) {
    const data = this.configMaps.get(`${namespace}/${name}`)
    return data && new Map(Object.entries(data))
  }

  async secret(namespace: string, name: string) {
    const data = this.secrets.get(`${namespace}/${name}`)
    return data && { version: this.secretVersion(namespace, name) ?? '1', data: new Map(Object.entries(data)) }
  }

  secretVersion(namespace: string, name: string) {
    return this.secretVersions && (this.secretVersions.get(`${namespace}/${name}`) ?? '')
  }

  async watchNamespaces() {
    this.namespaces ??= new Map()
  }

  namespace(name: string) {
    return this.namespaces && (this.namespaces.get(name) ?? null)
  }

  async writeConfigMap(namespace: string, name: string, data: Readonly<Record<string, string>>) {
    const key = `${namespace}/${name}`
    if (this.foreignConfigMaps.has(key)) return false
    this.configMaps.set(key, { ...this.configMaps.get(key), ...data })
    return true
  }

  manifestErrors() {
    return []
  }

  #find(key: ResourceKey): Resource {
    const resource = this.resources.get(key)
    if (resource === undefined) throw new Error(`no ${key}`)
    return resource
  }

  #drop(key: ResourceKey): void {
    const resource = this.#find(key)
    this.resources.delete(resourceKeyOf(resource))
    this.#notify({ key, type: 'deleted' })
  }

  #notify(change: ResourceChange): void {
    for (const listener of this.#listeners) listener(change)
  }
}
