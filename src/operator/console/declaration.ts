import { stringify } from 'yaml'
import type { ConnectorProperties } from '../../clients/worker-client.ts'
import { API_VERSION } from '../../common/resource-api.ts'
import { isMaskedValue, MASK, maskConfig } from '../../common/secrets/secret-keys.ts'
import type { ClusterReader } from '../cluster/cluster.ts'
import { changedKeys } from '../connector/changed-keys.ts'
import { resolveDesiredConnector } from '../connector/desired-connector.ts'
import { findCondition } from '../resources/condition.ts'
import { OWN_KEYS } from '../resources/connector.ts'
import type { Resource } from '../resources/resource.ts'
import type { WorkerRuntimeConfig } from '../runtimes.ts'
import { resolveSchemaText } from '../subject/desired-subject.ts'

/** What a resource declares, and what the operator reports about it. */
export type Declaration = {
  /** The resource without what the API server adds. Secret values are masked. */
  readonly manifest: string
  /** Whether values are masked in the manifest, so that it cannot be applied as it is. */
  readonly isMasked: boolean
  readonly driftPolicy?: string
  readonly isSuspended: boolean
  /** The last comparison of the operator with the runtime; absent before the first. */
  readonly synced?: { readonly status: string; readonly reason: string; readonly message: string }
  /** Of a Subject; `schema` is absent if it cannot be read, or only the level is declared. */
  readonly subject?: {
    readonly schema?: string
    readonly schemaType: string
    readonly compatibility?: string
    /** The version that has the declared schema. */
    readonly version?: number
  }
}

/** A key that does not have its declared value. Null: the key is absent. */
export type ConfigDifference = {
  readonly key: string
  readonly declared: string | null
  readonly running: string | null
}

export type ConfigComparison = {
  readonly differences: readonly ConfigDifference[]
  /** Keys whose values are secret to the user or to the operator, and keys from ConfigMaps that the user may not read. */
  readonly notCompared: readonly string[]
  /** What the declaration refers to and does not exist. */
  readonly missing: readonly string[]
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** `showsConfigMaps`: whether the user may read the ConfigMaps that the resource refers to. */
type Context = { readonly cluster: ClusterReader; readonly showsConfigMaps: boolean }

export async function declarationOf(resource: Resource, context: Context): Promise<Declaration> {
  const { spec, status } = resource
  const { text, isMasked } = manifestOfResource(resource)
  const synced = findCondition(status.conditions, 'Synced')
  return {
    manifest: text,
    isMasked,
    ...('driftPolicy' in spec && { driftPolicy: spec.driftPolicy }),
    isSuspended: spec.suspend,
    ...(synced && { synced: { status: synced.status, reason: synced.reason, message: synced.message } }),
    ...(resource.kind === 'Subject' && { subject: await declaredSubject(resource, context) }),
  }
}

async function declaredSubject(
  { spec, status, metadata }: Resource<'Subject'>,
  { cluster, showsConfigMaps }: Context,
): Promise<NonNullable<Declaration['subject']>> {
  // The operator reports a ConfigMap that does not exist as the state of the resource.
  const schema = showsConfigMaps
    ? await resolveSchemaText(spec, metadata.namespace, cluster).catch(() => undefined)
    : spec.schema
  return {
    ...(schema !== undefined && { schema }),
    schemaType: spec.schemaType,
    ...(spec.compatibility !== undefined && { compatibility: spec.compatibility }),
    ...(status.version !== undefined && { version: status.version }),
  }
}

function manifestOfResource({ kind, metadata, spec }: Resource): { readonly text: string; readonly isMasked: boolean } {
  const { name, namespace, labels } = metadata
  const { [LAST_APPLIED]: _, ...annotations } = metadata.annotations
  const config = 'config' in spec && spec.config ? maskConfig(spec.config) : undefined
  const manifest = {
    apiVersion: API_VERSION,
    kind,
    metadata: {
      name,
      namespace,
      ...(Object.keys(labels).length > 0 && { labels }),
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    spec: { ...spec, ...(config && { config }) },
  }
  const text = stringify(manifest, { lineWidth: 0, aliasDuplicateObjects: false })
  return { text, isMasked: Object.values(config ?? {}).some((value) => value.includes(MASK)) }
}

/**
 * Compares a configuration that the user has read from the worker with the declared one, as reconcilers do. Values from
 * Secrets are not compared: the response would tell whether a guess is right. Nor are values from ConfigMaps that the
 * user may not read.
 */
export async function compareConfig(
  resource: Resource<'Connector'>,
  running: ConnectorProperties,
  context: Context & { readonly instance: string; readonly runtimeConfig: WorkerRuntimeConfig },
): Promise<ConfigComparison> {
  const { cluster, showsConfigMaps, ...naming } = context
  const desired = await resolveDesiredConnector(resource, cluster, naming)
  const inManifest = keysInManifest(resource)
  const isSecret = (key: string) =>
    Object.hasOwn(desired.inline, key) ||
    (!showsConfigMaps && Object.hasOwn(desired.config, key) && !inManifest.has(key))
  const isHidden = (key: string) => isSecret(key) || isMaskedValue(key, running[key] ?? '')
  // The name of a key in a ConfigMap is shown only if the user has it from the worker.
  const isKnown = (key: string) => inManifest.has(key) || showsConfigMaps || Object.hasOwn(running, key)
  const notCompared = Object.keys(desired.config)
    .filter((key) => isHidden(key) && isKnown(key))
    .sort()
  const observed = Object.fromEntries(
    Object.entries(running).map(([key, value]) => [key, isHidden(key) ? (desired.config[key] ?? value) : value]),
  )
  const declared = maskConfig(desired.config)
  const shown = maskConfig(running)
  return {
    differences: changedKeys(desired, { config: observed })
      .filter((key) => !isSecret(key))
      .map((key) => ({ key, declared: declared[key] ?? null, running: shown[key] ?? null })),
    notCompared,
    missing: desired.missing,
  }
}

/** The keys whose values are not from ConfigMaps: those of the manifest, of its Secrets and of its fields. */
function keysInManifest({ spec }: Resource<'Connector'>): ReadonlySet<string> {
  const { config = {}, valuesFrom = [] } = spec
  const keys = new Set([...OWN_KEYS, ...Object.keys(config)])
  for (const { key, secretKeyRef } of valuesFrom) {
    if (secretKeyRef === undefined) keys.delete(key)
    else keys.add(key)
  }
  return keys
}
