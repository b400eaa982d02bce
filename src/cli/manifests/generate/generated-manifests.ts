import { stringify } from 'yaml'
import { API_VERSION } from '../../../common/resource-api.ts'
import { uniqueObjectNameOf } from '../resource-names.ts'

/** What was read from runtimes, as files. */
export type GeneratedManifests = {
  readonly files: readonly GeneratedFile[]
  readonly secrets: readonly RequiredSecret[]
  /** What the manifests do not contain, one sentence each. */
  readonly notes: readonly string[]
}
/** The path is relative to the directory. */
export type GeneratedFile = { readonly path: string; readonly text: string }
/** A key of a Secret that has to be created, and the setting whose value it holds. */
export type RequiredSecret = {
  readonly secret: string
  readonly key: string
  readonly connector: string
  readonly setting: string
}

/** A runtime to read, and the namespace of the manifests. */
export type GeneratedScope = {
  readonly runtime: string
  readonly namespace: string
  /** The other runtimes of the same kind, whose manifests are in the same namespace. */
  readonly otherRuntimes?: readonly string[]
}

const NAME_LENGTH_MAX = 200

/**
 * A name for an object of Kubernetes: the given one if it is valid, else a similar one with a hash. It begins with the
 * runtime, except for the default one, and has a hash if an object of another runtime might begin in the same way.
 */
export function objectNameFor({ runtime, otherRuntimes = [] }: GeneratedScope, name: string): string {
  const original = runtime === 'default' ? name : `${runtime}-${name}`
  const isShared = otherRuntimes.some((other) => other !== 'default' && original.startsWith(`${other}-`))
  return uniqueObjectNameOf(original, { identity: `${runtime}/${name}`, lengthMax: NAME_LENGTH_MAX, isShared })
}

/** `registries/default/subjects/orders-value.yaml`. */
export function manifestFile(
  { runtime, namespace }: GeneratedScope,
  kind: 'Connector' | 'Subject' | 'RegistryMode' | 'ConfigMap',
  name: string,
  content: { readonly spec: object } | { readonly data: Readonly<Record<string, string>> },
): GeneratedFile {
  const [parent, folder] = FOLDERS[kind]
  const apiVersion = kind === 'ConfigMap' ? 'v1' : API_VERSION
  const manifest = { apiVersion, kind, metadata: { name, namespace }, ...content }
  return { path: `${parent}/${runtime}/${folder}/${name}.yaml`, text: stringify(manifest, { lineWidth: 0 }) }
}

const FOLDERS = {
  Connector: ['workers', 'connectors'],
  Subject: ['registries', 'subjects'],
  ConfigMap: ['registries', 'schemas'],
  RegistryMode: ['registries', 'modes'],
} as const
