import {
  APPLY_PATCH,
  type ApiCall,
  ApiError,
  JSON_PATCH,
  type KubernetesApi,
} from '../../../clients/kubernetes/kubernetes-api.ts'
import type { KubernetesObject, OnWatchRestart, Store } from '../../../clients/kubernetes/reflector.ts'
import { Reflector } from '../../../clients/kubernetes/reflector.ts'
import type { Clock } from '../../../common/clock.ts'
import type { Logger } from '../../../common/logging/logger.ts'
import { FINALIZER } from '../../controller/finalizer.ts'
import type { IndexValue } from '../../resources/index-values.ts'
import { resourcesReferringTo } from '../../resources/referenced-objects.ts'
import {
  RESOURCE_KINDS,
  type Resource,
  type ResourceKey,
  type ResourceKind,
  type ResourceStatus,
  resourceKeyOf,
} from '../../resources/resource.ts'
import { ChangeListeners } from '../change-listeners.ts'
import {
  type Cluster,
  type ConfigData,
  type ManifestError,
  type NamespaceInfo,
  type ResourceChange,
  type ResourceEvent,
  type SecretData,
  type UnreadableResource,
  WRITE_MS,
} from '../cluster.ts'
import { ResourceStore } from '../resource-store.ts'
import { isGone, isOutdated } from './apply-errors.ts'
import { readConfigMap, readSecret, writeConfigMap } from './config-data.ts'
import { ConfigMapCache } from './config-map-cache.ts'
import {
  type CustomObject,
  identityOf,
  isOlder,
  isWantedOtherwise,
  keyOfObject,
  readObject,
  resourcesPath,
  toIdentity,
} from './custom-object.ts'
import { EventRecorder } from './event-recorder.ts'
import {
  MetadataInformer,
  type MetadataInformerOptions,
  type InformerResource as Watched,
} from './metadata-informer.ts'

export type KubernetesOptions = {
  readonly api: KubernetesApi
  readonly clock: Clock
  readonly logger: Logger
  /** Namespaces to watch; empty: all. */
  readonly namespaces: readonly string[]
  /** Whether to watch the metadata of Secrets. Default: false. */
  readonly watchesSecrets?: boolean
  /** Name of this process in Events. */
  readonly identity: string
  readonly random?: () => number
  /** Called each time a watch is restarted. */
  readonly onRestart?: OnWatchRestart
}

/** Resources count as being written for this time after each write. */
const WRITING_MS = 1_000
const STATUS_MANAGER = 'weir-operator'
/** A field manager of its own: a status apply must not remove the finalizer, and vice versa. */
const FINALIZER_MANAGER = 'weir-operator-finalizer'

/** Keeps the identity instead of the object: `managedFields` is larger than the rest of it. */
type Known = {
  readonly identity: KubernetesObject
  readonly resource?: Resource
  readonly unreadable?: UnreadableResource
}

/** Resources of a Kubernetes cluster: reads use a cache that reflectors maintain, writes are server-side applies. */
export class KubernetesCluster implements Cluster {
  readonly description: string
  readonly #options: KubernetesOptions
  readonly #known = new Map<ResourceKey, Known>()
  /** Resources of which a write got no response, and that were not read since. */
  readonly #unconfirmed = new Set<ResourceKey>()
  /** Resources of which a write got no response, and that have not changed since: it may still arrive. */
  readonly #unanswered = new Set<ResourceKey>()
  readonly #resources = new ResourceStore()
  readonly #listeners: ChangeListeners
  readonly #reflectors: readonly Reflector<CustomObject>[]
  readonly #configMaps: MetadataInformer<string>
  readonly #configData: ConfigMapCache
  readonly #secrets: MetadataInformer<string> | undefined
  #namespaces: { readonly watch: MetadataInformer<NamespaceInfo>; isKnown: boolean } | undefined
  readonly #events: EventRecorder
  #writtenAtMs = Number.NEGATIVE_INFINITY
  #isStopped = false

  constructor(options: KubernetesOptions) {
    const { api, namespaces, clock, logger, identity } = options
    this.#options = options
    this.#listeners = new ChangeListeners(options.logger)
    const scopes = namespaces.length === 0 ? [undefined] : namespaces
    this.description = namespaces.length === 0 ? 'all namespaces' : `namespaces ${namespaces.join(', ')}`
    this.#reflectors = RESOURCE_KINDS.flatMap((kind) => scopes.map((namespace) => this.#reflectorOf(kind, namespace)))
    const versions = (resource: Watched) => this.#metadataOf(resource, ({ resourceVersion }) => resourceVersion)
    this.#configMaps = versions('configmaps')
    this.#configData = new ConfigMapCache((namespace, name) => readConfigMap(api, namespace, name))
    this.#secrets = options.watchesSecrets ? versions('secrets') : undefined
    const isWriting = () => clock.monotonicMs() - this.#writtenAtMs < WRITING_MS
    this.#events = new EventRecorder({ api, clock, logger, identity, isWriting })
  }

  async start(): Promise<void> {
    await Promise.all(this.#watching().map((watch) => watch.start()))
  }

  /** Resolves when the cache is as new as this call; not before `start` has resolved. */
  async refresh(): Promise<void> {
    await Promise.all(this.#watching().map((watch) => watch.refresh()))
  }

  /** The watched paths, with the time since each last received something. */
  watches(): readonly { readonly path: string; readonly silentMs: number }[] {
    return [
      ...this.#reflectors.map((reflector) => reflector.watchState()),
      ...[this.#configMaps, this.#secrets, this.#namespaces?.watch].flatMap((watch) => watch?.watchStates() ?? []),
    ]
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#watching().map((watch) => watch.stop()))
    await this.#events.stop()
    this.#options.api.close()
  }

  onChange(listener: (change: ResourceChange) => void): () => void {
    return this.#listeners.add(listener)
  }

  get<K extends ResourceKind>(key: ResourceKey<K>): Resource<K> | undefined {
    return this.#resources.get(key)
  }

  unreadable<K extends ResourceKind>(key: ResourceKey<K>): UnreadableResource<K> | undefined {
    return this.#known.get(key)?.unreadable as UnreadableResource<K> | undefined
  }

  list<K extends ResourceKind>(kind: K): readonly Resource<K>[] {
    return this.#resources.list(kind)
  }

  count(kind: ResourceKind): number {
    return this.#resources.count(kind)
  }

  find<K extends ResourceKind>(term: IndexValue<K>): readonly Resource<K>[] {
    return this.#resources.find(term)
  }

  /**
   * The version in the request makes the API server reject a write that arrives late, after its response was given up, and would
   * replace a later status, or that of another object: it ignores the uid in a status.
   */
  async writeStatus<K extends ResourceKind>(
    key: ResourceKey<K>,
    status: ResourceStatus[K],
    isForced = false,
  ): Promise<boolean> {
    const known = this.#known.get(key)
    if (known === undefined) return true
    const { metadata, ...identity } = identityOf(key, known.identity)
    const { resourceVersion } = known.identity.metadata
    const body = { ...identity, metadata: { ...metadata, ...(!isForced && { resourceVersion }) }, status }
    try {
      await this.#apply(key, { manager: STATUS_MANAGER, subresource: '/status', body })
      return true
    } catch (error) {
      if (!isOutdated(error)) throw error
      return false
    }
  }

  async setFinalizer(key: ResourceKey, present: boolean): Promise<void> {
    const known = this.#known.get(key)
    if (known === undefined) return
    const [kind] = key.split('/') as [ResourceKind]
    const { metadata, ...rest } = identityOf(key, known.identity)
    const finalizer = FINALIZER[kind]
    const finalizers = present ? [finalizer] : []
    const object = await this.#apply(key, {
      manager: FINALIZER_MANAGER,
      subresource: '',
      body: { ...rest, metadata: { ...metadata, finalizers } },
    })
    const at = object?.metadata.finalizers?.indexOf(finalizer) ?? -1
    if (!present && at >= 0) await this.#removeFinalizer(key, metadata.uid, at)
  }

  /**
   * Removes a finalizer that belongs to another field manager, because the object was restored from a backup, for example. An
   * apply would keep it, and the object would exist for ever.
   */
  async #removeFinalizer(key: ResourceKey, uid: string, at: number): Promise<void> {
    const [kind] = key.split('/') as [ResourceKind]
    const path = `/metadata/finalizers/${at}`
    await this.#patch(key, {
      contentType: JSON_PATCH,
      body: [
        { op: 'test', path: '/metadata/uid', value: uid },
        { op: 'test', path, value: FINALIZER[kind] },
        { op: 'remove', path },
      ],
    })
  }

  async confirm(key: ResourceKey): Promise<void> {
    if (!this.#unconfirmed.has(key)) return
    const [kind, namespace, name] = key.split('/') as [ResourceKind, string, string]
    // A list, because the operator has no permission to get single resources.
    const { items } = await this.#options.api.send<{ readonly items: readonly CustomObject[] | null }>({
      method: 'GET',
      path: resourcesPath(kind, namespace),
      query: { fieldSelector: `metadata.name=${name}` },
    })
    this.#unconfirmed.delete(key)
    const [object] = items ?? []
    if (object === undefined) this.#drop(key)
    else this.#put(kind, object)
  }

  recordEvent({ kind, metadata: { namespace, name, uid } }: Resource, event: ResourceEvent): void {
    this.#events.record({ kind, namespace, name, uid }, event)
  }

  configMap(namespace: string, name: string): Promise<ConfigData | undefined> {
    return this.#configData.get(namespace, name)
  }

  secret(namespace: string, name: string): Promise<SecretData | undefined> {
    return readSecret(this.#options.api, namespace, name)
  }

  secretVersion(namespace: string, name: string): string | undefined {
    return this.#secrets && (this.#secrets.get(namespace, name) ?? '')
  }

  async watchNamespaces(): Promise<void> {
    if (this.#namespaces !== undefined || this.#isStopped) return
    const watch = this.#metadataOf('namespaces', toNamespace)
    const followed = { watch, isKnown: false }
    this.#namespaces = followed
    try {
      await watch.start()
    } catch (error) {
      this.#namespaces = undefined
      await watch.stop()
      throw error
    }
    if (this.#isStopped) return
    followed.isKnown = true
    for (const key of this.#known.keys()) this.#notify({ key, type: 'desired' })
  }

  /** Undefined until all namespaces are listed: a missing namespace grants less than an unknown one. */
  namespace(name: string): NamespaceInfo | null | undefined {
    return this.#namespaces?.isKnown ? (this.#namespaces.watch.get(name, name) ?? null) : undefined
  }

  writeConfigMap(namespace: string, name: string, data: Readonly<Record<string, string>>): Promise<boolean> {
    return writeConfigMap(this.#options.api, namespace, name, data)
  }

  manifestErrors(): readonly ManifestError[] {
    return [...this.#known].flatMap(([key, { unreadable }]) =>
      unreadable === undefined ? [] : [{ key, file: key, message: unreadable.reason }],
    )
  }

  /** Server-side apply. */
  #apply(
    key: ResourceKey,
    write: { readonly manager: string; readonly subresource: string; readonly body: object },
  ): Promise<CustomObject | undefined> {
    const query = { fieldManager: write.manager, force: true }
    return this.#patch(key, { query, subresource: write.subresource, body: write.body, contentType: APPLY_PATCH })
  }

  /**
   * The response updates the cache at once, because the watch may be late. Does nothing for an object that was deleted or
   * replaced.
   */
  async #patch(
    key: ResourceKey,
    { subresource = '', ...patch }: Pick<ApiCall, 'query' | 'body' | 'contentType'> & { readonly subresource?: string },
  ): Promise<CustomObject | undefined> {
    const [kind, namespace, name] = key.split('/') as [ResourceKind, string, string]
    const path = `${resourcesPath(kind, namespace)}/${encodeURIComponent(name)}${subresource}`
    try {
      const { api, clock } = this.#options
      this.#writtenAtMs = clock.monotonicMs()
      const object = await api.send<CustomObject>({ method: 'PATCH', path, timeoutMs: WRITE_MS, ...patch })
      // The watch may have been faster: removing the last finalizer returns an object that no longer exists.
      if (this.#known.get(key)?.identity.metadata.uid === object.metadata.uid) this.#put(kind, object)
      return object
    } catch (error) {
      const isAnswered = error instanceof ApiError && error.code !== 'unreachable'
      if (isAnswered && isGone(error)) return undefined
      this.#unconfirmed.add(key)
      if (!isAnswered) this.#unanswered.add(key)
      throw error
    }
  }

  #reflectorOf(kind: ResourceKind, namespace: string | undefined): Reflector<CustomObject> {
    const { api, clock, logger, random, onRestart } = this.#options
    const isInScope = (key: ResourceKey) => {
      const [ofKind, at] = key.split('/')
      return ofKind === kind && (namespace === undefined || at === namespace)
    }
    const store: Store<CustomObject> = {
      replace: (objects) => {
        const present = new Set(objects.map((object) => keyOfObject(kind, object)))
        for (const key of this.#known.keys()) if (isInScope(key) && !present.has(key)) this.#drop(key)
        for (const object of objects) this.#put(kind, object)
      },
      put: (object) => this.#put(kind, object),
      remove: (object) => this.#drop(keyOfObject(kind, object)),
    }
    const optional = { ...(random && { random }), ...(onRestart && { onRestart }) }
    return new Reflector({ api, path: resourcesPath(kind, namespace), clock, logger, store, ...optional })
  }

  #put(kind: ResourceKind, object: CustomObject): void {
    const key = keyOfObject(kind, object)
    const before = this.#known.get(key)
    if (before !== undefined && isOlder(object, before.identity)) return
    if (before?.identity.metadata.resourceVersion === object.metadata.resourceVersion) return
    const read = readObject(kind, object, before?.resource)
    this.#known.set(key, { identity: toIdentity(object), ...read })
    if ('unreadable' in read) {
      this.#putUnreadable(key, read.unreadable, before?.unreadable)
      return
    }
    this.#resources.put(read.resource)
    const mayBeLate = this.#unanswered.delete(key)
    const isDesired = mayBeLate || isWantedOtherwise(before?.resource, read.resource)
    this.#notify({ key, type: isDesired ? 'desired' : 'status' })
  }

  /** Reported once for each change of the object that is not one of its status. */
  #putUnreadable(key: ResourceKey, unreadable: UnreadableResource, before: UnreadableResource | undefined): void {
    this.#resources.drop(key)
    const metadata = ({ uid, generation, deletionTimestamp, annotations }: UnreadableResource['metadata']) =>
      JSON.stringify([uid, generation, deletionTimestamp, annotations])
    if (before !== undefined && metadata(before.metadata) === metadata(unreadable.metadata)) return
    this.#options.logger.error({ resource: key, reason: unreadable.reason }, 'a resource cannot be read')
    this.#notify({ key, type: 'deleted' })
  }

  #drop(key: ResourceKey): void {
    if (!this.#known.delete(key)) return
    this.#unanswered.delete(key)
    this.#resources.drop(key)
    this.#notify({ key, type: 'deleted' })
  }

  #watching(): readonly { start(): Promise<void>; refresh(): Promise<void>; stop(): Promise<void> }[] {
    const optional = [this.#secrets, this.#namespaces?.watch].filter((watch) => watch !== undefined)
    return [...this.#reflectors, this.#configMaps, ...optional]
  }

  #metadataOf<T>(resource: Watched, toKept: MetadataInformerOptions<T>['project']): MetadataInformer<T> {
    const { namespaces } = this.#options
    const scopes = namespaces.length === 0 ? [undefined] : namespaces
    const onChange = (at: string, name: string): void => this.#inputChanged(resource, at, name)
    return new MetadataInformer(resource, { ...this.#options, scopes, project: toKept, onChange })
  }

  #inputChanged(of: Watched, namespace: string, name: string): void {
    if (of === 'configmaps') this.#configData.forget(namespace, name)
    for (const resource of resourcesReferringTo(of, { namespace, name }, this.#resources.all()))
      this.#notify({ key: resourceKeyOf(resource), type: 'desired' })
  }

  #notify(change: ResourceChange): void {
    this.#listeners.notify(change)
  }
}

function toNamespace({ labels = {}, deletionTimestamp }: KubernetesObject['metadata']): NamespaceInfo {
  return { labels, isTerminating: deletionTimestamp !== undefined }
}
