import type { ConnectorSpec, ConnectorStatus } from './connector.ts'
import type { RegistryModeSpec, RegistryModeStatus } from './registry-mode.ts'
import type { SubjectSpec, SubjectStatus } from './subject.ts'

export const API_VERSION = 'weir.dev/v1alpha1'

/** In the order in which they need each other. */
export const RESOURCE_KINDS = ['RegistryMode', 'Subject', 'Connector'] as const
export type ResourceKind = (typeof RESOURCE_KINDS)[number]

export type ResourceSpec = { Connector: ConnectorSpec; Subject: SubjectSpec; RegistryMode: RegistryModeSpec }
export type ResourceStatus = { Connector: ConnectorStatus; Subject: SubjectStatus; RegistryMode: RegistryModeStatus }

export type ObjectMeta = {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Counts changes of `spec`. */
  readonly generation: number
  readonly creationTimestamp: string
  /** Set: somebody asked for its deletion, and a finalizer still holds it. */
  readonly deletionTimestamp?: string
  readonly finalizers: readonly string[]
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/** One custom resource: what somebody wants (`spec`) and what was last found out (`status`). */
export type Resource<K extends ResourceKind = ResourceKind> = K extends ResourceKind
  ? {
      readonly kind: K
      readonly metadata: ObjectMeta
      readonly spec: ResourceSpec[K]
      readonly status: ResourceStatus[K]
    }
  : never

/** `Kind/namespace/name`: what the queue and the cluster call a resource. */
export type ResourceKey<K extends ResourceKind = ResourceKind> = `${K}/${string}/${string}`

export function resourceKey<K extends ResourceKind>(kind: K, namespace: string, name: string): ResourceKey<K> {
  return `${kind}/${namespace}/${name}`
}

export function resourceKeyOf(resource: Resource): ResourceKey {
  return resourceKey(resource.kind, resource.metadata.namespace, resource.metadata.name)
}

export function kindOfKey(key: ResourceKey): ResourceKind {
  return key.slice(0, key.indexOf('/')) as ResourceKind
}

/** What a resource has before its first pass: not observed, so nobody takes it for ready. */
export const INITIAL_STATUS = { observedGeneration: -1, conditions: [] } as const
