import type { ConditionReason } from '../../common/state-glossary.ts'
import type { Labels } from '../label-selector.ts'
import type { IndexValue } from '../resources/index-values.ts'
import type { ObjectMeta, Resource, ResourceKey, ResourceKind, ResourceStatus } from '../resources/resource.ts'

/**
 * A change of a resource. `desired`: its spec, its annotations or its deletion; `status`: its status; `deleted`: it no
 * longer exists.
 */
export type ResourceChange = { readonly key: ResourceKey; readonly type: 'desired' | 'status' | 'deleted' }

/** A manifest, or an object of the API server, that could not be read as a resource. */
export type ManifestError = {
  /** The resource, if its kind and name could be read. */
  readonly key?: ResourceKey
  readonly file: string
  /** Lines and columns start at 1. */
  readonly line?: number
  readonly column?: number
  readonly message: string
  /** The document is an object of another API, or no Kubernetes object at all. */
  readonly isForeign?: true
}

export type ResourceEvent = { readonly type: 'Normal' | 'Warning'; readonly reason: EventReason; readonly note: string }

/**
 * An object whose spec this version cannot read, because its definition is newer or older than this version.
 */
export type UnreadableResource<K extends ResourceKind = ResourceKind> = {
  readonly metadata: ObjectMeta
  readonly status: ResourceStatus[K]
  readonly reason: string
}

/** Reasons of `Ready` that are reported as Events when they begin. */
export const REPORTED_REASONS = [
  'AutoRestartExhausted',
  'Incompatible',
  'ReferencePending',
  'ReferenceCycle',
  'Conflict',
  'NotAllowed',
  'WorkerUnreachable',
  'RegistryUnreachable',
  'DeletionBlocked',
] as const satisfies readonly ConditionReason[]

/** The reasons of Events: a closed list, part of the API. */
export type EventReason =
  | (typeof REPORTED_REASONS)[number]
  | 'Created'
  | 'Updated'
  | 'Adopted'
  | 'DriftDetected'
  | 'DriftCorrected'
  | 'RestartRequested'
  | 'AutoRestarted'
  | 'OffsetsAltered'
  | 'OffsetsReset'
  | 'OffsetsExported'
  | 'StateChanged'
  | 'Registered'
  | 'CompatibilityChanged'
  | 'CompatibilityReverted'
  | 'WindowOpened'
  | 'WindowClosed'
  | 'WindowOverdue'
  | 'ModeChanged'
  | 'ModeRestored'
  | 'Abandoned'
  | 'Suspended'

/** The read-only part of a cluster, which reconcilers use. */
export type ClusterReader = Pick<
  Cluster,
  'get' | 'list' | 'find' | 'configMap' | 'secret' | 'secretVersion' | 'namespace'
>

/** The values of a ConfigMap or Secret by key. A map, because a key can be the name of a member of all objects. */
export type ConfigData = ReadonlyMap<string, string>

/** Content of a Secret. The version changes with every change of the Secret. */
export type SecretData = { readonly version: string; readonly data: ConfigData }

/** The properties of a namespace that the operator uses. */
export type NamespaceInfo = { readonly labels: Labels; readonly isTerminating: boolean }

/** Timeout of one write. */
export const WRITE_MS = 10_000

/**
 * Stores resources: a folder of manifests, or a Kubernetes cluster. Synchronous reads use a local cache. It may be
 * older than the last write, but never newer than the changes that `onChange` has reported.
 */
export interface Cluster {
  /** For people: `folder examples/quickstart`. */
  readonly description: string
  /** Resolves when the cache contains all resources. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Calls the listener once for each change. Returns a function that removes the listener. */
  onChange(listener: (change: ResourceChange) => void): () => void
  get<K extends ResourceKind>(key: ResourceKey<K>): Resource<K> | undefined
  /** The object for which `get` returns undefined because it cannot be read. */
  unreadable<K extends ResourceKind>(key: ResourceKey<K>): UnreadableResource<K> | undefined
  list<K extends ResourceKind>(kind: K): readonly Resource<K>[]
  count(kind: ResourceKind): number
  /** Looks up an index: the cost is independent of the number of other resources. */
  find<K extends ResourceKind>(term: IndexValue<K>): readonly Resource<K>[]
  /**
   * Replaces the status of the resource that `get` returns. Returns false, and writes nothing, where the resource has changed
   * since, unless `isForced`: then `confirm` reads it again. Does nothing for a resource that no longer exists.
   */
  writeStatus<K extends ResourceKind>(
    key: ResourceKey<K>,
    status: ResourceStatus[K],
    isForced?: boolean,
  ): Promise<boolean>
  /** Adds or removes the operator's finalizer. A deleted resource without finalizers disappears. */
  setFinalizer(key: ResourceKey, present: boolean): Promise<void>
  /**
   * Reads a resource again if a write of it failed or got no response, so that what was done is not taken for undone. Rejects
   * while the outcome stays unknown.
   */
  confirm(key: ResourceKey): Promise<void>
  /**
   * Records an Event in the background. Takes the resource itself, because the last Event of a deletion may follow
   * after it has disappeared.
   */
  recordEvent(resource: Resource, event: ResourceEvent): void
  /** Data of a ConfigMap; undefined when it does not exist. */
  configMap(namespace: string, name: string): Promise<ConfigData | undefined>
  /** Content of a Secret, for values that are sent in clear text; undefined when it does not exist. */
  secret(namespace: string, name: string): Promise<SecretData | undefined>
  /** Version of a Secret without its content: '' when it does not exist, undefined where Secrets are not watched. */
  secretVersion(namespace: string, name: string): string | undefined
  /**
   * Starts to watch namespaces: changes of a namespace are reported for its resources. Rejects without the permission.
   */
  watchNamespaces(): Promise<void>
  /** Null when it does not exist, undefined where namespaces are not watched. */
  namespace(name: string): NamespaceInfo | null | undefined
  /**
   * Writes these keys of a ConfigMap and creates it if needed. Returns false, and writes nothing, where another manager
   * owns one of the keys.
   */
  writeConfigMap(namespace: string, name: string, data: Readonly<Record<string, string>>): Promise<boolean>
  /** The manifests and objects that currently cannot be read. */
  manifestErrors(): readonly ManifestError[]
}
