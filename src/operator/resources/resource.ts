import type { ConnectorSpec, ConnectorStatus } from './connector.ts'
import type { RegistryModeSpec, RegistryModeStatus } from './registry-mode.ts'
import type { SubjectSpec, SubjectStatus } from './subject.ts'

/** In order of their dependencies. */
export const RESOURCE_KINDS = ['RegistryMode', 'Subject', 'Connector'] as const
export type ResourceKind = (typeof RESOURCE_KINDS)[number]

export type ResourceSpec = { Connector: ConnectorSpec; Subject: SubjectSpec; RegistryMode: RegistryModeSpec }
export type ResourceStatus = { Connector: ConnectorStatus; Subject: SubjectStatus; RegistryMode: RegistryModeStatus }

export type ObjectMeta = {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Incremented by the server with each change of `spec`. */
  readonly generation: number
  readonly creationTimestamp: string
  /** Set when the deletion was requested and finalizers remain. */
  readonly deletionTimestamp?: string
  readonly finalizers: readonly string[]
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/** A custom resource with its desired state (`spec`) and its observed state (`status`). */
export type Resource<K extends ResourceKind = ResourceKind> = K extends ResourceKind
  ? {
      readonly kind: K
      readonly metadata: ObjectMeta
      readonly spec: ResourceSpec[K]
      readonly status: ResourceStatus[K]
    }
  : never

/** `Kind/namespace/name`: the request of a reconcile. */
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

/** The status before the first reconcile: its generation matches none, so it never counts as Ready. */
export const INITIAL_STATUS = { observedGeneration: -1, conditions: [] } as const
