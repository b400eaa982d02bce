import type { Labels } from '../label-selector.ts'
import type { IndexValue } from '../resources/index-values.ts'
import type { Resource, ResourceKey, ResourceKind, ResourceStatus } from '../resources/resource.ts'

/**
 * What happened to a resource. `declared`: what somebody wants of it (its spec, annotations, or that it be deleted);
 * `status`: what was found out about it; `gone`: it is no more.
 */
export type ResourceChange = { readonly key: ResourceKey; readonly type: 'desired' | 'status' | 'deleted' }

/** Something a home could not take in as a resource: a sentence, and where it stands. */
export type ManifestError = {
  /** The resource it is about, when that much could be read. */
  readonly key?: ResourceKey
  readonly file: string
  /** From 1. */
  readonly line?: number
  readonly column?: number
  readonly message: string
}

export type ResourceEvent = { readonly type: 'Normal' | 'Warning'; readonly reason: EventReason; readonly note: string }

/** What people are told of as it happens: a closed list, part of the API. */
export type EventReason =
  | 'Created'
  | 'Updated'
  | 'Adopted'
  | 'DriftDetected'
  | 'DriftCorrected'
  | 'RestartRequested'
  | 'AutoRestarted'
  | 'AutoRestartExhausted'
  | 'OffsetsAltered'
  | 'OffsetsReset'
  | 'OffsetsExported'
  | 'StateChanged'
  | 'Registered'
  | 'Incompatible'
  | 'ReferencePending'
  | 'ReferenceCycle'
  | 'CompatibilityChanged'
  | 'CompatibilityReverted'
  | 'WindowOpened'
  | 'WindowClosed'
  | 'WindowOverdue'
  | 'ModeChanged'
  | 'ModeRestored'
  | 'Conflict'
  | 'NotAllowed'
  | 'WorkerUnreachable'
  | 'RegistryUnreachable'
  | 'DeletionBlocked'
  | 'Abandoned'
  | 'Suspended'

/** What is declared, as far as it is known here: what reconcilers decide by. */
export type ClusterReader = Pick<
  Cluster,
  'get' | 'list' | 'find' | 'configMap' | 'secret' | 'secretVersion' | 'namespace'
>

/** Of a Secret. The version is another one after every change. */
export type SecretData = { readonly version: string; readonly data: Readonly<Record<string, string>> }

/** What a namespace is like. */
export type NamespaceInfo = { readonly labels: Labels; readonly isTerminating: boolean }

/** A write to where resources live is given up after so long. */
export const WRITE_MS = 10_000

/**
 * Where resources live: a folder of manifests, or a Kubernetes cluster. Reads are of what is known here and cost nothing;
 * what is read may be older than what was just written, never newer than what `onChange` will tell.
 */
export interface Cluster {
  /** What resources live in, in words: `folder examples/quickstart`. */
  readonly description: string
  /** Resolves when everything that is there is known. */
  start(): Promise<void>
  stop(): Promise<void>
  /** From now on every change is told, one call each. Returns how to end that. */
  onChange(listener: (change: ResourceChange) => void): () => void
  get<K extends ResourceKind>(key: ResourceKey<K>): Resource<K> | undefined
  list<K extends ResourceKind>(kind: K): readonly Resource<K>[]
  /** Costs no more when there are more others. */
  find<K extends ResourceKind>(term: IndexValue<K>): readonly Resource<K>[]
  /** Replaces the status; of a resource that is gone: nothing. */
  writeStatus<K extends ResourceKind>(key: ResourceKey<K>, status: ResourceStatus[K]): Promise<void>
  /** Puts the operator's finalizer on a resource, or takes it off: a deleted resource is gone when none is left. */
  setFinalizer(key: ResourceKey, present: boolean): Promise<void>
  /** For people, on the side. Takes the resource itself: the last event of a deletion is about one that is gone. */
  recordEvent(resource: Resource, event: ResourceEvent): void
  /** Data of a ConfigMap; undefined when there is none. */
  configMap(namespace: string, name: string): Promise<Readonly<Record<string, string>> | undefined>
  /** What a Secret holds, for the few who may send it in clear; undefined when there is none. */
  secret(namespace: string, name: string): Promise<SecretData | undefined>
  /** Of a Secret that need not be read: '' when there is none, undefined where Secrets are not watched. */
  secretVersion(namespace: string, name: string): string | undefined
  /** From now on `namespace` is known, and changes of it are told of its resources. Rejects where that is not granted. */
  watchNamespaces(): Promise<void>
  /** Null when there is none, undefined where it is not known what namespaces are like. */
  namespace(name: string): NamespaceInfo | null | undefined
  /**
   * Keeps these keys of a ConfigMap, which is made when there is none. False where one of them is somebody else's: then
   * nothing is written.
   */
  writeConfigMap(namespace: string, name: string, data: Readonly<Record<string, string>>): Promise<boolean>
  /** What is there but could not be read, now. */
  manifestErrors(): readonly ManifestError[]
}
